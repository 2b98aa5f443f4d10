//go:build !unix

package hostinfo

import (
	"os"

	"github.com/shirou/gopsutil/v4/process"
)

// cpuTime is the CPU time of this process, ns.
func cpuTime() (ns int64, known bool) {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return 0, false
	}
	t, err := p.Times()
	if err != nil {
		return 0, false
	}
	return int64((t.User + t.System) * 1e9), true
}
