//go:build !linux

package clock

import "time"

func anchor() (now time.Time, monotonic, errorNs int64) { return time.Now(), 0, 0 }

func timeNamespace() string { return "" }
