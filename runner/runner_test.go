package runner

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
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
	closeAfter(t, log)
	return &rig{dir: filepath.Join(dir, "log"), cfg: Config{
		Run: "test", Clock: c, Log: log,
		Manifest: &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "test", Clock: c.Identity()},
		Plans: []Plan{{
			Rate: rate, Schedule: schedule.NewConstant(rate, d),
			Load: Load{Topics: 1, Producers: 1, Groups: 1, Consumers: 1, Payload: payload.Fixed(100), MaxInFlight: 1 << 18, DrainTimeout: 5 * time.Second},
			Open: func(context.Context, int) (queue.Queue, error) { return memory.New(mem) },
		}},
		SpoolDir: spool,
		Note:     func(s string) { t.Log("note:", s) },
	}}
}

// closeAfter closes the log of a run that may never have begun, when the test ends.
func closeAfter(t testing.TB, log *logwriter.Log) {
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what is left unsent is left
		_, _ = log.Close(ctx)
	})
}

// plan is the first plan of the run.
func (r *rig) plan() *Plan { return &r.cfg.Plans[0] }

// opens makes every step open what f returns.
func (r *rig) opens(f func() (queue.Queue, error)) {
	for i := range r.cfg.Plans {
		r.cfg.Plans[i].Open = func(context.Context, int) (queue.Queue, error) { return f() }
	}
}

// ofRate is a plan with another rate and duration.
func ofRate(p Plan, perSecond int64, d time.Duration) Plan {
	p.Rate = schedule.Rate(perSecond * 1000)
	p.Schedule = schedule.NewConstant(p.Rate, d)
	return p
}
