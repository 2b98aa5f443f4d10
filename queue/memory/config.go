package memory

import (
	"errors"
	"fmt"
	"time"

	"queuebench/clock"
)

// Config is what a queue in memory is made of. The zero value is a queue of
// one partition without faults.
type Config struct {
	// Partitions is 1 if it is 0.
	Partitions int
	// Capacity is how many messages a partition holds that its slowest group
	// has not read, or that nobody reads; Send waits for room beyond it.
	// 65,536 if it is 0.
	Capacity int
	// CapacityBytes bounds the same in bytes of keys, payloads and values of
	// headers. 64 MiB if it is 0.
	CapacityBytes int64
	// ReceiveMax is how many messages one Receive returns at most. 1,024 if it
	// is 0.
	ReceiveMax int
	// Retain keeps what each group has read, so that a group that comes late
	// still gets all. Memory then grows with every message.
	Retain bool
	// Clock stamps deliveries with the time at which the queue took them
	// (BrokerKind "append"); nil for no stamps.
	Clock *clock.Clock
	// Faults are misbehaviour on purpose, for tests of what drives a queue.
	// Info promises no loss and no duplicate whatever stands here, so that a
	// breach is seen as a breach.
	Faults Faults
}

// Refusal says how a queue refuses everything.
type Refusal int

// The ways of refusing.
const (
	RefuseNothing Refusal = iota
	RefuseByAck           // messages are taken and then failed through Acked
	RefuseBySend          // Send takes nothing and returns ErrRefused
)

// Faults are what a queue in memory does wrong on purpose.
type Faults struct {
	// Refuse makes the queue refuse every message.
	Refuse Refusal
	// WithholdAcks takes and delivers messages, and never acknowledges any:
	// they stay pending until the producer is closed.
	WithholdAcks bool
	// Freezes are times in which neither Send nor Receive returns anything.
	Freezes []Freeze
	// Delay is how long after it was taken a message can be received: a
	// latency, which does not lower the rate.
	Delay time.Duration
	// ServiceTime is how long a consumer takes per message: a service rate,
	// above which a backlog grows.
	ServiceTime time.Duration
	// DropEvery acknowledges every nth message of the queue and never
	// delivers it; 0 for none.
	DropEvery int64
	// DuplicateEvery delivers every nth message of the queue twice, with the
	// same offset; 0 for none.
	DuplicateEvery int64
}

// Freeze is a time in which the queue stands still.
type Freeze struct {
	After time.Duration // since the first Send after Create
	For   time.Duration
}

// ErrRefused is what a queue that refuses everything answers.
var ErrRefused = errors.New("memory: the queue refuses every message, as Faults.Refuse asks")

func (c Config) withDefaults() (Config, error) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Partitions, 1)
	def(&c.Capacity, 1<<16)
	def(&c.ReceiveMax, 1024)
	if c.CapacityBytes == 0 {
		c.CapacityBytes = 64 << 20
	}
	for _, n := range []struct {
		name  string
		value int64
		least int64
	}{
		{"Partitions", int64(c.Partitions), 1}, {"Capacity", int64(c.Capacity), 1}, {"ReceiveMax", int64(c.ReceiveMax), 1},
		{"CapacityBytes", c.CapacityBytes, 1}, {"Faults.Delay", int64(c.Faults.Delay), 0},
		{"Faults.ServiceTime", int64(c.Faults.ServiceTime), 0}, {"Faults.DropEvery", c.Faults.DropEvery, 0},
		{"Faults.DuplicateEvery", c.Faults.DuplicateEvery, 0},
	} {
		if n.value < n.least {
			return c, fmt.Errorf("memory: %s is %d, it must be at least %d", n.name, n.value, n.least)
		}
	}
	return c, nil
}
