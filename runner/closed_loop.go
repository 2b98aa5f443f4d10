package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// loop is a closed loop that is running.
type loop struct {
	s     *step
	cfg   Closed
	lines []*line // of each producer

	mu    sync.Mutex
	next  int64 // number of the operation that begins next
	stamp int64 // when the last one began, ns
	warm  int64 // when the first measured one began; 0 before
	end   int64 // when the last one so far was done
	done  int64
	tally ClosedResult
	times stats.Counter
}

// operation is one that is under way. It is done once, whoever says so.
type operation struct {
	loop  *loop
	began int64 // ns since the epoch
	warm  bool  // of the warm-up
	waits atomic.Int32
	over  atomic.Bool
	freed chan<- struct{} // of its worker
}

// outcome is how an operation ended.
type outcome int

const (
	completed outcome = iota
	failed
	abandoned
	cancelled // by the end of the step: it counts nowhere
)

func newLoop(s *step, c Closed) *loop { return &loop{s: s, cfg: c} }

// begin numbers and stamps an operation. Stamps ascend with the numbers, by a
// nanosecond at least, so that the warm-up can be cut by time. join is called
// with the stamp while no other operation begins.
func (l *loop) begin(join func(at int64)) (at int64, warm, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.enough() || l.s.stop.Load() {
		return 0, false, false
	}
	at = max(l.s.r.cfg.Clock.Now(), l.stamp+1)
	if warm = l.next < l.cfg.Warmup; !warm && l.warm == 0 {
		l.warm = at
	}
	l.stamp = at
	l.next++
	if join != nil {
		join(at)
	}
	return at, warm, true
}

// enough tells whether no more operations begin: all have, or, of polls, all
// have returned. A poll that waits for what does not come takes nobody's place.
func (l *loop) enough() bool {
	if l.cfg.Mode == rawlog.ModeConsume {
		return l.tally.Measured >= l.cfg.Operations
	}
	return l.next >= l.cfg.Warmup+l.cfg.Operations
}

// count counts the end of an operation, if it counts.
func (l *loop) count(how outcome, began, now int64, warm bool) (counted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if how == cancelled || l.cfg.Mode == rawlog.ModeConsume && l.enough() {
		return false
	}
	l.done++
	l.end = max(l.end, now)
	if warm {
		return true
	}
	switch how {
	case completed:
		l.tally.Measured++
		_ = l.times.Record(now - began) // what is beyond its 30 days is in the log
	case failed:
		l.tally.Failed++
	case abandoned:
		l.tally.Abandoned++
	}
	return true
}

// end ends an operation, the first time that it is called.
func (o *operation) end(how outcome, now int64) bool {
	if !o.over.CompareAndSwap(false, true) {
		return false
	}
	o.loop.count(how, o.began, now, o.warm)
	o.freed <- struct{}{} // has room for all that a worker has under way
	return true
}

// work is a worker: it begins operations on a line, as many at a time as the
// loop has it, until all have begun, and waits for its own.
func (l *loop) work(ctx context.Context, ln *line) error {
	freed := make(chan struct{}, l.cfg.Concurrency)
	var open []*operation
	under := 0
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var err error
	for more := true; more || under > 0; {
		if more && under < l.cfg.Concurrency {
			var o *operation
			if o, err = ln.do(ctx, freed); o == nil {
				more = false
				continue
			}
			open = append(open, o)
			under++
			continue
		}
		for len(open) > 0 && open[0].over.Load() {
			open = open[1:]
		}
		if len(open) == 0 { // each has told freed
			<-freed
			under--
			continue
		}
		now := l.s.r.cfg.Clock.Now()
		timer.Reset(time.Duration(open[0].began - now + int64(l.s.plan.Load.DrainTimeout)))
		select {
		case <-freed:
			under--
		case <-timer.C:
			open[0].end(abandoned, l.s.r.cfg.Clock.Now())
		case <-ctx.Done():
			for _, o := range open {
				o.end(cancelled, 0)
			}
			more = false
		}
	}
	return err
}

func (l *loop) ended() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}
