package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// end closes the log and writes the last manifest.
func (r *run) end(ctx context.Context, failed error) error {
	r.result.Interrupted = r.ctx.Err() != nil
	limit := patientClose
	if ctx.Err() != nil {
		limit = hurriedClose
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()

	m := r.cfg.Manifest
	unsent, logErr := r.cfg.Log.Close(closing)
	r.result.Unsent = unsent
	r.offsets(closing, true)
	r.mu.Lock()
	for i := range m.Steps {
		m.Steps[i].Parts = r.allParts(m.Steps[i].Step, m.Steps[i].Repeat)
	}
	m.EndedNs = r.cfg.Clock.Now()
	switch {
	case r.result.Interrupted:
		m.Reason = "interrupted"
	case logErr != nil:
		m.Reason = oneLine(logErr)
	case failed != nil:
		m.Reason = oneLine(failed)
	default:
		m.Complete = true
	}
	r.mu.Unlock()
	if ctx.Err() != nil {
		// The store may have taken all the time that there was.
		late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), 300*time.Millisecond)
		defer cancelLate()
		closing = late
	}
	manifestErr := r.writeManifest(closing)
	err := errors.Join(failed, logErr, manifestErr)
	if len(unsent) > 0 {
		err = errors.Join(err, r.spoolManifest())
	}
	if r.result.Interrupted {
		// What an interrupt cuts off is no failure of its own.
		err = errors.Join(logErr, manifestErr, context.Cause(r.ctx))
	}
	return err
}

// spoolManifest leaves the manifest beside parts that were not stored, so that
// they can be uploaded from there.
func (r *run) spoolManifest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := json.MarshalIndent(r.cfg.Manifest, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.cfg.SpoolDir, r.cfg.Manifest.Name()), body, 0o644)
}

// offsets puts into the manifest what is known of other clocks.
func (r *run) offsets(ctx context.Context, last bool) {
	if r.cfg.Offsets == nil {
		return
	}
	found, err := r.cfg.Offsets(ctx, last)
	r.mu.Lock()
	r.cfg.Manifest.ClockOffsets = found
	r.mu.Unlock()
	if last && err != nil {
		r.warn(fmt.Sprintf("the offset to another clock was not measured: %v", err))
	}
}

func (r *run) writeManifest(ctx context.Context) error {
	r.offsets(ctx, false)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.Log.WriteManifest(ctx, r.cfg.Manifest)
}
