package analysis

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// rising takes 1 ms longer for each whole second of intended time.
func rising(t *testing.T) *Digest {
	return synthDigest(synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(_ int, at time.Duration) time.Duration {
		return 20*ms + at/sec*ms
	})))
}

// A window keeps what was intended in it, after the warm-up and before the
// cool-down, in every number that a digest has by interval.
func TestWindow(t *testing.T) {
	d := rising(t)
	warm := 4 * sec
	for _, c := range []struct {
		name     string
		view     View
		from, to time.Duration
		low, top time.Duration // extremes of the latency
	}{
		{"inside", View{From: 10 * sec, To: 20 * sec}, 10 * sec, 20 * sec, 30 * ms, 39 * ms},
		{"up to the end", View{From: 30 * sec}, 30 * sec, 40 * sec, 50 * ms, 59 * ms},
		{"from the warm-up on", View{Warmup: &warm, To: 20 * sec}, 4 * sec, 20 * sec, 24 * ms, 39 * ms},
		{"begins in the warm-up", View{Warmup: &warm, From: sec, To: 20 * sec}, 4 * sec, 20 * sec, 24 * ms, 39 * ms},
		{"ends in the cool-down", View{From: 30 * sec, To: 39 * sec, Cooldown: 5 * sec}, 30 * sec, 35 * sec, 50 * ms, 54 * ms},
		{"ends after the step", View{From: 30 * sec, To: time.Hour}, 30 * sec, 40 * sec, 50 * ms, 59 * ms},
		{"between edges", View{From: 10100 * ms, To: 19900 * ms}, 10 * sec, 20 * sec, 30 * ms, 39 * ms},
		{"within an interval", View{From: 10050 * ms, To: 10060 * ms}, 10 * sec, 10200 * ms, 30 * ms, 30 * ms},
	} {
		x := Summarize(d, c.view).Steps[0]
		l := latencyOf(x, EndToEnd)
		want := int64((c.to - c.from) / (2 * ms))
		if l.N != want || l.MinNs != int64(c.low) || l.MaxNs != int64(c.top) {
			t.Errorf("%s: %d messages of %d to %d ns, want %d", c.name, l.N, l.MinNs, l.MaxNs, want)
		}
		if x.Accounting.RecordsUsed != want || x.Accounting.RecordsTrimmed != 20_000-want {
			t.Errorf("%s: %d used and %d trimmed", c.name, x.Accounting.RecordsUsed, x.Accounting.RecordsTrimmed)
		}
		if from, to := x.KeptNs(); from != int64(c.from) || to != int64(c.to) || x.Window == nil {
			t.Errorf("%s: kept %d to %d", c.name, from, to)
		}
		if got := DistributionOf(d, &d.Steps[0], c.view); got.N() != want || *got.Window != *x.Window {
			t.Errorf("%s: a distribution of %d in %+v", c.name, got.N(), got.Window)
		}
		s := SeriesOf(&d.Steps[0], c.view)
		if len(s.Points) != 200 || *s.Window != *x.Window || int64(s.Warmup) != x.WarmupNs {
			t.Errorf("%s: %d points, window %+v, warm-up %s", c.name, len(s.Points), s.Window, s.Warmup)
		}
		if p := CumulativeOf(&d.Steps[0], c.view).Points; p[len(p)-1].N != want {
			t.Errorf("%s: the cumulative curve ends with %d", c.name, p[len(p)-1].N)
		}
		if err := c.view.Check(d); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Throughput counts whole seconds of it, and none is told of less.
	if x := Summarize(d, View{From: 10 * sec, To: 20 * sec}).Steps[0]; x.Throughput.Seconds != 10 || math.Abs(x.Throughput.ReceivedPerS-500) > 1 {
		t.Errorf("%+v", x.Throughput)
	}
	if x := Summarize(d, View{From: 10 * sec, To: 10400 * ms}).Steps[0]; x.Throughput != (Throughput{}) {
		t.Errorf("of 400 ms: %+v", x.Throughput)
	}
}

// Blocks behind a percentile are counted in proportion to the window.
func TestBlocksOfAWindow(t *testing.T) {
	d := rising(t)
	d.Steps[0].Commits.Commits = 400 // one in 100 ms
	w := time.Duration(0)
	for _, c := range []struct {
		from, to  time.Duration
		supported bool
	}{{10 * sec, 20 * sec, true}, {38 * sec, 39 * sec, false}, {0, sec, false}, {0, 3 * sec, true}} {
		v := View{Warmup: &w, From: c.from, To: c.to}
		if p := latencyOf(Summarize(d, v).Steps[0], EndToEnd).Percentiles["50"]; p.Supported != c.supported {
			t.Errorf("%s to %s: %+v", c.from, c.to, p)
		}
	}
}

func TestWindowThatHoldsNothing(t *testing.T) {
	short := synthStep(t, 1, 500, 10*sec, 200*ms, schedule(5_000, 500, steady(20*ms)))
	d := synthDigest(rising(t).Steps[0], short)
	v := View{From: 20 * sec, To: 30 * sec}
	if err := v.Check(d); err != nil {
		t.Errorf("of a step that is there: %v", err)
	}
	x := Summarize(d, v).Steps
	if findingOf(x[0].Findings, "window-empty") != nil || findingOf(x[1].Findings, "window-empty") == nil || findingOf(x[1].Findings, "no-data") != nil {
		t.Errorf("findings of %+v and %+v", x[0].Findings, x[1].Findings)
	}
	if l := latencyOf(x[1], EndToEnd); l.N != 0 || x[1].Accounting.RecordsUsed != 0 {
		t.Errorf("%+v", l)
	}
	if err := (View{From: 50 * sec}).Check(d); !errors.Is(err, ErrWindow) || !strings.Contains(err.Error(), "--from") {
		t.Errorf("beyond all steps: %v", err)
	}
	w := 9 * sec
	if err := (View{Warmup: &w, From: 2 * sec, To: 5 * sec}).Check(d); !errors.Is(err, ErrWindow) {
		t.Errorf("inside the warm-up: %v", err)
	}
	if err := (View{From: 5 * sec, To: 4 * sec}).Check(d); err == nil {
		t.Error("a window that ends before it begins")
	}
	moved := Summarize(d, View{From: 5100 * ms, To: 8 * sec}).Steps[0]
	if f := findingOf(moved.Findings, "window-moved"); f == nil || !strings.Contains(f.Text, "5 s to 8 s") {
		t.Errorf("%+v", moved.Findings)
	}
	if f := findingOf(Summarize(d, View{From: 5 * sec, To: 8 * sec}).Steps[0].Findings, "window-moved"); f != nil {
		t.Error(f.Text)
	}
}
