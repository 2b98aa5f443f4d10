// Package hostinfo says what machine a run is on and what the process and the
// machine use, once a second.
//
// What a system does not tell is rawlog.Null, never 0.
package hostinfo

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"

	"queuebench/internal/cputime"
	"queuebench/rawlog"
)

// Describe describes this machine. What cannot be found out stays empty.
func Describe() rawlog.Host {
	h := rawlog.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	h.Kernel, _ = host.KernelVersion()
	if infos, err := cpu.Info(); err == nil && len(infos) > 0 {
		h.CPUModel = infos[0].ModelName
	}
	if m, err := mem.VirtualMemory(); err == nil {
		h.MemoryBytes = int64(m.Total)
	}
	return h
}

// Use is what was used up to a moment. Counts are since the system or the
// process began; what is called a level is at that moment.
type Use struct {
	CPUNs            int64 // of the process
	StealNs          int64 // of all CPUs, withheld by a hypervisor
	MemoryBytes      int64 // resident memory of the process, level
	ThrottledNs      int64 // of the control group, by its processor quota
	GCPauseNs        int64
	NetworkInBytes   int64 // of the host, loopback included
	NetworkOutBytes  int64
	DiskReadBytes    int64 // of the host's whole disks
	DiskWrittenBytes int64
	DiskUsedBytes    int64 // of the file system of a folder, level
}

// Meter reads what is used. One goroutine uses it.
type Meter struct {
	process *process.Process
	folder  string
	cpuStat string // empty where the process has no quota
	gc      debug.GCStats
}

// NewMeter makes a meter for this process and the file system of a folder.
func NewMeter(folder string) *Meter {
	m := &Meter{folder: folder, cpuStat: cpuStat("/")}
	if p, err := process.NewProcess(int32(os.Getpid())); err == nil {
		m.process = p
	}
	return m
}

// Read reads what was used up to now.
func (m *Meter) Read() Use {
	u := Use{
		CPUNs: rawlog.Null, StealNs: rawlog.Null, ThrottledNs: rawlog.Null, MemoryBytes: rawlog.Null,
		NetworkInBytes: rawlog.Null, NetworkOutBytes: rawlog.Null,
		DiskReadBytes: rawlog.Null, DiskWrittenBytes: rawlog.Null, DiskUsedBytes: rawlog.Null,
	}
	debug.ReadGCStats(&m.gc)
	u.GCPauseNs = int64(m.gc.PauseTotal)
	if used, known := cputime.Self(); known {
		u.CPUNs = int64(used)
	}
	if m.cpuStat != "" {
		if ns, known := throttled(m.cpuStat); known {
			u.ThrottledNs = ns
		}
	}
	if m.process != nil {
		if i, err := m.process.MemoryInfo(); err == nil {
			u.MemoryBytes = int64(i.RSS)
		}
	}
	if t, err := cpu.Times(false); err == nil && len(t) > 0 && runtime.GOOS == "linux" {
		u.StealNs = ns(t[0].Steal)
	}
	if n, err := net.IOCounters(false); err == nil && len(n) > 0 {
		u.NetworkInBytes, u.NetworkOutBytes = int64(n[0].BytesRecv), int64(n[0].BytesSent)
	}
	if disks, err := disk.IOCounters(); err == nil {
		u.DiskReadBytes, u.DiskWrittenBytes = 0, 0
		for name, d := range disks {
			if wholeDisk(name) {
				u.DiskReadBytes += int64(d.ReadBytes)
				u.DiskWrittenBytes += int64(d.WriteBytes)
			}
		}
	}
	if d, err := disk.Usage(m.folder); err == nil {
		u.DiskUsedBytes = int64(d.Used)
	}
	return u
}

func ns(seconds float64) int64 { return int64(seconds * 1e9) }

// wholeDisk leaves out what would be counted twice: partitions, and devices
// that lie on others.
func wholeDisk(name string) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	for _, stacked := range []string{"loop", "ram", "zram", "dm-", "md"} {
		if strings.HasPrefix(name, stacked) {
			return false
		}
	}
	_, err := os.Stat(filepath.Join("/sys/block", name))
	return err == nil
}

// Since is what was used since an earlier reading: levels stay as they are, and
// what either reading does not know is rawlog.Null.
func (u Use) Since(before Use) Use {
	for _, c := range []struct{ now, before *int64 }{
		{&u.CPUNs, &before.CPUNs}, {&u.StealNs, &before.StealNs}, {&u.ThrottledNs, &before.ThrottledNs}, {&u.GCPauseNs, &before.GCPauseNs},
		{&u.NetworkInBytes, &before.NetworkInBytes}, {&u.NetworkOutBytes, &before.NetworkOutBytes},
		{&u.DiskReadBytes, &before.DiskReadBytes}, {&u.DiskWrittenBytes, &before.DiskWrittenBytes},
	} {
		if *c.now == rawlog.Null || *c.before == rawlog.Null {
			*c.now = rawlog.Null
			continue
		}
		*c.now -= *c.before
	}
	return u
}
