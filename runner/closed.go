package runner

import (
	"fmt"
	"time"

	"queuebench/rawlog"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

// Closed is a closed loop: workers that begin an operation when the one before
// it is done, so that a slow queue is asked less. There is no schedule; the
// intended time of an operation is the moment at which it begins, and the
// latency of what was not asked meanwhile is missing (coordinated omission). It
// measures how a client behaves, not what a user of the queue waits.
type Closed struct {
	Mode    string // rawlog.ModeProduce, ModeConsume or ModeEndToEnd
	Workers int    // the consumers, in ModeConsume
	// Concurrency is how many operations a worker has under way: 1 is a
	// synchronous one.
	Concurrency int
	// Warmup and Operations are counted over all workers, in the order in which
	// operations begin: the first Warmup are not measured.
	Warmup, Operations int64
	// Fill is the number of messages that are there before the first poll, in
	// ModeConsume. They have their rows, and are not measured.
	Fill int64
}

// maxOperations of a step: their numbers stay exact in every reader of JSON.
const maxOperations = 1 << 50

// Check refuses what cannot run, with what to change. It sees the load since
// its workers are those of the loop.
func (c *Closed) Check(l *Load) error {
	consume := c.Mode == rawlog.ModeConsume
	switch {
	case c.Mode != rawlog.ModeProduce && !consume && c.Mode != rawlog.ModeEndToEnd:
		return fmt.Errorf("mode %q: a closed loop has %s, %s and %s", c.Mode, rawlog.ModeProduce, rawlog.ModeConsume, rawlog.ModeEndToEnd)
	case c.Workers < 1 || c.Workers > MaxActors:
		return fmt.Errorf("workers: %d is not between 1 and %d", c.Workers, MaxActors)
	case c.Concurrency < 1 || int64(c.Concurrency)*int64(c.Workers) > int64(l.MaxInFlight):
		return fmt.Errorf("concurrency: %d is not between 1 and %d, what may be in flight of %d workers", c.Concurrency, l.MaxInFlight/c.Workers, c.Workers)
	case c.Warmup > maxOperations || c.Operations > maxOperations:
		return fmt.Errorf("operations: %d after %d of warm-up: there may be at most %d of each", c.Operations, c.Warmup, int64(maxOperations))
	case c.Warmup < 0:
		return fmt.Errorf("operations: a warm-up of %d: there is none with 0", c.Warmup)
	case c.Operations < 1:
		return fmt.Errorf("operations: %d after %d of warm-up: there must be at least one that is measured", c.Operations, c.Warmup)
	case consume && l.ConsumerDelay > 0:
		return fmt.Errorf("consumer delay: %v: a poll would last as long as the work on what the last one returned", l.ConsumerDelay)
	case consume && c.Concurrency > 1:
		return fmt.Errorf("concurrency: %d: a consumer has one poll under way; give more workers", c.Concurrency)
	case consume && c.Workers != l.Consumers*l.Groups*l.Topics:
		return fmt.Errorf("workers: %d, and %d consumers: in mode %s each worker is a consumer", c.Workers, l.Consumers*l.Groups*l.Topics, c.Mode)
	case consume && c.Fill > maxOperations:
		return fmt.Errorf("fill: %d messages: there may be at most %d", c.Fill, int64(maxOperations))
	case consume && c.Fill < 1:
		return fmt.Errorf("fill: %d messages: polls need messages that are there", c.Fill)
	case !consume && c.Fill != 0:
		return fmt.Errorf("fill: %d messages do nothing in mode %s", c.Fill, c.Mode)
	case !consume && l.AllProducers() > c.Workers:
		return fmt.Errorf("producers: %d of all topics, more than the %d workers that would use them", l.AllProducers(), c.Workers)
	}
	return nil
}

// messages is how many there are at most.
func (c *Closed) messages() int64 {
	if c.Mode == rawlog.ModeConsume {
		return c.Fill
	}
	return c.Warmup + c.Operations
}

// closedArrivals stand where a schedule does: nothing is due at a time of its
// own.
type closedArrivals struct{ n int64 }

// Arrivals is what stands in the place of the plan's schedule.
func (c *Closed) Arrivals() schedule.Schedule { return closedArrivals{c.messages()} }

func (a closedArrivals) Name() string              { return rawlog.LoopClosed }
func (a closedArrivals) Len() int64                { return a.n }
func (a closedArrivals) Duration() time.Duration   { return 0 }
func (a closedArrivals) Offsets() schedule.Offsets { return a }
func (a closedArrivals) At(int64) int64            { return 0 }

// What says in words what the plan does.
func (p *Plan) What() string {
	c := p.Closed
	switch {
	case p.Backlog != nil && p.Backlog.Fill == 0:
		return fmt.Sprintf("backlog of %d messages", p.Schedule.Len())
	case p.Backlog != nil:
		return fmt.Sprintf("backlog of %v at %s messages per second", p.Backlog.Fill, p.Rate)
	case c == nil:
		return p.Rate.String() + " messages per second"
	}
	text := fmt.Sprintf("closed loop, %s, %d workers", c.Mode, c.Workers)
	if c.Concurrency > 1 {
		text += fmt.Sprintf(" with %d under way each", c.Concurrency)
	}
	return text
}

// ClosedResult is what the runner itself saw of a closed loop. All but Done is
// of the operations after the warm-up.
type ClosedResult struct {
	Done      int64 // operations, those of the warm-up included
	Measured  int64 // completed
	Failed    int64 // refused or failed
	Abandoned int64 // not completed within the drain timeout
	PerSecond float64
	// Latency is that of the mode: send to acknowledgement, the call to the
	// return of a poll, or send to receipt.
	Latency stats.Compact
}
