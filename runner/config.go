// Package runner drives a queue through the steps of a run and records what
// happens: schedule, pacing, producers, consumers, drain, accounting, clean-up.
//
// It computes no result that the log does not hold: what it shows while it runs
// is a view of the moment. It refuses to measure what it cannot account for:
// books that do not balance are an error of ours and end as one.
package runner

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/envelope"
	"queuebench/runner/pace"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// Load is what a step asks of the queue: who produces, who consumes, and how.
type Load struct {
	Topics      int // each has the producers, groups and consumers below
	Producers   int // of each topic; all share the rate
	Groups      int // of consumers; each gets all messages of every topic
	Consumers   int // of each group and topic
	MaxInFlight int // of all producers together
	Payload     payload.Spec
	// Unframe takes off what Payload.Frame put before a body, and is an error where
	// it is not there; nil for messages without a frame.
	Unframe func(payload []byte) (body []byte, err error)
	// DrainTimeout is how long after the schedule's end a step waits for what
	// is open.
	DrainTimeout time.Duration
	// ConsumerDelay is how long a consumer takes for each message, one after
	// the other, from its stamp on; 0 for no time at all, where a batch is
	// stamped as one.
	ConsumerDelay time.Duration
	Pacing        pace.Kind
}

// AllProducers is the number of producers of all topics.
func (l *Load) AllProducers() int { return l.Topics * l.Producers }

// Plan is one repeat of one step.
type Plan struct {
	Step, Repeat int
	// Role says which actors run in this process. Where it is one half of a run,
	// Load has no groups and no consumers, or no producers; a consume half has
	// neither rate nor schedule.
	Role     rawlog.Role
	Rate     schedule.Rate
	Schedule schedule.Schedule
	Load     Load
	// Closed makes the step a closed loop; Schedule is its Arrivals then, and
	// Rate is not looked at.
	Closed *Closed
	// Backlog makes it one that drains a backlog.
	Backlog *Backlog
	// Open makes the queue of a topic of this step, from 0, under a name of the
	// step's own.
	Open func(ctx context.Context, topic int) (queue.Queue, error)
	// Through says that a pipeline lies between producers and consumers; nil for
	// none.
	Through *Through
	// Settings are those in which this step differs from others, as text.
	Settings map[string]string
}

// Config is what a run is made of.
type Config struct {
	Run   string // run id
	Clock *clock.Clock
	Log   *logwriter.Log
	// Manifest has everything that is known before the first step. The runner
	// adds steps and times and writes it.
	Manifest *rawlog.Manifest

	// Requests counts the requests to the queue's store; nil for none.
	Requests func() objectstore.Counts
	// Prices are what its requests cost.
	Prices objectstore.Prices
	Plans  []Plan // in the order in which they run
	// Next is asked for a further plan after the last of Plans, with the step
	// that ended last (nil if there was none), until it has none; nil for none.
	Next func(last *StepResult) (Plan, bool)

	// Beside goes on beside each step, in a goroutine of its own: from before
	// its queue is opened until its drain has ended, when ctx ends; the step
	// waits for it. nil for nothing.
	Beside func(ctx context.Context, b *Beside)

	// Offsets are what is known by now of the clocks of other hosts, and with
	// last what is to be known at all; nil for nothing.
	Offsets func(ctx context.Context, last bool) ([]rawlog.ClockOffset, error)

	// Half is set where the process is one half of a run.
	Half *Half

	Seed     uint64
	SpoolDir string // its file system is watched

	// Search says that steps are tried to see whether they keep up: each has
	// its Trend, and one that does not keep up is no warning.
	Search bool

	FailFast       bool // end the run with the first step that fails
	StopWhenBehind bool // end it after the first step that did not keep up

	// Status is shown what goes on, ten times a second and when a step has ended,
	// by one goroutine at a time; nil for nobody.
	Status func(Status)
	// Note is told findings and failures as they come, a sentence each; nil
	// for nobody.
	Note func(string)
}

// Limits of a plan.
const (
	MaxActors     = 1024 // producers, or consumers, of all topics and groups
	MaxPartitions = 1024
	MaxTopics     = 1024
	// MaxDuration of a step is what a histogram holds.
	MaxDuration = 30 * 24 * time.Hour
)

// Check refuses what cannot run, with what to change.
func (c *Config) Check() error {
	if err := c.checkHalf(); err != nil {
		return err
	}
	if len(c.Plans) == 0 && c.Next == nil {
		return fmt.Errorf("there is no step to run: give at least one rate")
	}
	for i := range c.Plans {
		if err := c.Plans[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses a plan that cannot run, with what to change.
func (p *Plan) Check() error {
	l := &p.Load
	if p.Through != nil {
		if err := p.Through.check(p); err != nil {
			return err
		}
	}
	switch p.Role {
	case rawlog.RoleProduce:
		with := *p
		with.Role, with.Load.Groups, with.Load.Consumers = rawlog.RoleAll, 1, 1
		return with.Check()
	case rawlog.RoleConsume:
		with := *p
		with.Role, with.Schedule = rawlog.RoleAll, untold
		with.Load.Producers, with.Load.Payload, with.Load.MaxInFlight = 1, payload.Fixed(envelope.Size), l.Topics
		return with.Check()
	}
	if err := l.Payload.Check(); err != nil {
		return err
	}
	for _, n := range []struct {
		name          string
		value, lo, hi int64
	}{
		{"topics", int64(l.Topics), 1, MaxTopics},
		{"producers of all topics", int64(l.Producers) * int64(l.Topics), int64(l.Topics), MaxActors},
		{"groups", int64(l.Groups), 1, MaxActors},
		{"consumers of all groups and topics", int64(l.Consumers) * int64(l.Groups) * int64(l.Topics), int64(l.Groups) * int64(l.Topics), MaxActors},
		{"max in flight", int64(l.MaxInFlight), int64(l.AllProducers()), 1 << 28},
	} {
		if n.value < n.lo || n.value > n.hi {
			return fmt.Errorf("%s: %d is not between %d and %d", n.name, n.value, n.lo, n.hi)
		}
	}
	if l.ConsumerDelay < 0 {
		return fmt.Errorf("consumer delay: %v is negative", l.ConsumerDelay)
	}
	if l.DrainTimeout <= 0 {
		return fmt.Errorf("drain timeout: %v is not positive", l.DrainTimeout)
	}
	if p.Closed != nil {
		if err := p.Closed.Check(l); err != nil {
			return err
		}
	}
	if p.Backlog != nil {
		if err := p.Backlog.Check(p); err != nil {
			return err
		}
	}
	if n := p.Schedule.Len(); n > envelope.MaxSeq || n == math.MaxInt64 {
		return fmt.Errorf("rate %s for %v: more messages than can be numbered (%d)", p.Rate, p.Schedule.Duration(), int64(envelope.MaxSeq))
	}
	return nil
}

// Shuffle puts plans into a random order that the seed decides.
func Shuffle[P any](plans []P, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x534855464645)) // the second word only tells this stream from others of the same seed
	r.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
}

// noteTo tells a finding.
func (c *Config) noteTo(format string, a ...any) {
	if c.Note != nil {
		c.Note(fmt.Sprintf(format, a...))
	}
}
