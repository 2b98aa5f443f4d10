//go:build !unix && !js

package analysis

import "time"

// cpuTime cannot be told here.
func cpuTime() time.Duration { return 0 }
