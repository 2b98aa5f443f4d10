package calibration

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

func checkWait(t *testing.T, l rawlog.WaitLag, pacing string, n int64) {
	t.Helper()
	if l.Pacing != pacing || l.N != n || l.P50Ns < 0 || l.P90Ns < l.P50Ns || l.P99Ns < l.P90Ns || l.P999Ns < l.P99Ns || l.MaxNs < l.P999Ns {
		t.Errorf("waits: %+v", l)
	}
}

func TestShortIsShort(t *testing.T) {
	c := clock.New()
	for _, x := range []struct {
		rate float64
		n    int64
	}{{1, 500}, {5_000, 2_500}, {1e6, 5_000}} {
		r, err := Short(t.Context(), c, x.rate)
		if err != nil {
			t.Fatal(err)
		}
		checkWait(t, r.Wait, "precise", x.n)
		if r.TookNs < 0.49e9 || r.ClockReadNs <= 0 || r.ClockResolutionNs <= 0 {
			t.Errorf("%+v", r)
		}
		if p := r.StealPercent; p != nil && (*p < 0 || *p > 100) {
			t.Errorf("steal %v", *p)
		}
	}
}

// Clocks of other systems: what is coarse is found to be, however long it stands
// still. A reading takes so many ns of true time, and shows the last of its steps.
func TestCoarseClocksAreFound(t *testing.T) {
	for _, c := range []struct{ readNs, step int64 }{{20, 1}, {40, 10}, {25, 100}, {30, 1_000}, {5, 500_000}, {3, 15_625_000}, {2_000, 1}, {900, 15_625_000}} {
		truth := int64(0)
		readNs, step := measureClock(func() int64 { truth += c.readNs; return truth / c.step * c.step })
		if want := max(c.step, c.readNs/c.step*c.step); step != want {
			t.Errorf("%+v: the steps are %d, expected %d", c, step, want)
		}
		if readNs < 0.9*float64(c.readNs) || readNs > 1.1*float64(c.readNs) {
			t.Errorf("%+v: a reading takes %v", c, readNs)
		}
	}
	if readNs, step := measureClock(func() int64 { return 7 }); readNs != 0 || step != 0 {
		t.Errorf("a clock that stands still: %v, %v", readNs, step)
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := instrument(ctx, clock.New(), MaxRate, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A full calibration of a queue in memory, as JSON and back.
func TestFull(t *testing.T) {
	var notes []string
	o := Options{
		Clock: clock.New(), Duration: 150 * time.Millisecond, Note: func(s string) { notes = append(notes, s) },
		Queue: func() (queue.Queue, error) { return memory.New(memory.Config{}) },
	}
	r, err := Full(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatal(err)
	}
	checkWait(t, back.Wait, "precise", 1500)
	checkWait(t, back.Sleep, "sleep", 1500)
	if len(back.Records) != 2 || len(back.Floors) != 2 || back.Findings == nil || len(notes) < 4 {
		t.Fatalf("%s", body)
	}
	for _, c := range back.Records {
		// Bounds that hold under the race detector too: they find a wrong unit.
		if c.AppendNs < 1 || c.CPUNs < 10 || c.Allocs < 0 || c.Allocs > 1 || c.Bytes < 0.01 || c.Bytes > 20 {
			t.Errorf("%+v", c)
		}
	}
	// A busy host makes it longer, but not each time.
	slow := func(c RecordCost) bool { return c.AppendNs > 20_000 || c.CPUNs > 100_000 }
	for try := 0; slices.ContainsFunc(back.Records, slow); try++ {
		if try == 5 {
			t.Fatalf("%+v", back.Records)
		}
		if back.Records, err = measureRecords(t.Context(), o.Clock, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range back.Floors {
		if f.Rate != floorRates[i] || f.N != int64(f.Rate*0.15) || f.EndToEnd.P50Ns <= 0 || f.EndToEnd.P99Ns < f.EndToEnd.P50Ns || f.EndToEnd.MaxNs < f.EndToEnd.P99Ns {
			t.Errorf("%+v", f)
		}
	}
	if h := back.Highest; h.Rate != 0 && (!h.Holds || h.N != int64(math.Ceil(h.Rate*0.045))) {
		t.Errorf("highest %+v", h)
	}
}

func TestWhatHolds(t *testing.T) {
	latencies := func(ns int64) stats.Compact {
		var c stats.Counter
		_ = c.Record(ns)
		return c.Take()
	}
	good := runner.StepResult{Step: rawlog.Step{Complete: true, Rate: 5, DurationNs: 1e9}, EndToEnd: latencies(99e6), SendLag: latencies(99e6)}
	if f := floorOf(&good); !f.Holds || f.Rate != 5 || f.N != 1 || f.EndToEnd.P99Ns != 99e6 {
		t.Errorf("%+v", f)
	}
	for what, spoil := range map[string]func(*runner.StepResult){
		"lost":             func(s *runner.StepResult) { s.Missing = 1 },
		"overrun":          func(s *runner.StepResult) { s.Accounting.Overrun = 1 },
		"failed":           func(s *runner.StepResult) { s.Complete = false },
		"nothing received": func(s *runner.StepResult) { s.EndToEnd = stats.Compact{} },
		"slow":             func(s *runner.StepResult) { s.EndToEnd = latencies(101e6) },
		"late":             func(s *runner.StepResult) { s.SendLag = latencies(101e6) },
	} {
		bad := good
		spoil(&bad)
		if floorOf(&bad).Holds {
			t.Errorf("%s: it holds", what)
		}
	}
}

func TestSearchFindsTheHighestRate(t *testing.T) {
	for _, capacity := range []float64{500, 1_500, 90_000, 200_000, 777_000, 5e6, 1e12} {
		s := newSearch()
		tries := 0
		for more := true; more && tries <= 50; tries++ {
			// Each first try fails: the machine paused.
			more = s.tell(s.failed > 0 && s.rate <= capacity)
		}
		switch {
		case capacity < MinRate:
			if s.good != 0 {
				t.Errorf("%.0f/s: found %.0f", capacity, s.good)
			}
		case capacity > searchTo:
			if s.good < searchTo/2 {
				t.Errorf("%.0f/s: found %.0f", capacity, s.good)
			}
		case s.good > capacity || s.good*searchRatio*1.01 < capacity:
			t.Errorf("%.0f/s: found %.0f", capacity, s.good)
		}
		if tries > 50 {
			t.Errorf("%.0f/s: %d tries", capacity, tries)
		}
	}
}

func TestFindings(t *testing.T) {
	quiet := func() *rawlog.Calibration {
		steal, throttled := 0.5, int64(0)
		return &rawlog.Calibration{
			TookNs: 500_000_000, Wait: rawlog.WaitLag{Rate: 10_000, P50Ns: 70, P99Ns: 20_000, MaxNs: 9_000_000},
			ClockReadNs: 40, ClockResolutionNs: 20, StealPercent: &steal, ThrottledNs: &throttled,
		}
	}
	if texts := Findings(quiet()); len(texts) != 0 {
		t.Errorf("a quiet machine: %q", texts)
	}
	for _, c := range []struct {
		change func(*rawlog.Calibration)
		want   string
	}{
		{func(c *rawlog.Calibration) { *c.StealPercent = 12.34 }, "withheld 12.3 % of the processors' time in 500ms"},
		{func(c *rawlog.Calibration) { *c.ThrottledNs = 31_000_000 }, "quota held this process up for 31ms in 500ms"},
		{func(c *rawlog.Calibration) { c.Wait.P99Ns = 2_345_678 }, "late, by 2.35ms at the 99th percentile of 10000 waits a second without any load: a median latency below 23.5ms"},
		{func(c *rawlog.Calibration) { c.ClockReadNs, c.ClockSource = 1500, "hpet" }, "reading the clock takes 1.5µs (clock source hpet)"},
		{func(c *rawlog.Calibration) { c.ClockResolutionNs = 1_000_000 }, "steps of 1ms:"},
		{func(c *rawlog.Calibration) { c.ClockResolutionNs, c.ClockSource = 0, "stuck" }, "the clock (clock source stuck) did not move"},
	} {
		x := quiet()
		c.change(x)
		if texts := Findings(x); len(texts) != 1 || !strings.Contains(texts[0], c.want) {
			t.Errorf("got %q, want %q", texts, c.want)
		}
	}
	x := quiet()
	x.Wait.P99Ns = 16_000_000
	if texts := findings(x, false); len(texts) != 1 || !strings.Contains(texts[0], "no exact sleep") || strings.Contains(texts[0], "quieten") {
		t.Errorf("without an exact sleep: %q", texts)
	}
	unknown := quiet()
	unknown.StealPercent, unknown.ThrottledNs = nil, nil
	if texts := Findings(unknown); len(texts) != 0 {
		t.Errorf("what is not known: %q", texts)
	}
}
