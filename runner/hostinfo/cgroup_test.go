package hostinfo

import (
	"os"
	"path/filepath"
	"testing"
)

func TestThrottlingOfAControlGroup(t *testing.T) {
	const v2 = "usage_usec 10\nnr_periods 4\nnr_throttled 2\nthrottled_usec 1500\n"
	const v1 = "nr_periods 4\nnr_throttled 2\nthrottled_time 2500000\n"
	for _, c := range []struct {
		name   string
		cgroup string
		files  map[string]string
		want   int64
		known  bool
	}{
		{"version 2", "0::/a/b\n", map[string]string{"a/b": v2}, 1_500_000, true},
		{"version 2 in a container", "0::/\n", map[string]string{"": v2}, 1_500_000, true},
		{"version 2, the root has no quota", "0::/\n", map[string]string{"": "usage_usec 10\n"}, 0, false},
		{"version 1", "4:cpu,cpuacct:/a\n3:memory:/a\n", map[string]string{"cpu,cpuacct/a": v1}, 2_500_000, true},
		{"version 1 in a container", "4:cpu,cpuacct:/docker/x\n", map[string]string{"cpu,cpuacct": v1}, 2_500_000, true},
		{"version 1 by a link", "4:cpu:/a\n", map[string]string{"cpu/a": v1}, 2_500_000, true},
		{"both, the quota in version 1", "4:cpu:/a\n0::/a\n", map[string]string{"cpu/a": v1, "a": "usage_usec 10\n"}, 2_500_000, true},
		{"damaged", "0::/a\n", map[string]string{"a": "throttled_usec x\nthrottled_usec -1\n"}, 0, false},
		{"no controller of processors", "3:memory:/a\n", nil, 0, false},
		{"nonsense", "x\n:\n", nil, 0, false},
	} {
		root := t.TempDir()
		write := func(name, text string) {
			file := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("proc/self/cgroup", c.cgroup)
		for dir, text := range c.files {
			write(filepath.Join("sys/fs/cgroup", dir, "cpu.stat"), text)
		}
		file := cpuStat(root)
		if ns, known := throttled(file); ns != c.want || known != c.known || (file != "") != c.known {
			t.Errorf("%s: %d, %v from %q", c.name, ns, known, file)
		}
	}
}
