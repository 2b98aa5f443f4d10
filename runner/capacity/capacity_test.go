package capacity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// search runs a search to its end against a queue, and checks what is true of
// each one.
func search(t *testing.T, cfg Config, queue func(Try) Verdict) (Result, []Try) {
	t.Helper()
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	s := New(cfg)
	var tries []Try
	verdicts, long := map[float64]bool{}, map[float64]bool{}
	for {
		try, more := s.Next()
		if !more {
			break
		}
		if again, _ := s.Next(); again != try {
			t.Fatalf("Next gave %v and then %v", try, again)
		}
		if r := s.Result(); r.Converged || r.Reason == "" {
			t.Fatalf("an answer before the end: %+v", r)
		}
		if len(tries) >= MaxTries {
			t.Fatalf("%d tries", len(tries))
		}
		if try.Rate < cfg.Min || try.Rate > cfg.Max {
			t.Fatalf("rate %v is not in [%v, %v]", try.Rate, cfg.Min, cfg.Max)
		}
		v := queue(try)
		tries = append(tries, try)
		verdicts[try.Rate] = v.Held
		if try.Confirm {
			long[try.Rate] = v.Held
		}
		s.Tell(v)
	}
	r := s.Result()
	if r.Converged == (r.Reason != "") || r.Converged == (r.Rate == 0) {
		t.Fatalf("an answer and a reason for none, or neither: %+v", r)
	}
	if r.Converged {
		last := tries[len(tries)-1]
		if !last.Confirm || !long[r.Rate] {
			t.Fatalf("the answer %v was not confirmed: %v", r.Rate, tries)
		}
		if held, tried := long[r.NotHeld]; held || !tried {
			t.Fatalf("%v, above the answer %v, was not refuted: %v", r.NotHeld, r.Rate, tries)
		}
		if verdicts[r.NotHeld] || r.NotHeld <= r.Rate || r.NotHeld > r.Rate*(1+cfg.Tolerance/2)*1.002 {
			t.Fatalf("above the answer %v lies %v", r.Rate, r.NotHeld)
		}
	}
	return r, tries
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// drawn draws a capacity between the ends of a search, evenly by its logarithm.
func drawn(r *rand.Rand, cfg Config) float64 {
	return cfg.Min * 1.1 * math.Pow(cfg.Max/cfg.Min/1.3, r.Float64())
}

var wide = Config{Min: 1000, Max: 1e6, Tolerance: DefaultTolerance}

func TestASteadyQueuesLimitIsFoundWithinTheTolerance(t *testing.T) {
	for seed := range uint64(2000) {
		r := random(seed)
		cfg := wide
		cfg.Tolerance = 0.01 + 0.2*r.Float64()
		if seed%3 == 0 {
			cfg.Min, cfg.Max = 0.5, 400
		}
		c := drawn(r, cfg)
		got, tries := search(t, cfg, func(try Try) Verdict { return Verdict{Held: try.Rate <= c, Why: "it grew"} })
		if !got.Converged || got.Rate > c || got.Rate < c/(1+cfg.Tolerance/2)*0.997 {
			t.Fatalf("seed %d, limit %v, tolerance %v: %+v", seed, c, cfg.Tolerance, got)
		}
		if n := len(tries); n > 35 {
			t.Errorf("seed %d: %d tries", seed, n)
		}
	}
}

// A try is wrong near the limit, and once in a while the host stands still and
// any rate does not hold.
func TestANoisyQueuesLimitIsFoundOrNotAtAll(t *testing.T) {
	const seeds = 3000
	converged, wrong := 0, 0
	for seed := range uint64(seeds) {
		r := random(seed)
		c := drawn(r, wide)
		got, _ := search(t, wide, func(try Try) Verdict {
			seen := c * (1 + 0.01*r.NormFloat64())
			if try.Confirm {
				seen = c * (1 + 0.004*r.NormFloat64())
			}
			return Verdict{Held: try.Rate <= seen && r.Float64() > 0.03, Why: "it grew"}
		})
		if !got.Converged {
			continue
		}
		converged++
		if math.Abs(got.Rate/c-1) > wide.Tolerance {
			wrong++
		}
	}
	t.Logf("%d of %d converged, %d of them more than %v from the limit", converged, seeds, wrong, wide.Tolerance)
	if converged < seeds*9/10 {
		t.Errorf("only %d of %d searches converged", converged, seeds)
	}
	if wrong > converged/50 {
		t.Errorf("%d of %d answers lie more than %v from the limit", wrong, converged, wide.Tolerance)
	}
}

func TestWhatDoesNotConvergeSaysSo(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		name  string
		queue func(Try) Verdict
		want  string
	}{
		{"a rate holds for a step and no longer", func(try Try) Verdict {
			return Verdict{Held: try.Rate < 9000 && !try.Confirm, Why: "it grew"}
		}, "rates that held in the search did not in 3 long runs"},
		{"a queue that gets slower with each try", func(try Try) Verdict {
			calls++
			return Verdict{Held: try.Rate < 64_000*math.Pow(0.8, float64(calls)), Why: "it grew"}
		}, "did not in 3 long runs"},
		{"lower rates did not hold at first", func() func(Try) Verdict {
			seen := map[float64]bool{}
			return func(try Try) Verdict {
				first := !seen[try.Rate]
				seen[try.Rate] = true
				return Verdict{Held: try.Rate < 30_000 && (!first || try.Rate > 5000), Why: "it grew"}
			}
		}(), "too unsteady"},
		{"nothing holds", func(Try) Verdict { return Verdict{Why: "it grew"} }, "the lowest rate that may be tried, 1000"},
		{"everything holds", func(Try) Verdict { return Verdict{Held: true} }, "every rate held, up to 1000000"},
		{"the runner is the limit", func(try Try) Verdict {
			return Verdict{Held: try.Rate < 50_000, Own: true, Why: "it was late"}
		}, "runner-limited: at 5"},
		{"a step fails", func(try Try) Verdict {
			if try.Rate > 3000 {
				return Verdict{Broken: "the step failed: no such bucket"}
			}
			return Verdict{Held: true}
		}, "at 4000 messages per second the step failed: no such bucket"},
		{"long runs hold what short ones do not", func(try Try) Verdict {
			return Verdict{Held: try.Rate < 9000 || try.Confirm, Why: "it grew"}
		}, "3 long runs said other than the short ones"},
		{"only the lowest holds, for a step", func(try Try) Verdict {
			return Verdict{Held: try.Rate <= 1000 && !try.Confirm, Why: "it grew"}
		}, "there is no rate to try below 1000"},
	} {
		got, _ := search(t, wide, c.queue)
		if got.Converged || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Verdicts without any sense rarely come to an answer.
func TestCoinsRarelyConverge(t *testing.T) {
	const seeds = 2000
	n := 0
	for seed := range uint64(seeds) {
		r := random(seed)
		got, _ := search(t, wide, func(Try) Verdict { return Verdict{Held: r.IntN(2) == 0, Why: "tails"} })
		if got.Converged {
			n++
		}
	}
	t.Logf("%d of %d converged", n, seeds)
	if n > seeds/4 {
		t.Errorf("%d of %d searches over coins came to a number", n, seeds)
	}
}

func TestTheRunnersLimitHidesNoLowerOneOfTheQueue(t *testing.T) {
	got, _ := search(t, wide, func(try Try) Verdict {
		return Verdict{Held: try.Rate < 10_000, Own: try.Rate > 14_000, Why: "it grew"}
	})
	if !got.Converged || got.Rate < 9700 {
		t.Errorf("%+v", got)
	}
}

func TestOneStallIsAWarning(t *testing.T) {
	stalled := false
	got, _ := search(t, wide, func(try Try) Verdict {
		if try.Rate == 2000 && !stalled {
			stalled = true
			return Verdict{Why: "it stood still"}
		}
		return Verdict{Held: try.Rate < 10_000, Why: "it grew"}
	})
	if !got.Converged || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "2000 messages per second did not hold when it was first tried") {
		t.Errorf("%+v", got)
	}
}

func TestBoundedTries(t *testing.T) {
	cfg := wide
	cfg.MaxTries = 5
	got, tries := search(t, cfg, func(try Try) Verdict { return Verdict{Held: try.Rate < 1e5} })
	if got.Converged || len(tries) != 5 || !strings.Contains(got.Reason, "5 tries") {
		t.Errorf("%d tries: %+v", len(tries), got)
	}
}

func TestConfigIsRefused(t *testing.T) {
	for _, c := range []Config{
		{Min: 0, Max: 10, Tolerance: .05}, {Min: 10, Max: 10, Tolerance: .05}, {Min: 10, Max: math.Inf(1), Tolerance: .05},
		{Min: math.NaN(), Max: 10, Tolerance: .05}, {Min: 1, Max: 10}, {Min: 1, Max: 10, Tolerance: .5}, {Min: 1, Max: 10, Tolerance: math.NaN()},
	} {
		if c.Check() == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
