package analysis

import (
	"syscall/js"
	"time"
)

// cpuTime is what this process of Node has used, of user and system, its
// compiler's threads included.
func cpuTime() time.Duration {
	u := js.Global().Get("process").Call("cpuUsage")
	return time.Duration(u.Get("user").Float()+u.Get("system").Float()) * time.Microsecond
}
