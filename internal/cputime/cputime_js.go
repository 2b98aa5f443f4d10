package cputime

import (
	"syscall/js"
	"time"
)

// self asks Node, with the threads of its compiler; a browser does not tell.
func self() (time.Duration, bool) {
	process := js.Global().Get("process")
	if process.IsUndefined() || process.Get("cpuUsage").Type() != js.TypeFunction {
		return 0, false
	}
	u := process.Call("cpuUsage")
	return time.Duration(u.Get("user").Float()+u.Get("system").Float()) * time.Microsecond, true
}
