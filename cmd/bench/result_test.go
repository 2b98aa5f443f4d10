package main

import (
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

// The table shows a percentile only where messages and commits stand behind it,
// as analyze does, and messages that never came rank above all.
func TestTheTableShowsWhatIsSupported(t *testing.T) {
	latencies := func(n int) stats.Compact {
		var h stats.Histogram
		for range n {
			if err := h.Record(5e6); err != nil {
				t.Fatal(err)
			}
		}
		return h.Compact()
	}
	for _, c := range []struct {
		name     string
		n        int
		missing  int64
		duration time.Duration
		want     []string // p50, p99, p99.9
	}{
		{"enough of both", 4000, 0, 10 * time.Second, []string{"5.00ms", "5.00ms", "5.00ms"}},
		{"19 commits", 4000, 0, 1900 * time.Millisecond, []string{"-", "-", "-"}},
		{"367 messages", 367, 0, 10 * time.Second, []string{"5.00ms", "-", "-"}},
		{"5 messages", 5, 0, 10 * time.Second, []string{"-", "-", "-"}},
		{"1 in 20 lost", 3800, 200, 10 * time.Second, []string{"5.00ms", ">deadline", ">deadline"}},
		{"all lost", 0, 4000, 10 * time.Second, []string{">deadline", ">deadline", ">deadline"}},
		{"nothing", 0, 0, 10 * time.Second, []string{"-", "-", "-"}},
	} {
		m := &rawlog.Manifest{Complete: true}
		m.Queue.CommitInterval = 100 * time.Millisecond
		r := &runner.Result{Steps: []runner.StepResult{{Step: rawlog.Step{Rate: 1000, DurationNs: int64(c.duration)}, EndToEnd: latencies(c.n), Missing: c.missing}}}
		var b strings.Builder
		if err := printTable(&b, m, r); err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(strings.ReplaceAll(strings.Split(b.String(), "\n")[2], "> deadline", ">deadline"))
		if got := fields[8:11]; strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if l := latencyOf(stats.Compact{}, 3, resultQuantiles, 100); len(l.Percentiles) != 3 || l.Percentiles["50"] != nil || l.Supported["50"] {
		t.Errorf("all lost: %+v", l)
	}
}
