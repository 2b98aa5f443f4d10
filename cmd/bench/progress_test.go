package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/schedule"
)

// The largest run that is likely fits into 80 columns.
func TestLiveLinesFitInto80Columns(t *testing.T) {
	w := runner.Window{Attempted: 1e6, Acked: 999_999, Received: 12e6, N: 1, Mean: 123456 * time.Microsecond, P99: 41320 * time.Millisecond}
	s := &runner.Status{
		Plan:  runner.Plan{Step: 10, Rate: schedule.MaxRate / 1000, Schedule: schedule.NewConstant(1, 6*time.Hour), Settings: map[string]string{"rate": "1000000", "consumers": "4"}},
		Phase: "closing", Elapsed: 21600 * time.Second, Last: w, Whole: w,
		Backlog: 1_200_000, InFlight: 262_144, Lag: 123 * time.Microsecond,
		Connections: 1024, MemoryBytes: 213e6, DiskUsedBytes: 812e9, DiskWritten: 123.4e6,
	}
	p := &progress{total: 120, count: 100}
	for _, line := range p.lines(s) {
		if n := utf8.RuneCountInString(line); n > 79 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"step 100/120  1000000 msg/s  closing 21600 of 6h0m0s  consumers=4", "last 5 s: sent 1000000/s", "p99 41.3s", "connections 1024  memory 213 MB  disk 812 GB used, 123 MB/s written"} {
		if got := p.plain(s); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestWhatIsNotKnownIsNotShown(t *testing.T) {
	s := &runner.Status{
		Plan:  runner.Plan{Rate: 1000, Schedule: schedule.NewConstant(1000, time.Second)},
		Phase: "load", Connections: rawlog.Null, MemoryBytes: rawlog.Null, DiskUsedBytes: rawlog.Null, DiskWritten: -1,
	}
	got := (&progress{count: 1}).plain(s)
	for _, not := range []string{"connections", "memory", "disk", "failed", "/0", "rate="} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in %q", not, got)
		}
	}
	if n := strings.Count(got, "mean -, p99 -"); n != 2 {
		t.Errorf("%d dashes in %q", n, got)
	}
	s.SoFar.Failed = 3
	if got := fmt.Sprint(levels(s)); !strings.Contains(got, "failed 3") {
		t.Errorf("failures are not in %q", got)
	}
}
