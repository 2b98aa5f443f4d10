package hostinfo

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuStat is the file in which the control group of this process says how long
// its processor quota held it up; empty where there is none. root is the root
// of the file system.
func cpuStat(root string) string {
	body, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return ""
	}
	var candidates []string
	for line := range strings.Lines(string(body)) {
		// id:controllers:path; version 2 has one line, without controllers.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch controllers := strings.Split(fields[1], ","); {
		case fields[1] == "":
			candidates = append(candidates, path.Join("sys/fs/cgroup", fields[2]), "sys/fs/cgroup")
		case slices.Contains(controllers, "cpu"):
			// Inside a container the path is that of the host, and the group
			// itself is mounted at the top.
			candidates = append(candidates, path.Join("sys/fs/cgroup", fields[1], fields[2]), path.Join("sys/fs/cgroup", fields[1]), path.Join("sys/fs/cgroup/cpu", fields[2]), "sys/fs/cgroup/cpu")
		}
	}
	for _, c := range candidates {
		file := path.Join(root, c, "cpu.stat")
		if _, known := throttled(file); known {
			return file
		}
	}
	return ""
}

// throttled reads a cpu.stat: ns since the group was made.
func throttled(file string) (ns int64, known bool) {
	body, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name {
		case "throttled_usec": // version 2
			return n * 1000, true
		case "throttled_time": // version 1, ns
			return n, true
		}
	}
	return 0, false
}
