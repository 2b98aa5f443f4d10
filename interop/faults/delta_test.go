//go:build unix

package faults

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/faultproxy"
	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
)

// drainTimeout is that of the runs through faults: longer than an outage.
const drainTimeout = 90 * time.Second

// fault is what happens during a run.
type fault struct {
	what string
	faultproxy.Plan
}

// within is a time of a run.
func within(from, to time.Duration) func(time.Duration) bool {
	return func(since time.Duration) bool { return since >= from && since < to }
}

// gone is a quarter of a run, a minute at most, in its first half: what waits
// meanwhile takes memory, and what comes after must not take more.
func gone(d time.Duration) func(time.Duration) bool {
	from := d/6 + 2*time.Second
	return within(from, from+min(time.Minute, d/4))
}

// plans are what happens to requests. The chances are those of a bad day.
func plans(d time.Duration) map[string]fault {
	silent := .003
	if d < time.Minute { // of some 250 requests
		silent = .025
	}
	return map[string]fault{
		"answers-lost": {"2 % of requests each: 500 and a cut connection after the server had done it, a cut before, 500, half a body", faultproxy.Plan{Chance: map[faultproxy.Kind]float64{
			faultproxy.LostByError: .02, faultproxy.LostByCut: .02, faultproxy.CutBefore: .02, faultproxy.ServerError: .02, faultproxy.Truncated: .02}}},
		"overloaded": {"5 % of requests 503 with `Retry-After`, and at most 400 requests per second and prefix", faultproxy.Plan{Chance: map[faultproxy.Kind]float64{faultproxy.SlowDown: .05}, PerPrefix: 400}},
		"far-away": {"10 to 40 ms of latency, 30 MB/s, one request in 200 a second late", faultproxy.Plan{
			Latency: 10 * time.Millisecond, Jitter: 30 * time.Millisecond, Bandwidth: 30 << 20, Chance: map[faultproxy.Kind]float64{faultproxy.Slow: .005}, SlowFor: time.Second}},
		"half-open": {fmt.Sprintf("%v of 1,000 requests get no answer, and their connection stays open", 1000*silent), faultproxy.Plan{Chance: map[faultproxy.Kind]float64{faultproxy.HalfOpen: silent}, SlowFor: min(time.Minute, 2*d)}},
		"gone":      {"the store is gone for a quarter of the run, a minute at most", faultproxy.Plan{Down: gone(d)}},
		"damaged":   {"1 % of answers come with a changed byte, 1 % with a wrong checksum", faultproxy.Plan{Chance: map[faultproxy.Kind]float64{faultproxy.Damaged: .01, faultproxy.Misstated: .01}}},
	}
}

// load is for how long runs through faults last, and their rate.
func load(t *testing.T) (d time.Duration, rate float64) {
	t.Helper()
	d, err := time.ParseDuration(setting("FAULTS_DURATION", "6s"))
	if err != nil {
		t.Fatal(err)
	}
	if rate, err = strconv.ParseFloat(setting("FAULTS_RATE", "1000"), 64); err != nil {
		t.Fatal(err)
	}
	return d, rate
}

// often says how a run through faults was.
func often(d time.Duration, rate float64) string {
	return fmt.Sprintf("%v at %v messages a second", d, rate)
}

// A Delta queue and the raw log's uploads go through the same bad network.
func TestDeltaThroughFaults(t *testing.T) {
	alongside(t, "FAULTS_DURATION")
	d, rate := load(t)
	benchProgram(t) // before the time of a fault runs
	gw := versitygw.Start(t)
	for name, plan := range plans(d) {
		if !chosen("delta/" + name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			row := reliability.Try(t, reliability.Row{
				ID: "faults/delta-" + name, What: "Delta and the uploads of the raw log: " + plan.what, Often: often(d, rate), Effort: d.Seconds() * rate,
				Holds: "the sums are whole, lost 0, duplicates 0, the whole log stored, over in time, memory flat from three minutes on",
			})
			if d < time.Minute { // longer ones are measured, and stand alone
				t.Parallel()
			}
			plan.Seed = 7
			var began atomic.Pointer[time.Time] // of the load, where the store is gone
			if down := plan.Down; down != nil {
				plan.Down = func(time.Duration) bool { at := began.Load(); return at != nil && down(time.Since(*at)) }
			}
			p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, plan.Plan)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			b := start(t, t.TempDir(), gw.Environ(), "run", "--queue", "delta", "--rate", fmt.Sprint(rate), "--duration", d.String(), "--drain-timeout", drainTimeout.String(),
				"--commit-interval", "100ms", "--message-size", "100", "--store", "s3://"+gw.Bucket+"/"+name, "--endpoint", p.Endpoint, "--region", "us-east-1",
				"--part-age", "2s", "--calibrate=false", "--quiet", "--json")
			if plan.Down != nil {
				await(t, "a commit", b, func() bool {
					commits, _ := filepath.Glob(filepath.Join(gw.Dir, gw.Bucket, name, "tables", "*", "*", "_delta_log", "*1.json"))
					return len(commits) > 0
				})
				now := time.Now()
				began.Store(&now)
			}
			row.Happened = b.throughFaults(t, d, rate, func() map[faultproxy.Kind]int64 { return p.Counts() })
			if c := p.Counts(); len(c) < 2 && plan.Latency == 0 {
				t.Errorf("nothing happened: %v", c)
			}
		})
	}
}

// throughFaults waits for a run's end, holds what it has to, and says what happened.
func (b *bench) throughFaults(t *testing.T, d time.Duration, rate float64, met func() map[faultproxy.Kind]int64) string {
	t.Helper()
	memory := watchMemory(b.cmd.Process.Pid)
	status := b.ends(t, d+drainTimeout+3*time.Minute)
	took, levels := time.Since(b.began), memory()
	r, a := b.accounting(t)
	happened := fmt.Sprintf("%d acknowledged, %d overrun, %d failed, %d unconfirmed, lost %d, duplicates %d; over after %v; resident memory %s; met: %s",
		a.Acked, a.Overrun, a.Failed, a.Unconfirmed, a.Lost, a.Duplicates, took.Round(time.Second), levels, counted(met()))
	t.Log(happened)
	if status != 0 || !r.Complete || len(r.Broken) > 0 || len(r.Unsent) > 0 {
		t.Errorf("status %d, complete %v, broken %v, not stored %v\n%s", status, r.Complete, r.Broken, r.Unsent, b.errs.String())
	}
	addsUp(t, a, int64(rate*d.Seconds()))
	if a.Lost != 0 || a.Duplicates != 0 || a.Foreign != 0 || a.Received < a.Acked || a.Acked == 0 {
		t.Errorf("lost or repeated: %+v", a)
	}
	if limit := d + drainTimeout + 30*time.Second; took > limit {
		t.Errorf("it ended after %v, not within %v", took, limit)
	}
	if d >= 3*time.Minute { // before, it is warming up
		if grew := levels.growth(); grew != "" {
			t.Error(grew)
		}
	}
	return happened
}

func counted(c map[faultproxy.Kind]int64) string {
	var texts []string
	for k, n := range c {
		texts = append(texts, fmt.Sprintf("%d × %s", n, k))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
