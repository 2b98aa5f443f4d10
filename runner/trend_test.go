package runner

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"queuebench/queue/memory"
)

// read makes a trace of a quantity as a watch reads it, its readings somewhat
// late, over a step.
func read(r *rand.Rand, d time.Duration, f func(seconds float64) float64) *trace {
	t := &trace{width: int64(trendPeriod)}
	for at := int64(0); at < int64(d); at += int64(trendPeriod) {
		late := at + int64(r.Float64()*float64(trendPeriod)/4)
		t.add(late, f(float64(late)/1e9))
	}
	return t
}

func TestGrowthOfAFewPercentIsToldFromCommitsNoiseAndStalls(t *testing.T) {
	const rate = 10_000
	saw := func(period float64) func(float64) float64 {
		return func(x float64) float64 { return rate * math.Mod(x, period) }
	}
	for _, c := range []struct {
		name     string
		d, every time.Duration
		f        func(x float64) float64
		growing  bool
	}{
		{"level", 5 * time.Second, 0, func(float64) float64 { return 20 }, false},
		{"2 % too fast", 5 * time.Second, 0, func(x float64) float64 { return 200 * x }, true},
		{"half a percent too fast", 5 * time.Second, 0, func(x float64) float64 { return 50 * x }, false},
		{"batches of 102 ms", 5 * time.Second, 0, saw(0.1024), false},
		{"batches of 102 ms, 2 % too fast", 5 * time.Second, 0, func(x float64) float64 { return saw(0.1024)(x) + 200*x }, true},
		{"commits of 1 s", 20 * time.Second, time.Second, saw(1), false},
		{"commits of 1 s, 3 % too fast", 20 * time.Second, time.Second, func(x float64) float64 { return saw(1)(x) + 300*x }, true},
		{"commits of 300 ms", 5 * time.Second, 300 * time.Millisecond, saw(0.3), false},
		{"a stall of 300 ms that is made up for", 5 * time.Second, 0, func(x float64) float64 {
			return max(0, min(rate*(x-3), 3000, 3000-2000*(x-3.3)))
		}, false},
		{"a stall that stays", 5 * time.Second, 0, func(x float64) float64 { return max(0, min(rate*(x-4), 3000)) }, false},
		{"rose and is level", 5 * time.Second, 0, func(x float64) float64 { return 5000 * min(x, 1) }, false},
		{"falling", 5 * time.Second, 0, func(x float64) float64 { return 1000 * (5 - x) }, false},
	} {
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 1))
			noisy := func(x float64) float64 { return c.f(x) + 30*r.Float64() }
			v := trendOf(read(r, c.d, noisy), read(r, c.d, func(float64) float64 { return 0 }), c.d, c.every, rate)
			if v.TooShort || v.Growing != c.growing || v.Own {
				t.Errorf("%s, seed %d: %+v", c.name, seed, v)
				break
			}
		}
	}
}

func TestTheTrendOfNoiseIsRarelyGrowth(t *testing.T) {
	n := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		v := trendOf(read(r, 5*time.Second, func(float64) float64 { return 500 * r.NormFloat64() }), &trace{width: 1}, 5*time.Second, 0, 1000)
		if v.Growing {
			n++
		}
	}
	if n > 20 { // 1 in 1,000 by the normal score, and those that reach 5 % of the rate
		t.Errorf("%d of 2000", n)
	}
}

func TestTheRunnersShareOfWhatWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	open := read(r, 5*time.Second, func(x float64) float64 { return 1000 * x })
	for part, own := range map[float64]bool{0.1: false, 0.4: false, 0.6: true, 1: true} {
		v := trendOf(open, read(r, 5*time.Second, func(x float64) float64 { return part * 1000 * x }), 5*time.Second, 0, 1000)
		if !v.Growing || v.Own != own {
			t.Errorf("share %v: %+v", part, v)
		}
	}
}

func TestAShortStepTellsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	grows := func(x float64) float64 { return 1000 * x }
	for _, interval := range []time.Duration{0, 50 * time.Millisecond, 330 * time.Millisecond, time.Second} {
		d := MinTrend(interval)
		none := &trace{width: int64(trendPeriod)}
		if v := trendOf(read(r, d, grows), none, d, interval, 1000); v.TooShort || !v.Growing {
			t.Errorf("interval %v, %v: %+v", interval, d, v)
		}
		d = d * 8 / 10
		if v := trendOf(read(r, d, grows), none, d, interval, 1000); !v.TooShort || v.Growing {
			t.Errorf("interval %v, %v: %+v", interval, d, v)
		}
	}
}

func TestATraceKeepsItsMeansInBoundedMemory(t *testing.T) {
	tr := &trace{width: int64(trendPeriod)}
	const hour = int64(time.Hour)
	for at := int64(0); at < 3*hour; at += int64(trendPeriod) {
		tr.add(at, float64(at))
	}
	if n := len(tr.cells); n > trendCells {
		t.Errorf("%d cells", n)
	}
	for _, at := range []int64{0, hour, 2 * hour} {
		got, want := tr.mean(at, at+hour/2), float64(at+hour/4)
		if math.Abs(got-want) > 0.01*float64(hour) {
			t.Errorf("mean from %d h: %g, want %g", at/hour, got, want)
		}
	}
	if !math.IsNaN(tr.mean(4*hour, 5*hour)) {
		t.Error("a mean of nothing")
	}
}

// A step of a search says whether its rate held, for a queue that serves 2,000
// messages per second.
func TestAStepOfASearchHasATrend(t *testing.T) {
	for rate, held := range map[int64]bool{1000: true, 4000: false} {
		r := newRig(t, memory.Config{Faults: memory.Faults{ServiceTime: 500 * time.Microsecond}}, 1, time.Second)
		*r.plan() = ofRate(*r.plan(), rate, 1500*time.Millisecond)
		r.cfg.Search = true
		res, err := Run(t.Context(), r.cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Steps[0]
		why, _ := s.NotHeld()
		if s.Trend.Blocks < minTrendBlocks || (why == "") != held {
			t.Errorf("at %d/s: %q, %+v", rate, why, s.Trend)
		}
		if len(r.cfg.Manifest.Warnings) > 0 {
			t.Errorf("at %d/s: warnings %q", rate, r.cfg.Manifest.Warnings)
		}
	}
}
