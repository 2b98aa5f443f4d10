package runner

import (
	"errors"
	"fmt"
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/stats"
)

// account counts the step and checks the books of each producer. The actors
// have ended, or were left behind.
func (s *step) account() error {
	var err error
	a := &s.rec.Accounting
	for i, p := range s.senders {
		c := p.books.Counts()
		if s.scheduled != nil {
			a.Scheduled += s.scheduled[i]
			err = errors.Join(err, p.books.Check(s.scheduled[i]))
		}
		if c.Strange > 0 {
			err = errors.Join(err, fmt.Errorf("%s: the queue acknowledged %d messages that were not open: it told a fate twice, or of a message that it never took", p.name(), c.Strange))
		}
		a.Attempted += c.Attempted
		a.Acked += c.Acked
		a.Failed += c.Failed
		a.Unconfirmed += c.Unconfirmed
		a.Overrun += c.Overrun
		if text := p.trouble(); text != "" && !s.r.interrupted() {
			s.r.warn(fmt.Sprintf("step %d, repeat %d, %s: %s", s.plan.Step, s.plan.Repeat, p.name(), text))
		}
	}
	for i, g := range s.groups {
		received := s.accountGroup(g)
		if i == 0 || received < a.Received {
			a.Received = received
		}
	}
	s.tellForeign()
	s.tellPassedOver()
	if err != nil {
		return fmt.Errorf("the accounting does not balance (an error of the benchmark or of the queue's client, not a result): %w", err)
	}
	return nil
}

// accountGroup adds a group's counts and returns its distinct messages.
func (s *step) accountGroup(g *group) (received int64) {
	a := &s.rec.Accounting
	var deliveries int64
	for _, r := range s.receivers {
		if r.group != g {
			continue
		}
		r.logMu.Lock()
		deliveries += r.deliveries.Load()
		a.OutOfOrder += r.outOfOrder.Load()
		a.Foreign += r.stale.Load() + r.foreign.Load() + r.corrupt.Load() + r.misframed.Load()
		r.logMu.Unlock()
	}
	if missing := s.missing(g); s.cut {
		a.Unknown += missing
	} else {
		a.Lost += missing
	}
	received = g.fresh.Load()
	a.Duplicates += deliveries - received
	return received
}

// tellForeign says of what kind the deliveries were that are no message of the
// step.
func (s *step) tellForeign() {
	for _, r := range s.receivers {
		r.logMu.Lock()
		misframed := "without the frame of their schema, the first: " + r.whyMisframed
		r.logMu.Unlock()
		for _, k := range []struct {
			n    int64
			what string
		}{
			{r.stale.Load(), "of another run, step or repeat"},
			{r.foreign.Load(), "that no benchmark of this version wrote"},
			{r.corrupt.Load(), "with a damaged identity"},
			{r.misframed.Load(), misframed},
		} {
			if k.n > 0 {
				text := fmt.Sprintf("%d messages %s were delivered and not measured", k.n, k.what)
				s.events.add(r.name(), "foreign", text, rawlog.Null)
				s.r.warn(fmt.Sprintf("step %d, repeat %d, %s: %s", s.plan.Step, s.plan.Repeat, r.name(), text))
			}
		}
	}
}

// broken are the promises of the queue that the step saw broken.
func (s *step) broken() (texts []string) {
	if s.plan.Through != nil {
		return nil // a pipeline promises nothing
	}
	info, a := s.queues[0].Info(), s.rec.Accounting
	// In a search, a rate that is too high leaves messages at the deadline.
	if info.LosesNothing && a.Lost > 0 && !(s.r.cfg.Search && s.expired) {
		texts = append(texts, fmt.Sprintf("step %d, repeat %d: %d acknowledged messages were lost, and the queue promises to lose none", s.plan.Step, s.plan.Repeat, a.Lost))
	}
	if info.DeliversOnce && a.Duplicates > 0 {
		texts = append(texts, fmt.Sprintf("step %d, repeat %d: %d messages were delivered again, and the queue promises to deliver each once", s.plan.Step, s.plan.Repeat, a.Duplicates))
	}
	return texts
}

// requestsSince is the difference of two counts, by kind; nil where nothing
// was counted.
func requestsSince(before, now *objectstore.Counts) map[string]int64 {
	if before == nil || now == nil {
		return nil
	}
	return map[string]int64{
		"put": now.Put - before.Put, "put_if_absent": now.PutIfAbsent - before.PutIfAbsent,
		"get": now.Get - before.Get, "miss": now.Miss - before.Miss, "list": now.List - before.List,
		"head": now.Head - before.Head, "delete": now.Delete - before.Delete, "failed": now.Failed - before.Failed,
	}
}

// costOf is what the requests between two counts cost, per million messages.
func costOf(p objectstore.Prices, before, now *objectstore.Counts, messages int64) *rawlog.Cost {
	if before == nil || now == nil || messages == 0 {
		return nil
	}
	n := now.Minus(*before)
	millions := float64(messages) / 1e6
	return &rawlog.Cost{Prices: p.Name, RequestsPerMillion: float64(n.Total()) / millions, DollarsPerMillion: p.Of(n) / millions}
}

// StepResult is what the runner itself saw of a step, for the table that it
// prints: the whole step, warm-up included, which the analysis cuts.
type StepResult struct {
	rawlog.Step
	// EndToEnd are the latencies from intended to received, of all groups.
	EndToEnd stats.Compact
	// SendLag is sent − intended of each message that was handed over.
	SendLag stats.Compact
	// Missing messages, lost or overrun, rank above all, once for each group.
	Missing int64
	// WithoutEnd says why a consume half ended before the producers' end marks
	// had come; empty when they had.
	WithoutEnd string
	Behind     string // why the step did not keep up; empty when it did
	// Trend is of the messages that were due and not received, where
	// Config.Search asked for it.
	Trend Trend
	// Closed is of a closed loop; nil of others.
	Closed *ClosedResult
	// Seconds are its seconds since the schedule's start, the drain included;
	// none where the load did not begin.
	Seconds []Second
}

func (s *step) result() StepResult {
	r := StepResult{Step: s.rec, WithoutEnd: s.withoutEnd, EndToEnd: s.monitor.latencies(), SendLag: s.lags(), Seconds: s.monitor.seconds.all}
	a := s.rec.Accounting
	r.Missing = a.Lost
	if !s.cut { // else what was not sent says nothing
		r.Missing += a.Overrun * int64(len(s.groups))
	}
	r.Trend, r.Closed = s.trend, s.closedResult
	if s.loop == nil && s.plan.Backlog == nil {
		r.Behind = s.monitor.behind(a.Overrun)
	}
	return r
}

func (s *step) lags() stats.Compact {
	var all stats.Histogram
	for _, p := range s.senders {
		_ = all.Accumulate(p.lags.Take()) // only a histogram that is none is an error
	}
	return all.Compact()
}

// logTrouble is what the raw log did to a step: an actor that waits for it
// stamps what comes next too late.
func logTrouble(before, now logwriter.Stats) (texts []string) {
	if n := now.Blocked - before.Blocked; n > 0 {
		texts = append(texts, fmt.Sprintf("the raw log could not keep up and held producers or consumers up %d times, for %v in all: latencies are too long by up to as much; give the runner more CPU or a lower rate",
			n, time.Duration(now.BlockedNs-before.BlockedNs).Round(time.Microsecond)))
	}
	if n := now.UploadRetries - before.UploadRetries; n > 0 {
		texts = append(texts, fmt.Sprintf("the log's store did not take %d uploads at once, and they are tried again: %s", n, now.UploadError))
	}
	return texts
}
