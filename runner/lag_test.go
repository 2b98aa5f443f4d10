package runner

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"queuebench/internal/cputimetest"
	"queuebench/queue/memory"
	"queuebench/runner/pace"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

var lagStep = flag.Duration("step", 3*time.Second, "how long a step of BenchmarkSendLag lasts")

// BenchmarkSendLag reports how late messages are handed to a queue in memory,
// end to end beside it, and the CPU time that a message takes, of everything:
// schedule, books, queue, receiver, both tables of the log, stored in a folder.
// Each figure is the median of the runs: `make bench-runner` makes five. It is
// no test: a neighbour on the machine makes it worse.
func BenchmarkSendLag(b *testing.B) {
	for _, rate := range []schedule.Rate{10_000_000, 1_000_000_000} {
		for _, k := range []struct {
			name string
			kind pace.Kind
		}{{"precise", pace.Precise}, {"sleep", pace.Sleep}} {
			b.Run(fmt.Sprintf("%s/%s", rate, k.name), func(b *testing.B) {
				figures := map[string][]float64{}
				for b.Loop() {
					lagOf(b, rate, k.kind, figures)
				}
				b.ReportMetric(0, "ns/op") // it would be the length of a step
				for unit, runs := range figures {
					slices.Sort(runs)
					b.ReportMetric(runs[(len(runs)-1)/2], unit)
				}
			})
		}
	}
}

func lagOf(b *testing.B, rate schedule.Rate, kind pace.Kind, figures map[string][]float64) {
	r := newRig(b, memory.Config{}, rate, *lagStep)
	r.plan().Load.Pacing = kind
	before := cputimetest.Used(b)
	res, err := Run(b.Context(), r.cfg)
	if err != nil {
		b.Fatal(err)
	}
	add := func(unit string, v float64) { figures[unit] = append(figures[unit], v) }
	step := &res.Steps[0]
	add("cpu-ns/msg", float64(cputimetest.Used(b)-before)/float64(step.Accounting.Attempted))
	add("overrun", float64(step.Accounting.Overrun))
	for _, l := range []struct {
		name string
		c    stats.Compact
	}{{"lag", step.SendLag}, {"e2e", step.EndToEnd}} {
		for _, q := range []float64{.5, .99} {
			ns, _ := l.c.Quantile(q, 0)
			add(fmt.Sprintf("µs-%s-p%.0f", l.name, q*100), float64(ns)/1000)
		}
	}
}
