package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/hostinfo"
)

// hurriedClose is how long the log may take to store what it has after Ctrl-C.
// With what goes before, a run ends within 2 s.
const hurriedClose = 1200 * time.Millisecond

// patientClose is how long it may take at the end of a run that was not
// interrupted.
const patientClose = 2 * time.Minute

// Result is how a run went.
type Result struct {
	Steps []StepResult
	// Broken are promises of the queue that were broken, a sentence each.
	Broken []string
	// Unsent are the files that the log's store did not take.
	Unsent []string
	// Interrupted says that the run's context ended.
	Interrupted bool
}

// Acked is the number of acknowledged messages of all steps.
func (r *Result) Acked() (n int64) {
	for i := range r.Steps {
		n += r.Steps[i].Accounting.Acked
	}
	return n
}

// Unsafe is the number of messages, over all steps, that the queue refused or
// never confirmed.
func (r *Result) Unsafe() (n int64) {
	for i := range r.Steps {
		n += r.Steps[i].Accounting.Failed + r.Steps[i].Accounting.Unconfirmed
	}
	return n
}

// run is a run that is under way.
type run struct {
	cfg   *Config
	ctx   context.Context
	meter *hostinfo.Meter

	toldInstrument bool

	mu     sync.Mutex // guards the manifest
	result Result
}

// Run runs all steps and closes the log. The result is there with an error too,
// which joins what went wrong: a step that failed, a log that could not be
// kept. When ctx ends, the load ends at once, the log is closed, or left in the
// spool and named, within 2 s, and the queue's objects are removed after it.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r := &run{cfg: &cfg, ctx: ctx, meter: hostinfo.NewMeter(cfg.SpoolDir)}
	if err := cfg.Check(); err != nil {
		return &r.result, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-cfg.Log.Failed():
			stop(fmt.Errorf("the log cannot be written, so the run ends: %w", cfg.Log.Err()))
		case <-ctx.Done():
		}
	}()
	defer func() { stop(nil); <-watching }()

	cfg.Manifest.StartedNs = cfg.Clock.Now()
	if err := cfg.Log.Begin(ctx, cfg.Manifest); err != nil && ctx.Err() == nil {
		// Nothing was recorded: nothing is left behind.
		_, closeErr := cfg.Log.Close(ctx)
		return &r.result, errors.Join(err, closeErr, os.RemoveAll(cfg.SpoolDir))
	}
	removals, failed := r.steps(ctx)
	err := r.end(ctx, failed)
	if len(removals) > 0 {
		err = errors.Join(err, r.removeLate(ctx, removals))
	}
	return &r.result, err
}

// removeLate removes what an interrupt left of the queue. A store that hangs can
// take long, so it is said before where the log is and what is waited for.
func (r *run) removeLate(ctx context.Context, removals []func(context.Context) error) (err error) {
	if n := len(r.result.Unsent); n > 0 {
		r.cfg.noteTo("%d files of the log are not in its store: `bench upload %s` stores them", n, r.cfg.SpoolDir)
	}
	done, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-done:
		case <-time.After(removeNotice):
			r.cfg.noteTo("the log is closed; the queue's objects are being removed, for up to %v: a second interrupt leaves them to `bench clean`", hurriedRemoval)
		}
	}()
	for _, remove := range removals {
		err = errors.Join(err, remove(ctx))
	}
	close(done)
	<-told
	return err
}

// steps runs the plans. What could not be removed yet, after an interrupt, is
// left to the caller.
func (r *run) steps(ctx context.Context) (removals []func(context.Context) error, failed error) {
	for i := 0; ctx.Err() == nil; i++ {
		p, ok := r.plan(i)
		if !ok {
			break
		}
		if err := p.Check(); err != nil {
			return removals, errors.Join(failed, err)
		}
		s := newStep(r, p, i)
		err := s.run(ctx)
		if ctx.Err() != nil {
			removals = append(removals, s.remove)
		} else {
			if rerr := s.remove(ctx); rerr != nil {
				r.warn(rerr.Error())
				err = errors.Join(err, rerr)
			}
			err = errors.Join(err, r.storeStep(ctx, p))
		}
		result := s.result()
		r.record(s, result)
		r.tellInstrument(s, &result)
		if err != nil {
			if p.Role != rawlog.RoleConsume { // which knows no rate, and has one step
				err = fmt.Errorf("step %d (%s), repeat %d: %w", p.Step, p.What(), p.Repeat, err)
			}
			failed = errors.Join(failed, err)
			r.cfg.noteTo("%v", err)
		}
		if ctx.Err() != nil {
			break
		}
		if werr := r.writeManifest(ctx); werr != nil {
			r.warn(werr.Error())
		}
		if result.Behind != "" && !r.cfg.Search {
			r.warn(fmt.Sprintf("step %d (%s), repeat %d did not keep up: %s", p.Step, p.What(), p.Repeat, result.Behind))
		}
		if r.enough(i, err, result.Behind) {
			break
		}
	}
	return removals, failed
}

// plan is the plan that runs as the ith.
func (r *run) plan(i int) (Plan, bool) {
	if i < len(r.cfg.Plans) {
		return r.cfg.Plans[i], true
	}
	if r.cfg.Next == nil {
		return Plan{}, false
	}
	var last *StepResult
	if n := len(r.result.Steps); n > 0 {
		last = &r.result.Steps[n-1]
	}
	return r.cfg.Next(last)
}

// enough says whether the run ends after its ith step, as was asked.
func (r *run) enough(i int, err error, behind string) bool {
	left := len(r.cfg.Plans) - i - 1
	if left <= 0 {
		return err != nil && r.cfg.FailFast
	}
	switch {
	case err != nil && r.cfg.FailFast:
		r.warn(fmt.Sprintf("the run ended with the first step that failed, as asked: %d of %d steps did not run", left, len(r.cfg.Plans)))
	case behind != "" && r.cfg.StopWhenBehind:
		r.warn(fmt.Sprintf("the run ended with the first step that did not keep up, as asked: %d of %d steps did not run", left, len(r.cfg.Plans)))
	default:
		return false
	}
	return true
}

// storeStep waits until the step's parts are stored. A store that is slow is a
// warning: the parts are in the spool, and are tried on until the run's end.
func (r *run) storeStep(ctx context.Context, p Plan) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := r.cfg.Log.CloseStep(ctx, p.Step, p.Repeat)
	if err == nil {
		return nil
	}
	if logErr := r.cfg.Log.Err(); logErr != nil {
		return logErr
	}
	r.warn(err.Error())
	return nil
}

// record adds a step to manifest and result.
func (r *run) record(s *step, result StepResult) {
	s.rec.Parts = r.allParts(s.plan.Step, s.plan.Repeat)
	result.Step = s.rec
	r.mu.Lock()
	r.cfg.Manifest.Steps = append(r.cfg.Manifest.Steps, s.rec)
	r.mu.Unlock()
	r.result.Steps = append(r.result.Steps, result)
	if len(s.queues) > 0 && !r.interrupted() {
		r.result.Broken = append(r.result.Broken, s.broken()...)
	}
}

// warn keeps a finding with the run and shows it.
func (r *run) warn(text string) {
	r.mu.Lock()
	r.cfg.Manifest.Warnings = append(r.cfg.Manifest.Warnings, text)
	r.mu.Unlock()
	r.cfg.noteTo("%s", text)
}

// queueIs keeps what the queue says of itself.
func (r *run) queueIs(info queue.Info, consumed *queue.Info) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg.Manifest.Queue, r.cfg.Manifest.Consumed = info, consumed
}

// oneLine keeps joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func (r *run) interrupted() bool { return r.ctx.Err() != nil }

func (r *run) requests() *objectstore.Counts {
	if r.cfg.Requests == nil {
		return nil
	}
	c := r.cfg.Requests()
	return &c
}
