package hostinfo

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"queuebench/rawlog"
)

func TestDescribe(t *testing.T) {
	h := Describe()
	if h.Name == "" || h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.CPUs < 1 {
		t.Errorf("got %+v", h)
	}
	if runtime.GOOS == "linux" && (h.Kernel == "" || h.MemoryBytes < 1<<20) {
		t.Errorf("on Linux kernel and memory are known: %+v", h)
	}
}

func TestMeterSeesWhatIsUsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux tells all of it")
		return
	}
	dir := t.TempDir()
	m := NewMeter(dir)
	before := m.Read()
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
	}
	block := make([]byte, 32<<20)
	for i := range block {
		block[i] = byte(i)
	}
	runtime.GC()
	if err := os.WriteFile(filepath.Join(dir, "x"), block, 0o600); err != nil {
		t.Fatal(err)
	}
	u := m.Read().Since(before)
	if u.CPUNs < 30e6 || u.GCPauseNs <= 0 || u.MemoryBytes < 32<<20 || u.DiskUsedBytes == rawlog.Null || u.StealNs == rawlog.Null {
		t.Errorf("got %+v", u)
	}
	runtime.KeepAlive(block)
}

func TestSinceKeepsLevelsAndNulls(t *testing.T) {
	before := Use{CPUNs: 5, StealNs: rawlog.Null, MemoryBytes: 100}
	got := Use{CPUNs: 12, StealNs: 7, MemoryBytes: 300, NetworkInBytes: rawlog.Null}.Since(before)
	if got.CPUNs != 7 || got.StealNs != rawlog.Null || got.MemoryBytes != 300 || got.NetworkInBytes != rawlog.Null {
		t.Errorf("got %+v", got)
	}
}
