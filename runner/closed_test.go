package runner

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
)

// closedRig makes a run of one closed loop.
func closedRig(t *testing.T, mem memory.Config, c Closed) *rig {
	r := newRig(t, mem, 1, time.Second)
	p := r.plan()
	p.Closed, p.Schedule, p.Rate = &c, c.Arrivals(), 0
	if c.Mode == rawlog.ModeConsume {
		p.Load.Consumers = c.Workers
	} else {
		p.Load.Producers = c.Workers
	}
	return r
}

// run runs it, and checks what is true of every loop that was not disturbed.
func (r *rig) runClosed(t *testing.T) *StepResult {
	t.Helper()
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &res.Steps[0]
	c := r.plan().Closed
	if s.Closed == nil || s.Closed.Measured != c.Operations || s.Closed.Latency.N != c.Operations || s.Closed.PerSecond <= 0 {
		t.Fatalf("measured %+v of %+v", s.Closed, c)
	}
	m := r.manifest(t).Steps[0]
	if m.Loop != rawlog.LoopClosed || m.Mode != c.Mode || m.Workers != c.Workers || m.Operations != c.Operations || m.Rate != s.Closed.PerSecond || !m.Complete {
		t.Errorf("run.json has %+v", m)
	}
	if a := s.Accounting; a.Lost != 0 || a.Duplicates != 0 || a.Overrun != 0 || a.Scheduled != a.Acked || a.Received != a.Acked {
		t.Errorf("accounting %+v", a)
	}
	return s
}

// sentTimesOf are the intended times of all messages, ascending; sent must be
// the same, and acked later.
func (r *rig) sentTimesOf(t *testing.T) (times []int64) {
	r.rows(t, "sent", []string{"intended_ns", "sent_ns", "acked_ns", "blocked_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			if v[0].Ints[i] != v[1].Ints[i] {
				t.Fatalf("intended %d, sent %d", v[0].Ints[i], v[1].Ints[i])
			}
			if v[2].Ints[i] < v[1].Ints[i] || v[3].Ints[i] < 0 {
				t.Fatalf("sent %d, acked %d, blocked %d", v[1].Ints[i], v[2].Ints[i], v[3].Ints[i])
			}
			times = append(times, v[0].Ints[i])
		}
	})
	slices.Sort(times)
	return times
}

func TestAClosedLoopSendsAsManyAsWereAskedForAndMarksItsWarmUp(t *testing.T) {
	for _, mode := range []string{rawlog.ModeProduce, rawlog.ModeEndToEnd} {
		t.Run(mode, func(t *testing.T) {
			r := closedRig(t, memory.Config{Partitions: 3}, Closed{Mode: mode, Workers: 7, Concurrency: 1, Warmup: 100, Operations: 900})
			r.plan().Load.Producers = 3 // shared by the workers
			r.plan().Load.Groups = 2
			r.runClosed(t)
			times := r.sentTimesOf(t)
			if len(times) != 1000 || len(slices.Compact(slices.Clone(times))) != 1000 {
				t.Fatalf("%d rows", len(times))
			}
			m := r.manifest(t).Steps[0]
			if before, _ := slices.BinarySearch(times, m.StartedNs+m.WarmupNs); before != 100 {
				t.Errorf("%d operations begin before the end of the warm-up", before)
			}
			if times[0] < m.StartedNs || times[999] >= m.StartedNs+m.DurationNs {
				t.Errorf("operations from %d to %d, in a step of %d", times[0]-m.StartedNs, times[999]-m.StartedNs, m.DurationNs)
			}
		})
	}
}

// A worker never has more under way than its concurrency, and does have as many.
func TestConcurrencyBoundsWhatIsUnderWay(t *testing.T) {
	for _, concurrency := range []int{1, 4} {
		var now, most atomic.Int64
		r := closedRig(t, memory.Config{}, Closed{Mode: rawlog.ModeProduce, Workers: 2, Concurrency: concurrency, Operations: 200})
		r.opens(func() (queue.Queue, error) {
			q, err := memory.New(memory.Config{})
			return &lateAcks{Queue: q, now: &now, most: &most}, err
		})
		r.runClosed(t)
		if got := most.Load(); got != int64(2*concurrency) {
			t.Errorf("%d were under way at most, of 2 workers with %d each", got, concurrency)
		}
	}
}

// lateAcks acknowledges each message a millisecond after it was sent, and counts
// those under way.
type lateAcks struct {
	queue.Queue
	now, most *atomic.Int64
}

func (q *lateAcks) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	acked := cfg.Acked
	late := make(chan queue.Ack, 1000)
	go func() {
		for a := range late {
			time.Sleep(time.Millisecond)
			q.now.Add(-a.N)
			acked([]queue.Ack{a})
		}
	}()
	cfg.Acked = func(acks []queue.Ack) {
		for _, a := range acks {
			late <- a
		}
	}
	p, err := q.Queue.Producer(ctx, cfg)
	return &lateProducer{Producer: p, q: q, late: late}, err
}

type lateProducer struct {
	queue.Producer
	q      *lateAcks
	late   chan queue.Ack
	closed atomic.Bool
}

func (p *lateProducer) Send(ctx context.Context, batch []queue.Message) (int, error) {
	n := p.q.now.Add(int64(len(batch)))
	for old := p.q.most.Load(); n > old && !p.q.most.CompareAndSwap(old, n); old = p.q.most.Load() {
	}
	return p.Producer.Send(ctx, batch)
}

func (p *lateProducer) Flush(ctx context.Context) error {
	for p.q.now.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return p.Producer.Flush(ctx)
}

func (p *lateProducer) Close() error {
	err := p.Producer.Close()
	if p.closed.CompareAndSwap(false, true) {
		close(p.late)
	}
	return err
}

func TestPollsOfAFilledQueue(t *testing.T) {
	r := closedRig(t, memory.Config{Partitions: 4, ReceiveMax: 5}, Closed{Mode: rawlog.ModeConsume, Workers: 4, Concurrency: 1, Warmup: 20, Operations: 100, Fill: 2000})
	s := r.runClosed(t)
	if s.Accounting.Received != 2000 {
		t.Errorf("accounting %+v", s.Accounting)
	}
	type key struct{ consumer, polled int64 }
	polls := map[key]int64{} // its return
	var measured, rest int
	r.rows(t, "received", []string{"consumer", "polled_ns", "received_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			if v[1].Ints[i] == rawlog.Null {
				rest++
				continue
			}
			measured++
			k := key{v[0].Ints[i], v[1].Ints[i]}
			if at, seen := polls[k]; seen && at != v[2].Ints[i] || v[2].Ints[i] < k.polled {
				t.Errorf("poll %v returned at %d and at %d", k, at, v[2].Ints[i])
			}
			polls[k] = v[2].Ints[i]
		}
	})
	m := r.manifest(t).Steps[0]
	after := 0
	for k := range polls {
		if k.polled >= m.StartedNs+m.WarmupNs {
			after++
		}
	}
	if after != 100 || len(polls) < 100 || len(polls) > 120 || measured+rest != 2000 || rest == 0 {
		t.Errorf("%d polls, %d of them after the warm-up; %d rows of them, %d others", len(polls), after, measured, rest)
	}
	var released int64
	r.rows(t, "events", []string{"kind", "time_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			if v[0].String(i) == "release" {
				released = v[1].Ints[i]
			}
		}
	})
	for k := range polls {
		if k.polled < released-int64(time.Millisecond) {
			t.Fatalf("a poll %v before the release", time.Duration(released-k.polled))
		}
	}
}

func TestAQueueThatIsEmptyBeforeThePollsAreDoneIsAWarning(t *testing.T) {
	r := closedRig(t, memory.Config{}, Closed{Mode: rawlog.ModeConsume, Workers: 1, Concurrency: 1, Operations: 100, Fill: 50})
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Steps[0].Closed; c.Measured != 1 || res.Steps[0].Accounting.Received != 50 {
		t.Errorf("%+v", c)
	}
	if w := strings.Join(r.manifest(t).Warnings, "\n"); !strings.Contains(w, "99 of the operations are missing: the queue had no more messages") {
		t.Errorf("warnings %q", w)
	}
}

// An operation that is never done does not hold its worker for ever, and what
// comes late frees nobody twice.
func TestWhatIsNeverAcknowledgedIsAbandoned(t *testing.T) {
	r := closedRig(t, memory.Config{Faults: memory.Faults{WithholdAcks: true}}, Closed{Mode: rawlog.ModeProduce, Workers: 2, Concurrency: 2, Operations: 8})
	r.plan().Load.DrainTimeout = 100 * time.Millisecond
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := res.Steps[0]
	if c := s.Closed; c.Measured != 0 || c.Abandoned != 8 || c.Done != 8 {
		t.Errorf("%+v", c)
	}
	if a := s.Accounting; a.Scheduled != 8 || a.Unconfirmed != 8 {
		t.Errorf("%+v", a)
	}
}

func TestALostMessageDoesNotHangTheLoop(t *testing.T) {
	r := closedRig(t, memory.Config{Faults: memory.Faults{DropEvery: 5}}, Closed{Mode: rawlog.ModeEndToEnd, Workers: 1, Concurrency: 1, Operations: 20})
	r.plan().Load.DrainTimeout = 100 * time.Millisecond
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := res.Steps[0]
	if c := s.Closed; c.Measured != 16 || c.Abandoned != 4 || s.Accounting.Lost != 4 || len(res.Broken) != 1 {
		t.Errorf("%+v, %+v, %q", c, s.Accounting, res.Broken)
	}
}

func TestWhatIsRefusedFails(t *testing.T) {
	for _, how := range []memory.Refusal{memory.RefuseByAck, memory.RefuseBySend} {
		for _, mode := range []string{rawlog.ModeProduce, rawlog.ModeEndToEnd} {
			r := closedRig(t, memory.Config{Faults: memory.Faults{Refuse: how}}, Closed{Mode: mode, Workers: 3, Concurrency: 2, Warmup: 10, Operations: 90})
			res, err := Run(t.Context(), r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			s := res.Steps[0]
			if c := s.Closed; c.Measured != 0 || c.Failed != 90 || c.Done != 100 || s.Accounting.Failed != 100 || s.Accounting.Acked != 0 {
				t.Errorf("%s, refusal %d: %+v, %+v", mode, how, c, s.Accounting)
			}
		}
	}
}

func TestAnInterruptEndsAClosedLoop(t *testing.T) {
	for _, c := range []Closed{
		{Mode: rawlog.ModeProduce, Workers: 4, Concurrency: 3, Operations: 1 << 40},
		{Mode: rawlog.ModeEndToEnd, Workers: 2, Concurrency: 1, Operations: 1 << 40},
		{Mode: rawlog.ModeConsume, Workers: 2, Concurrency: 1, Operations: 1 << 40, Fill: 1 << 40},
	} {
		r := closedRig(t, memory.Config{Capacity: 1000}, c)
		ctx, cancel := context.WithCancel(t.Context())
		r.cfg.Status = func(s Status) {
			if (s.Phase == "load" || s.Phase == "fill") && s.Elapsed > 100*time.Millisecond {
				cancel()
			}
		}
		res, err := Run(ctx, r.cfg)
		cancel()
		if err == nil || !res.Interrupted {
			t.Errorf("%s: %v", c.Mode, err)
		}
		m := r.manifest(t)
		if a := m.Steps[0].Accounting; m.Complete || a.Scheduled != a.Attempted+a.Overrun || a.Attempted == 0 {
			t.Errorf("%s: %+v", c.Mode, a)
		}
	}
}

func TestClosedLoopsThatCannotRunAreRefused(t *testing.T) {
	base := Closed{Mode: rawlog.ModeProduce, Workers: 2, Concurrency: 1, Operations: 10}
	for want, f := range map[string]func(c *Closed, l *Load){
		`mode "twice"`:                     func(c *Closed, _ *Load) { c.Mode = "twice" },
		"workers: 0":                       func(c *Closed, _ *Load) { c.Workers = 0 },
		"concurrency: 0":                   func(c *Closed, _ *Load) { c.Concurrency = 0 },
		"concurrency: 200000":              func(c *Closed, _ *Load) { c.Concurrency = 200_000 },
		"at least one":                     func(c *Closed, _ *Load) { c.Operations = 0 },
		"at most 1125899906842624 of each": func(c *Closed, _ *Load) { c.Warmup = maxOperations + 1 },
		"a warm-up of -1":                  func(c *Closed, _ *Load) { c.Warmup = -1 },
		"fill: 1125899906842625 messages: there may be at most": func(c *Closed, l *Load) { c.Mode, c.Fill, l.Consumers = rawlog.ModeConsume, maxOperations+1, 2 },
		"more than the 2 workers":                               func(_ *Closed, l *Load) { l.Producers = 3 },
		"do nothing in mode":                                    func(c *Closed, _ *Load) { c.Fill = 5 },
		"one poll under way":                                    func(c *Closed, l *Load) { c.Mode, c.Concurrency, l.Consumers = rawlog.ModeConsume, 2, 2 },
		"each worker is":                                        func(c *Closed, l *Load) { c.Mode = rawlog.ModeConsume },
		"need messages":                                         func(c *Closed, l *Load) { c.Mode, l.Consumers = rawlog.ModeConsume, 2 },
	} {
		r := closedRig(t, memory.Config{}, base)
		f(r.plan().Closed, &r.plan().Load)
		if err := r.plan().Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestTurnsComeInOrder(t *testing.T) {
	var tn turn
	if tn.ask() != nil {
		t.Fatal("the first had to wait")
	}
	var chans []<-chan struct{}
	for range 10 {
		chans = append(chans, tn.ask())
	}
	for i, ch := range chans {
		select {
		case <-ch:
			t.Fatalf("%d came before its turn", i)
		default:
		}
		tn.leave()
		<-ch
	}
	tn.leave()
	if tn.ask() != nil {
		t.Error("nobody holds it")
	}
}

func TestSentTimesForgetTheOldest(t *testing.T) {
	times := newSentTimes(1 << 12)
	n := int64(len(times.ring))
	for seq := range 3 * n {
		times.put(seq, 10*seq)
	}
	for seq := range 3 * n {
		at, ok := times.get(seq)
		if ok != (seq >= 2*n) || ok && at != 10*seq {
			t.Fatalf("seq %d of %d: %d, %v", seq, n, at, ok)
		}
	}
}
