// Package redisstreams is Redis Streams as a queue under test: a stream for each
// partition, messages added in pipelines whose replies acknowledge them, and
// consumer groups whose members compete for the messages.
//
// It adds no message a second time by itself: what a broken connection leaves
// without a reply has failed. It never touches keys that it did not make.
package redisstreams

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"queuebench/queue/broker"
)

// Config says where the streams are, and how they are written and read.
type Config struct {
	// URL is the server: redis://host:6379/0, or rediss:// for TLS.
	URL      string
	Identity broker.Identity

	// Name is the prefix of the keys, which go on with a colon.
	Name       string
	Partitions int // 1 if 0
	// Existing says that Name is the key of a stream that is there and not ours: it
	// is neither created nor emptied nor removed. Create then means that what lies in
	// it now is of no concern. It is one partition.
	Existing bool
	// GroupPrefix is what the names of groups begin with, so that those of an
	// existing stream are the run's own; they are removed with Remove.
	GroupPrefix string
	// PayloadField is the field of an entry that holds the payload; p if empty.
	PayloadField string

	// MaxPending bounds the messages of a producer without a reply; 10,000 if 0.
	MaxPending int
	// Pipeline is how many messages go to the server in one request; 1,000 if 0.
	// The next request waits for the replies, so that messages gather meanwhile.
	Pipeline int
	// Wait asks with each request for so many replicas that have its messages
	// (the command WAIT), for at most WaitTimeout; 1 s if 0. Messages that fewer
	// have in time have failed.
	Wait        int
	WaitTimeout time.Duration
	// MaxLen bounds each stream, about, by dropping the oldest; 0 for no bound.
	MaxLen int64
	// Timeout is how long a reply is waited for; 5 s if 0.
	Timeout time.Duration

	// NoAck makes the server take what it sent for delivered.
	NoAck bool
	// ClaimAfter is when a message that its consumer did not acknowledge goes to
	// another; 30 s if 0.
	ClaimAfter time.Duration
	// ReceiveMax is how many messages one Receive returns at most, and one request
	// asks for in each partition; 1,024 if 0.
	ReceiveMax int
}

func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, 1)
	c.PayloadField = cmp.Or(c.PayloadField, payloadField)
	c.MaxPending = cmp.Or(c.MaxPending, 10_000)
	c.Pipeline = cmp.Or(c.Pipeline, 1000)
	c.WaitTimeout = cmp.Or(c.WaitTimeout, time.Second)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.ClaimAfter = cmp.Or(c.ClaimAfter, 30*time.Second)
	c.ReceiveMax = cmp.Or(c.ReceiveMax, 1024)
	return c
}

// Check says what is wrong with the settings, the name apart.
func (c Config) Check() error {
	c = c.withDefaults()
	if err := broker.Positive("redis", map[string]int{"Partitions": c.Partitions, "MaxPending": c.MaxPending, "Pipeline": c.Pipeline, "ReceiveMax": c.ReceiveMax}); err != nil {
		return err
	}
	switch {
	case c.URL == "":
		return errors.New("redis: no server is named, such as redis://127.0.0.1:6379/0")
	case c.Existing && c.Partitions > 1:
		return fmt.Errorf("redis: %d partitions: a stream that is there is one", c.Partitions)
	case c.PayloadField == keyField || strings.HasPrefix(c.PayloadField, headerPrefix):
		return fmt.Errorf("redis: the field %q holds keys or headers: the payload needs another one", c.PayloadField)
	case c.Wait < 0 || c.MaxLen < 0:
		return errors.New("redis: Wait and MaxLen are not negative")
	case c.WaitTimeout < time.Millisecond || c.Timeout < time.Millisecond || c.ClaimAfter < time.Millisecond:
		return errors.New("redis: WaitTimeout, Timeout and ClaimAfter are at least a millisecond")
	}
	return nil
}
