// Package calibration measures the instrument itself: how late its waiter is,
// what its clock and its records cost, and what is left of a latency when the
// queue is none.
//
// It refuses to correct anything by what it finds: a result is shown beside its
// instrument, never with the instrument taken off.
package calibration

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
	"queuebench/runner/hostinfo"
	"queuebench/runner/pace"
	"queuebench/stats"
)

// Rates at which a run's waiter is measured: below the first, half a second has
// too few waits for a p99; above the second it hardly sleeps.
const (
	MinRate = 1_000
	MaxRate = 10_000
)

// Short is the calibration that a run carries. It takes half a second. The rate
// is the run's, in messages per second, and is brought into [MinRate, MaxRate].
func Short(ctx context.Context, c *clock.Clock, rate float64) (rawlog.Calibration, error) {
	return instrument(ctx, c, max(MinRate, min(MaxRate, rate)), 500*time.Millisecond)
}

// instrument measures clock and waiter for so long. The error is that of ctx.
func instrument(ctx context.Context, c *clock.Clock, rate float64, d time.Duration) (rawlog.Calibration, error) {
	meter := hostinfo.NewMeter(os.TempDir())
	before, start := meter.Read(), c.Now()
	var r rawlog.Calibration
	r.ClockReadNs, r.ClockResolutionNs = measureClock(c.Now)
	r.ClockSource = clockSource()
	if ordinary, prepared, known := pace.TimerSlack(); known {
		r.DefaultSlackNs, r.TimerSlackNs = &ordinary, &prepared
	}
	var err error
	r.Wait, err = measureWait(ctx, c, pace.Precise, rate, d)
	r.TookNs = c.Now() - start
	used := meter.Read().Since(before)
	if used.StealNs != rawlog.Null {
		percent := 100 * float64(used.StealNs) / float64(r.TookNs) / float64(runtime.NumCPU())
		r.StealPercent = &percent
	}
	if used.ThrottledNs != rawlog.Null {
		r.ThrottledNs = &used.ThrottledNs
	}
	return r, err
}

// measureClock returns what a reading costs, the least of several averages so
// that a pause of the machine does not count, and the smallest step. Both are 0 for
// a clock that did not move in 20 million readings, some tenths of a second.
func measureClock(now func() int64) (readNs float64, resolution int64) {
	const batches, reads = 10, 10_000
	moves := 0
	for i := range batches {
		first := now()
		last := first
		for range reads {
			now := now()
			if step := now - last; step > 0 {
				moves++
				if resolution == 0 || step < resolution {
					resolution = step
				}
			}
			last = now
		}
		if cost := float64(last-first) / reads; i == 0 || cost < readNs {
			readNs = cost
		}
	}
	if moves > batches*reads/100 {
		return readNs, resolution
	}
	// A coarse clock, as that of Windows is, stood still over whole batches. It is read
	// from one step to the next.
	const giveUp = 20_000_000
	step := func() (ns, n int64) {
		for last := now(); n < giveUp && ns == 0; n++ {
			ns = now() - last
		}
		return ns, n
	}
	if ns, _ := step(); ns == 0 {
		return 0, 0
	}
	resolution, n := step()
	return float64(resolution) / float64(n), resolution
}

// clockSource is the kernel's, or empty.
func clockSource() string {
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// measureWait waits for the moments of a schedule, as a producer does.
func measureWait(ctx context.Context, c *clock.Clock, kind pace.Kind, rate float64, d time.Duration) (rawlog.WaitLag, error) {
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	w := pace.New(c, kind, &stop)
	defer w.Close()
	var lags stats.Counter
	start := c.Now() + int64(time.Millisecond)
	for i := range int64(rate * d.Seconds()) {
		due := start + int64(float64(i)*1e9/rate)
		now := w.Until(due)
		if stop.Load() {
			return rawlog.WaitLag{}, context.Cause(ctx)
		}
		_ = lags.Record(now - due) // below 30 days
	}
	l := lags.Take()
	return rawlog.WaitLag{
		Pacing: kind.String(), Rate: rate, N: l.N,
		P50Ns: quantile(l, 0.5), P90Ns: quantile(l, 0.9), P99Ns: quantile(l, 0.99), P999Ns: quantile(l, 0.999), MaxNs: l.Max,
	}, nil
}

func quantile(c stats.Compact, q float64) int64 {
	ns, _ := c.Quantile(q, 0)
	return ns
}
