package queuebench_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachTrapIsATest: the known traps of measurement, 1 to 12, are tests by
// these numbers, TestTrap01… to TestTrap12…, in the rooms that they concern:
//
//	 1  a consumer's clock is behind               runner, analysis
//	 2  the queue freezes                          runner, analysis
//	 3  the runner is stopped                      cmd/bench, runner, analysis
//	 4  the queue refuses everything               runner, analysis
//	 5  the last minute is slow                    analysis
//	 6  percentiles are not merged                 analysis
//	 7  very long latencies                        stats, analysis
//	 8  intervals and logs without a message       analysis
//	 9  what cannot be measured is refused         cmd/bench, analysis
//	10  a burst is a drain                         runner, analysis
//	11  prefixes and names of buckets              cmd/bench, objectstore
//	12  a run that is interrupted or killed        cmd/bench, runner, analysis
func TestEachTrapIsATest(t *testing.T) {
	rooms := map[string]string{
		"01": "runner analysis", "02": "runner analysis", "03": "cmd/bench runner analysis", "04": "runner analysis",
		"05": "analysis", "06": "analysis", "07": "stats analysis", "08": "analysis", "09": "cmd/bench analysis",
		"10": "runner analysis", "11": "cmd/bench objectstore", "12": "cmd/bench runner analysis",
	}
	name := regexp.MustCompile(`(?m)^func TestTrap(\w*)\(t \*testing\.T\)`)
	found := map[string]bool{} // number and room
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range name.FindAllStringSubmatch(string(body), -1) {
			if len(m[1]) < 3 || rooms[m[1][:2]] == "" {
				t.Errorf("%s: TestTrap%s does not begin with the number of a trap, 01 to 12", path, m[1])
				continue
			}
			found[m[1][:2]+" "+filepath.ToSlash(filepath.Dir(path))] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		number := fmt.Sprintf("%02d", i+1)
		for _, room := range strings.Fields(rooms[number]) {
			if !found[number+" "+room] {
				t.Errorf("trap %s has no test in %s", number, room)
			}
		}
	}
}
