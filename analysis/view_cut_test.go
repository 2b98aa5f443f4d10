package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A cool-down is cut by intended time, and what is kept is what lies between.
func TestCooldown(t *testing.T) {
	slowEnd := synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(i int, at time.Duration) time.Duration {
		if at >= 36*sec {
			return sec
		}
		return 20 * ms
	}))
	d := synthDigest(slowEnd)
	w := 2 * sec
	x := Summarize(d, View{Warmup: &w, Cooldown: 4 * sec}).Steps[0]
	l := latencyOf(x, EndToEnd)
	if l.N != 17_000 || l.MaxNs != int64(20*ms) || x.CooldownNs != int64(4*sec) || x.Accounting.RecordsTrimmed != 3000 {
		t.Errorf("%d messages up to %d ns, %d ns cut, %d trimmed", l.N, l.MaxNs, x.CooldownNs, x.Accounting.RecordsTrimmed)
	}
	if u := x.Untrimmed[EndToEnd.String()]; u.N != 20_000 || u.MaxNs != int64(sec) {
		t.Errorf("untrimmed: %+v", u)
	}
	// Between two edges: the last one before.
	if x := Summarize(d, View{Warmup: &w, Cooldown: 4100 * ms}).Steps[0]; x.CooldownNs != int64(4200*ms) {
		t.Errorf("4.1 s on a grid of 200 ms: %d", x.CooldownNs)
	}
	if err := (View{Warmup: &w, Cooldown: 38 * sec}).Check(d); err == nil || !strings.Contains(err.Error(), "cool-down") {
		t.Errorf("a cool-down that leaves nothing: %v", err)
	}
	if s := CumulativeOf(&d.Steps[0], View{Warmup: &w, Cooldown: 4 * sec, Percentiles: []float64{50}}); s.Points[len(s.Points)-1].N != l.N ||
		s.Points[len(s.Points)-1].Ns[0] != l.Percentiles["50"].Ns {
		t.Errorf("the cumulative curve ends at %+v", s.Points[len(s.Points)-1])
	}
}

func TestWarmupUntilATime(t *testing.T) {
	d := synthDigest(calm(t))
	var v View
	if err := v.SetWarmup(time.Unix(0, d.Steps[0].StartNs+int64(6*sec)).UTC().Format(time.RFC3339Nano)); err != nil {
		t.Fatal(err)
	}
	if x := Summarize(d, v).Steps[0]; x.WarmupNs != int64(6*sec) || !strings.Contains(x.WarmupRule, "until 2023-") {
		t.Errorf("%d, %s", x.WarmupNs, x.WarmupRule)
	}
}

// Where the latency settles after a slow start, and never after a stall.
func TestSteadyState(t *testing.T) {
	noise := func(level func(at time.Duration) time.Duration) StepDigest {
		r := rand.New(rand.NewPCG(8, 8))
		return synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(_ int, at time.Duration) time.Duration {
			return level(at) + time.Duration(r.Int64N(int64(ms)))
		}))
	}
	for _, c := range []struct {
		name  string
		level func(time.Duration) time.Duration
		found bool
		from  time.Duration
	}{
		{"steady from the start", func(time.Duration) time.Duration { return 20 * ms }, true, 0},
		{"a slow start of 5 s", func(at time.Duration) time.Duration { return 20*ms + max(0, 5*sec-at)/20 }, true, 5 * sec},
		{"a stall at 10 s", func(at time.Duration) time.Duration {
			if at >= 10*sec && at < 12*sec {
				return sec
			}
			return 20 * ms
		}, true, 0},
		{"two settled intervals, then a stall", func(at time.Duration) time.Duration {
			if at >= 400*ms && at < 3*sec {
				return sec
			}
			return 20 * ms
		}, true, 0},
		{"settled only in the second half", func(at time.Duration) time.Duration {
			if at < 25*sec {
				return 500 * ms
			}
			return 20 * ms
		}, false, 0},
	} {
		s := noise(c.level)
		got := s.steadyState(s.Duration)
		if got.Found != c.found || c.found && (got.From-c.from).Abs() > 600*ms {
			t.Errorf("%s: %+v", c.name, got)
		}
		x := Summarize(synthDigest(s), View{Steady: true}).Steps[0]
		if c.found != (x.WarmupRule == "where the latency had settled") || c.found && x.WarmupNs != int64(got.From) {
			t.Errorf("%s: cut at %d, %s", c.name, x.WarmupNs, x.WarmupRule)
		}
	}
	if s := synthStep(t, 0, 500, sec, 200*ms, schedule(500, 500, steady(20*ms))); !s.steadyState(sec).Short {
		t.Error("five intervals are not called too few")
	}
}

// A step whose commit interval was varied has its own.
func TestCommitIntervalOfAStep(t *testing.T) {
	d := synthDigest(calm(t))
	d.Manifest.Queue.CommitInterval = 100 * ms
	for text, want := range map[string]time.Duration{"": 100 * ms, "1s": sec, "0s": 100 * ms, "nonsense": 100 * ms} {
		s := &StepDigest{Settings: map[string]string{"commit-interval": text}}
		if got := commitIntervalOf(&d.Manifest, s); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := commitIntervalOf(&d.Manifest, &StepDigest{Settings: map[string]string{"autocommit-duration-ms": "250"}}); got != 250*ms {
		t.Errorf("autocommit: %s", got)
	}
}
