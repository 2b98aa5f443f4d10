package calibration

import (
	"context"
	"math"
	"time"

	"queuebench/queue"
	"queuebench/runner"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

// Floor is what is measured where the queue takes no time: a queue in memory,
// one producer, one consumer, messages of 100 B.
type Floor struct {
	Rate     float64 `json:"rate"`
	N        int64   `json:"n"`
	EndToEnd Latency `json:"end_to_end"`
	SendLag  Latency `json:"send_lag"`
	// Holds says that nothing was overrun and both p99 stayed below a tenth of
	// the time that the rate lasted.
	Holds bool `json:"holds"`
}

// Latency is a distribution, in ns.
type Latency struct {
	P50Ns int64 `json:"p50_ns"`
	P99Ns int64 `json:"p99_ns"`
	MaxNs int64 `json:"max_ns"`
}

func latencyOf(c stats.Compact) Latency {
	if c.N == 0 {
		return Latency{}
	}
	return Latency{quantile(c, 0.5), quantile(c, 0.99), c.Max}
}

const (
	// searchShare is how long each rate of the search lasts, of the time of the
	// floors.
	searchShare = 0.3
	// searchFrom is where the search begins, and searchTo is where it gives up:
	// above what two processors move.
	searchFrom, searchTo = 200_000, 100_000_000
	// searchRatio is how near to each other the ends of the search come.
	searchRatio = 1.25
	// searchTries is how often a rate may fail: a pause of the machine is no
	// limit of the instrument.
	searchTries = 2
)

// search finds the highest rate that holds: by doubling, or by dividing by 8,
// then by bisection of the ratio. It is exact to searchRatio.
type search struct {
	rate   float64 // that is tried now
	failed int     // tries of it
	good   float64 // highest that held, 0 for none
	bad    float64 // lowest that did not, +Inf for none
}

func newSearch() *search { return &search{rate: searchFrom, bad: math.Inf(1)} }

// tell takes how the rate went, and says whether there is another to try.
func (s *search) tell(holds bool) bool {
	if !holds {
		if s.failed++; s.failed < searchTries {
			return true
		}
		s.bad = s.rate
	} else {
		s.good = s.rate
	}
	s.failed = 0
	switch {
	case math.IsInf(s.bad, 1):
		s.rate *= 2
	case s.good == 0:
		if s.rate <= MinRate {
			return false
		}
		s.rate = max(MinRate, s.rate/8)
	default:
		s.rate = math.Round(math.Sqrt(s.good * s.bad))
	}
	return s.rate <= searchTo && s.bad/max(1, s.good) > searchRatio
}

// measureFloors runs the rates, each for d, and then the search. It returns the
// floors of the rates and the highest rate that held, 0 for none.
func measureFloors(ctx context.Context, cfg runner.Config, open func() (queue.Queue, error), rates []float64, d time.Duration) (floors []Floor, highest Floor, err error) {
	plan := func(step int, rate float64, d time.Duration) runner.Plan {
		r := schedule.Rate(rate * 1000)
		return runner.Plan{
			Step: step, Rate: r, Schedule: schedule.NewConstant(r, d),
			Load: runner.Load{Topics: 1, Producers: 1, Groups: 1, Consumers: 1, Payload: payload.Fixed(100), MaxInFlight: 1 << 18, DrainTimeout: 5 * time.Second},
			Open: func(context.Context, int) (queue.Queue, error) { return open() },
		}
	}
	for i, rate := range rates {
		cfg.Plans = append(cfg.Plans, plan(i, rate, d))
	}
	s := newSearch()
	next := len(rates)
	cfg.Next = func(last *runner.StepResult) (runner.Plan, bool) {
		if next > len(rates) {
			f := floorOf(last)
			if f.Holds && f.Rate > highest.Rate {
				highest = f
			}
			if !s.tell(f.Holds) {
				return runner.Plan{}, false
			}
		}
		next++
		return plan(next-1, s.rate, time.Duration(searchShare*float64(d))), true
	}
	result, err := runner.Run(ctx, cfg)
	for i := range min(len(rates), len(result.Steps)) {
		floors = append(floors, floorOf(&result.Steps[i]))
	}
	return floors, highest, err
}

func floorOf(s *runner.StepResult) Floor {
	f := Floor{Rate: s.Rate, N: s.EndToEnd.N, EndToEnd: latencyOf(s.EndToEnd), SendLag: latencyOf(s.SendLag)}
	limit := s.DurationNs / 10
	f.Holds = s.Complete && s.Missing == 0 && s.Accounting.Overrun == 0 && f.N > 0 && f.EndToEnd.P99Ns <= limit && f.SendLag.P99Ns <= limit
	return f
}
