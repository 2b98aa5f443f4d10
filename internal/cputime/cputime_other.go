//go:build !unix && !js

package cputime

import (
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

func self() (time.Duration, bool) {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return 0, false
	}
	t, err := p.Times()
	if err != nil {
		return 0, false
	}
	return time.Duration((t.User + t.System) * float64(time.Second)), true
}
