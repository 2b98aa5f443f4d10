package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// threeSteps makes a rig of three short steps over queues that open makes.
func threeSteps(t *testing.T, open func(p Plan) (queue.Queue, error)) *rig {
	r := newRig(t, memory.Config{}, 1_000_000, 150*time.Millisecond)
	p := r.cfg.Plans[0]
	r.cfg.Plans = nil
	for i := range 3 {
		p.Step = i
		step := p
		p.Open = func(context.Context, int) (queue.Queue, error) { return open(step) }
		r.cfg.Plans = append(r.cfg.Plans, p)
	}
	return r
}

func TestAStepThatFailsIsRecordedCleanedUpAndTheSweepGoesOn(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(q *faulty)
		want    string
		removed int64
	}{
		{"create", func(q *faulty) { q.failCreate = errors.New("no room") }, "no room", 3},
		{"consumer", func(q *faulty) { q.failConsumer = errors.New("not allowed") }, "not allowed", 3},
		{"send", func(q *faulty) { q.breakSends = 3 }, "producer-0: the disk is full, the producer cannot go on", 3},
		{"receive", func(q *faulty) { q.breakAfter = 2 }, errBroken.Error(), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var removed atomic.Int64
			r := threeSteps(t, func(p Plan) (queue.Queue, error) {
				q := newFaulty(memory.Faults{})
				q.removed = &removed
				if p.Step == 1 {
					c.spoil(q)
				}
				return q, nil
			})
			res, err := Run(t.Context(), r.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "step 1") {
				t.Errorf("error %v", err)
			}
			if len(res.Steps) != 3 || !res.Steps[0].Complete || res.Steps[1].Complete || !res.Steps[2].Complete {
				t.Fatalf("steps: %+v", res.Steps)
			}
			if removed.Load() != c.removed {
				t.Errorf("Remove was called %d times", removed.Load())
			}
			m := r.manifest(t)
			if m.Complete || !strings.Contains(m.Steps[1].Failure, c.want) || !strings.Contains(m.Reason, c.want) {
				t.Errorf("manifest: complete %v, reason %q, failure %q", m.Complete, m.Reason, m.Steps[1].Failure)
			}
		})
	}
}

func TestFailFastEndsTheRun(t *testing.T) {
	r := threeSteps(t, func(p Plan) (queue.Queue, error) {
		if p.Step == 1 {
			return nil, errors.New("no such thing")
		}
		return memory.New(memory.Config{})
	})
	r.cfg.FailFast = true
	res, err := Run(t.Context(), r.cfg)
	if err == nil || len(res.Steps) != 2 || r.manifest(t).Complete {
		t.Errorf("%d steps, error %v", len(res.Steps), err)
	}
}

func TestStopWhenBehindEndsTheSweep(t *testing.T) {
	r := threeSteps(t, func(p Plan) (queue.Queue, error) {
		if p.Step == 1 { // 1,000/s arrive, 200/s are served, and 10 wait at most
			return memory.New(memory.Config{Capacity: 10, ReceiveMax: 1, Faults: memory.Faults{ServiceTime: 5 * time.Millisecond}})
		}
		return memory.New(memory.Config{})
	})
	r.cfg.StopWhenBehind = true
	r.plan().Load.DrainTimeout = time.Second
	res, err := Run(t.Context(), r.cfg)
	if err != nil || len(res.Steps) != 2 || res.Steps[1].Behind == "" {
		t.Errorf("%d steps, error %v", len(res.Steps), err)
	}
	m := r.manifest(t)
	if !m.Complete || !strings.Contains(strings.Join(m.Warnings, "\n"), "did not keep up") {
		t.Errorf("complete %v, warnings %q", m.Complete, m.Warnings)
	}
}

// Trap 4: the queue refuses everything: acked 0, failed n, no percentiles.
func TestTrap04TheQueueRefusesEverything(t *testing.T) {
	for _, how := range []memory.Refusal{memory.RefuseByAck, memory.RefuseBySend} {
		t.Run(fmt.Sprint(how), func(t *testing.T) {
			r := newRig(t, memory.Config{Faults: memory.Faults{Refuse: how}}, 2_000_000, 300*time.Millisecond)
			begin := time.Now()
			res := accounting(t, r, rawlog.Accounting{Scheduled: 600, Attempted: 600, Failed: 600})
			if took := time.Since(begin); took > 4*time.Second {
				t.Errorf("it took %v", took)
			}
			if res.Acked() != 0 || res.Steps[0].EndToEnd.N != 0 {
				t.Errorf("acked %d, %d latencies", res.Acked(), res.Steps[0].EndToEnd.N)
			}
			if got := r.statuses(t); got["failed"] != 600 {
				t.Errorf("rows of sent: %v", got)
			}
			kind := map[memory.Refusal]string{memory.RefuseByAck: "failed", memory.RefuseBySend: "refused"}[how]
			if r.kinds(t)[kind] == 0 {
				t.Errorf("events: %v", r.kinds(t))
			}
			if all := strings.Join(r.manifest(t).Warnings, "\n"); !strings.Contains(all, "600 of 600 messages failed, the first with: memory:") {
				t.Errorf("warnings: %s", all)
			}
		})
	}
}

// Trap 12: a run stopped by Ctrl-C leaves a log that can be analysed up to its
// watermark, and says that it is incomplete.
func TestTrap12AnInterruptedRunLeavesAReadableLog(t *testing.T) {
	var removed atomic.Int64
	r := threeSteps(t, func(Plan) (queue.Queue, error) {
		q := newFaulty(memory.Faults{})
		q.removed = &removed
		return q, nil
	})
	r.cfg.Plans[1].Schedule = schedule.NewConstant(5_000_000, time.Hour)
	r.cfg.Plans[1].Rate = 5_000_000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interrupted atomic.Int64
	r.cfg.Status = func(s Status) {
		if s.Plan.Step == 1 && s.Elapsed > 500*time.Millisecond && interrupted.CompareAndSwap(0, time.Now().UnixNano()) {
			cancel()
		}
	}
	res, err := Run(ctx, r.cfg)
	took := time.Duration(time.Now().UnixNano() - interrupted.Load())
	if !errors.Is(err, context.Canceled) || !res.Interrupted || len(res.Unsent) != 0 {
		t.Errorf("error %v, interrupted %v, unsent %q", err, res.Interrupted, res.Unsent)
	}
	if took > 2*time.Second {
		t.Errorf("the run ended %v after the interrupt", took)
	}
	if removed.Load() != 2 {
		t.Errorf("Remove was called %d times", removed.Load())
	}
	m := r.manifest(t)
	if m.Complete || m.Reason != "interrupted" || len(m.Steps) != 2 || !m.Steps[0].Complete || m.Steps[1].Complete {
		t.Fatalf("manifest: complete %v, reason %q, %d steps", m.Complete, m.Reason, len(m.Steps))
	}
	a := m.Steps[1].Accounting
	if a.Scheduled < 2000 || a.Scheduled > 20_000 || a.Scheduled != a.Attempted+a.Overrun || a.Attempted != a.Acked+a.Failed+a.Unconfirmed {
		t.Errorf("accounting of the interrupted step: %+v", a)
	}
	rows := map[int]int64{}
	last := map[int]bool{}
	r.rows(t, "sent", []string{"seq"}, func(p rawlog.Part, n int, _ []rawlog.Values) {
		rows[p.Step] += int64(n)
		last[p.Step] = last[p.Step] || p.Last
	})
	if rows[0] != 150 || rows[1] != a.Scheduled || !last[1] {
		t.Errorf("rows of sent: %v, accounting %d, last part there: %v", rows, a.Scheduled, last[1])
	}
}

// stuckStore takes nothing once it is stuck, as a server does that hangs.
type stuckStore struct {
	objectstore.Store
	stuck atomic.Bool
}

func (s *stuckStore) wait(ctx context.Context) error {
	if s.stuck.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (s *stuckStore) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, body, opt)
}

func (s *stuckStore) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt objectstore.PutOptions) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Store.PutFile(ctx, key, r, size, opt)
}

func TestAnInterruptWhileTheLogsStoreHangsSpoolsWithin2s(t *testing.T) {
	dir := t.TempDir()
	folder, err := objectstore.OpenFolder(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	store := &stuckStore{Store: folder}
	c := clock.New()
	spool := filepath.Join(dir, "spool")
	log, err := logwriter.New(logwriter.Options{Store: store, Run: "test", Clock: c.Identity(), SpoolDir: spool})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, log)
	r := newRig(t, memory.Config{}, 5_000_000, time.Hour)
	r.cfg.Log, r.cfg.Clock, r.cfg.SpoolDir = log, c, spool
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interrupted atomic.Int64
	r.cfg.Status = func(s Status) {
		if s.Elapsed > 400*time.Millisecond && interrupted.CompareAndSwap(0, time.Now().UnixNano()) {
			store.stuck.Store(true)
			cancel()
		}
	}
	res, err := Run(ctx, r.cfg)
	if took := time.Duration(time.Now().UnixNano() - interrupted.Load()); took > 2*time.Second {
		t.Errorf("the run ended %v after the interrupt", took)
	}
	if err == nil || !res.Interrupted || len(res.Unsent) < 4 {
		t.Errorf("error %v, unsent %q", err, res.Unsent)
	}
	for _, p := range append(res.Unsent, filepath.Join(spool, rawlog.ManifestName)) {
		if _, err := os.Stat(p); err != nil {
			t.Errorf("named and not there: %v", err)
		}
	}
}

func TestActorsThatDoNotCloseDoNotHoldAnInterruptedRun(t *testing.T) {
	release := make(chan struct{})
	q := newFaulty(memory.Faults{})
	q.deaf, q.release = true, release
	r := newRig(t, memory.Config{}, 1_000_000, time.Hour)
	r.opens(func() (queue.Queue, error) { return q, nil })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interrupted atomic.Int64
	r.cfg.Status = func(s Status) {
		if s.Elapsed > 200*time.Millisecond && interrupted.CompareAndSwap(0, time.Now().UnixNano()) {
			cancel()
			time.AfterFunc(1500*time.Millisecond, func() { close(release) })
		}
	}
	if _, err := Run(ctx, r.cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	m := r.manifest(t)
	if ended := time.Duration(m.EndedNs - r.cfg.Clock.Now()); m.EndedNs == 0 || ended > 0 {
		t.Errorf("the manifest was not closed: %v", ended)
	}
	if closed := m.EndedNs - m.Steps[0].StartedNs; time.Duration(closed) > 200*time.Millisecond+2*time.Second {
		t.Errorf("the log was closed %v after the step's start", time.Duration(closed))
	}
}

func TestCheckRefusesWhatCannotRun(t *testing.T) {
	for name, change := range map[string]func(p *Plan){
		"no producer":       func(p *Plan) { p.Load.Producers = 0 },
		"no consumer":       func(p *Plan) { p.Load.Consumers = 0 },
		"no group":          func(p *Plan) { p.Load.Groups = -1 },
		"tiny messages":     func(p *Plan) { p.Load.Payload = payload.Fixed(15) },
		"huge messages":     func(p *Plan) { p.Load.Payload = payload.Fixed(1 << 30) },
		"nothing in flight": func(p *Plan) { p.Load.MaxInFlight = 0 },
		"no topic":          func(p *Plan) { p.Load.Topics = 0 },
		"no drain":          func(p *Plan) { p.Load.DrainTimeout = 0 },
	} {
		r := newRig(t, memory.Config{}, 1000, time.Second)
		change(r.plan())
		if err := r.cfg.Check(); err == nil {
			t.Errorf("%s: not refused", name)
		}
		if _, err := r.cfg.Log.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := (&Config{}).Check(); err == nil {
		t.Error("no step: not refused")
	}
}

// The store of the queue may hang too: the log is closed by then, and the user
// is told what is waited for.
func TestARemovalThatHangsAfterAnInterruptIsTold(t *testing.T) {
	release := make(chan struct{})
	q := newFaulty(memory.Faults{})
	q.slowRemove = release
	r := newRig(t, memory.Config{}, 1_000_000, time.Hour)
	r.opens(func() (queue.Queue, error) { return q, nil })
	told := sync.OnceFunc(func() { close(release) }) // the removal goes on only then
	r.cfg.Note = func(text string) {
		if strings.Contains(text, "second interrupt") {
			if m := r.manifest(t); m.Reason != "interrupted" {
				t.Errorf("told before the log was closed: %q", m.Reason)
			}
			told()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.cfg.Status = func(s Status) {
		if s.Elapsed > 200*time.Millisecond {
			cancel()
		}
	}
	start := time.Now()
	if _, err := Run(ctx, r.cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > hurriedRemoval/2 {
		t.Errorf("the removal was waited for in silence: %v", took)
	}
	if q.removed.Load() == 0 {
		t.Error("the queue was not removed")
	}
}

// A store that is full is tried again and again: without the reason, all that
// is seen is silence.
func TestUnconfirmedMessagesAreToldWithTheReasonOfTheRetries(t *testing.T) {
	q := newFaulty(memory.Faults{})
	q.silent = "PUT of a part: no space left on device"
	r := newRig(t, memory.Config{}, 1_000_000, 100*time.Millisecond)
	r.opens(func() (queue.Queue, error) { return q, nil })
	r.plan().Load.DrainTimeout = 200 * time.Millisecond
	if _, err := Run(t.Context(), r.cfg); err != nil {
		t.Logf("error %v", err)
	}
	warnings := strings.Join(r.manifest(t).Warnings, "\n")
	if !strings.Contains(warnings, "was not known in the end") || !strings.Contains(warnings, q.silent) {
		t.Errorf("the warnings are %q", warnings)
	}
}
