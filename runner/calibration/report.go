package calibration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
	"queuebench/runner/pace"
)

// Schema names the form of a Report as JSON.
const Schema = "queuebench.calibration/1"

// Report is a full calibration. Durations are in ns.
type Report struct {
	Schema  string         `json:"schema"`
	Program rawlog.Program `json:"program"`
	Host    rawlog.Host    `json:"host"`
	rawlog.Calibration
	// Sleep is the waiter with time.Sleep alone, beside Wait.
	Sleep   rawlog.WaitLag `json:"sleep"`
	Records []RecordCost   `json:"records"`
	Floors  []Floor        `json:"floors"`
	// Highest is the highest rate that held, as far as it was searched; its
	// rate is 0 where none did.
	Highest  Floor    `json:"highest"`
	GC       GC       `json:"gc"`
	Findings []string `json:"findings"`
}

// GC are the garbage collector's pauses while the floors were measured.
type GC struct {
	Collections  int64 `json:"collections"`
	PauseTotalNs int64 `json:"pause_total_ns"`
	// PauseMaxNs is of the last 256 collections.
	PauseMaxNs int64 `json:"pause_max_ns"`
}

// Options are what a full calibration is made of.
type Options struct {
	Clock *clock.Clock
	// Duration is for how long each of the waiters and the floors is measured.
	Duration time.Duration
	// Queue opens a queue that takes no time.
	Queue func() (queue.Queue, error)
	// Note is told what is measured next; nil for nobody.
	Note func(string)
}

// floorRates are those at which the floor is measured, in messages per second.
var floorRates = []float64{1_000, 10_000}

// Full measures everything, in some ten seconds with a Duration of one. It
// writes to a temporary folder, which it removes.
func Full(ctx context.Context, o Options) (r Report, err error) {
	r.Schema = Schema
	note := func(text string) {
		if o.Note != nil {
			o.Note(text)
		}
	}
	dir, err := os.MkdirTemp("", "bench-calibrate-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	note("the waiter of the load generator")
	if r.Calibration, err = instrument(ctx, o.Clock, MaxRate, o.Duration); err != nil {
		return r, err
	}
	note("time.Sleep beside it")
	if r.Sleep, err = measureWait(ctx, o.Clock, pace.Sleep, MaxRate, o.Duration); err != nil {
		return r, err
	}
	note("what a record costs")
	if r.Records, err = measureRecords(ctx, o.Clock, dir); err != nil {
		return r, err
	}
	note("the floor: a queue in memory")
	if err := r.floors(ctx, &o, dir); err != nil {
		return r, err
	}
	r.Findings = append([]string{}, Findings(&r.Calibration)...) // never null in JSON
	return r, nil
}

func (r *Report) floors(ctx context.Context, o *Options, dir string) error {
	store, err := objectstore.OpenFolder(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	spool := filepath.Join(dir, "spool")
	log, err := logwriter.New(logwriter.Options{Store: store, Run: "calibration", Clock: o.Clock.Identity(), SpoolDir: spool})
	if err != nil {
		return err
	}
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	r.Floors, r.Highest, err = measureFloors(ctx, runner.Config{
		Run: "calibration", Clock: o.Clock, Log: log, SpoolDir: spool, Seed: 1,
		Manifest: &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "calibration", Clock: o.Clock.Identity()},
	}, o.Queue, floorRates, o.Duration)
	if err != nil {
		return err
	}
	debug.ReadGCStats(&after)
	r.GC.Collections = after.NumGC - before.NumGC
	r.GC.PauseTotalNs = int64(after.PauseTotal - before.PauseTotal)
	for i := range min(len(after.Pause), int(r.GC.Collections)) { // the latest first
		r.GC.PauseMaxNs = max(r.GC.PauseMaxNs, int64(after.Pause[i]))
	}
	return nil
}
