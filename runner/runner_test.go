package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/pace"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

// rig is a run over a queue in memory with its log in a folder.
type rig struct {
	cfg Config
	dir string
}

// newRig makes a run of one step; a test changes what it is about.
func newRig(t testing.TB, mem memory.Config, rate schedule.Rate, d time.Duration) *rig {
	t.Helper()
	dir := t.TempDir()
	store, err := objectstore.OpenFolder(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New()
	spool := filepath.Join(dir, "spool")
	log, err := logwriter.New(logwriter.Options{Store: store, Run: "test", Clock: c.Identity(), SpoolDir: spool})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{dir: filepath.Join(dir, "log"), cfg: Config{
		Run: "test", Clock: c, Log: log,
		Manifest: &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "test", Clock: c.Identity()},
		Plans: []Plan{{
			Rate: rate, Schedule: schedule.NewConstant(rate, d),
			Load: Load{Topics: 1, Producers: 1, Groups: 1, Consumers: 1, MessageSize: 100, MaxInFlight: 1 << 18, DrainTimeout: 5 * time.Second},
			Open: func(context.Context, int) (queue.Queue, error) { return memory.New(mem) },
		}},
		SpoolDir: spool,
		Note:     func(s string) { t.Log("note:", s) },
	}}
}

// plan is the first plan of the run.
func (r *rig) plan() *Plan { return &r.cfg.Plans[0] }

// opens makes every step open what f returns.
func (r *rig) opens(f func() (queue.Queue, error)) {
	for i := range r.cfg.Plans {
		r.cfg.Plans[i].Open = func(context.Context, int) (queue.Queue, error) { return f() }
	}
}

// BenchmarkSendLag reports how late messages are handed to a queue in memory.
// It is no test: a neighbour on the machine makes it worse.
func BenchmarkSendLag(b *testing.B) {
	for _, k := range []struct {
		name string
		rate schedule.Rate
		kind pace.Kind
	}{
		{"10000", 10_000_000, pace.Precise}, {"10000-sleep", 10_000_000, pace.Sleep},
		{"1000000", 1_000_000_000, pace.Precise}, {"1000000-sleep", 1_000_000_000, pace.Sleep},
	} {
		b.Run(k.name, func(b *testing.B) {
			for range b.N {
				r := newRig(b, memory.Config{}, k.rate, 3*time.Second)
				r.plan().Load.Pacing = k.kind
				res, err := Run(b.Context(), r.cfg)
				if err != nil {
					b.Fatal(err)
				}
				for _, l := range []struct {
					name string
					c    stats.Compact
				}{{"lag", res.Steps[0].SendLag}, {"e2e", res.Steps[0].EndToEnd}} {
					for _, q := range []float64{.5, .99} {
						ns, _ := l.c.Quantile(q, 0)
						b.ReportMetric(float64(ns)/1000, fmt.Sprintf("µs-%s-p%.0f", l.name, q*100))
					}
				}
				b.ReportMetric(float64(res.Steps[0].Accounting.Overrun), "overrun")
			}
		})
	}
}
