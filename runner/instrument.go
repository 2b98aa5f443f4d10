package runner

import (
	"fmt"
	"time"
)

// instrumentShare is the part of a median latency above which the lag of the
// load generator is told: that of the rule for runner-limited runs.
const instrumentShare = 10

// tellInstrument warns once of latencies that the run's own instrument may
// hide, by its calibration. A floor is the instrument by name.
func (r *run) tellInstrument(s *step, result *StepResult) {
	c := r.cfg.Manifest.Calibration
	if c == nil || r.toldInstrument || result.EndToEnd.N == 0 || s.queues[0].Info().InProcess {
		return
	}
	p50, beyond := result.EndToEnd.Quantile(0.5, result.Missing)
	if beyond || c.Wait.P99Ns <= p50/instrumentShare {
		return
	}
	r.toldInstrument = true
	r.warn(fmt.Sprintf("step %d, repeat %d: the median end-to-end latency is %v, and before the first step the load generator alone woke up late by %v at its 99th percentile, more than a tenth of it: look at the send lag before you trust the percentiles, and give the runner processors of its own",
		s.plan.Step, s.plan.Repeat, time.Duration(p50), time.Duration(c.Wait.P99Ns)))
}
