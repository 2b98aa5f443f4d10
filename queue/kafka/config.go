// Package kafka is a topic of Apache Kafka, or of what speaks its protocol such
// as Redpanda, as a queue under test.
//
// The client is franz-go. The package adds what a benchmark needs of it: topics
// that are made for a run and never those of others removed, the fate of each
// message, start positions that hold from the moment of opening, groups that
// hand a partition over without loss or repetition, and what the client does
// besides as events. It refuses settings that it does not know, and keeps
// secrets out of everything that it tells.
package kafka

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"queuebench/queue"
)

// Reading says how consumers read.
type Reading string

// The ways to read.
const (
	Streaming Reading = "streaming" // as members of a consumer group, without end
	// Static reading takes partitions by hand, partition modulo readers, and
	// ends with queue.ErrEnd at the ends that the first Receive saw.
	Static Reading = "static"
)

// Limits of a consumer that meets trouble.
const (
	// retryPause is between two tries after an error that may pass.
	retryPause = 200 * time.Millisecond
	// maxErrors in a row of a broker end a consumer.
	maxErrors = 32
	// startupLimit bounds the wait for a topic that is being created and for a
	// cluster that begins to answer.
	startupLimit = 30 * time.Second
)

// Config is what a queue on Kafka is made of.
type Config struct {
	Kind     string // what the results go by: "kafka" if empty
	Settings Settings
	// Topic is its name. It is created, and removed, unless Existing.
	Topic string
	// Existing says that the topic is there and not ours: it is neither
	// created nor emptied nor removed, and its partitions are those that it has.
	// Create then means that what lies in it now is of no concern.
	Existing bool
	// Partitions of a topic that is created; 1 if 0.
	Partitions int
	// Replication of a topic that is created; the broker's default if 0.
	Replication int
	// TopicSettings are the broker's names of a topic's settings, such as
	// min.insync.replicas.
	TopicSettings map[string]string
	// GroupPrefix is what the names of the run's own groups begin with; random
	// if empty.
	GroupPrefix string

	Reading Reading // Streaming if empty
	// Readers are the consumers of a group, which static reading shares the
	// partitions among; 1 if 0.
	Readers int
	// Start is where consumers start that are opened at queue.StartEarliest;
	// for StartTime beyond the end of a partition, a static reader gets nothing
	// of it, a streaming one what is new.
	Start queue.Start
	// MaxBacklog is how many messages a consumer holds at most that were fetched
	// and not received: beyond it its partitions are paused. 0 bounds it in
	// bytes only, by what one fetch may return.
	MaxBacklog int
	// Diffs understands the headers pathway_time and pathway_diff: a
	// retraction (pathway_diff −1) is counted, and is no delivery.
	Diffs bool
	// InProcess says that the broker is one of this process, whose results are
	// no results about Kafka.
	InProcess bool
}

func (c Config) withDefaults() (Config, error) {
	c.Kind = cmp.Or(c.Kind, "kafka")
	if c.Partitions == 0 {
		c.Partitions = 1
	}
	if c.Readers == 0 {
		c.Readers = 1
	}
	if c.Reading == "" {
		c.Reading = Streaming
	}
	return c, c.Check()
}

// Check refuses what cannot work, with what to change.
func (c *Config) Check() error {
	switch {
	case c.Topic == "":
		return errors.New("kafka: the topic has no name")
	case !validTopic(c.Topic):
		return fmt.Errorf("kafka: %q is no name of a topic: it has up to 249 letters, digits, dots, hyphens and underscores", c.Topic)
	case c.Partitions < 0 || c.Replication < 0 || c.Replication > 1<<15-1:
		return fmt.Errorf("kafka: %d partitions and %d replicas: neither is negative, and there are at most 32,767 replicas", c.Partitions, c.Replication)
	case c.Readers < 0:
		return fmt.Errorf("kafka: %d readers: there is at least one", c.Readers)
	case c.MaxBacklog < 0:
		return fmt.Errorf("kafka: a backlog of %d messages: it is at least 1, or 0 for a bound in bytes only", c.MaxBacklog)
	case c.Reading != "" && c.Reading != Streaming && c.Reading != Static:
		return fmt.Errorf("kafka: reading %q: say streaming or static", c.Reading)
	case c.Start.Kind == queue.StartTime && c.Start.Time.UnixMilli() < 0:
		return fmt.Errorf("kafka: the start %s lies before 1970", c.Start.Time.UTC().Format(time.RFC3339))
	case c.Start.Kind == queue.StartOffset && c.Start.Offset < 0:
		return fmt.Errorf("kafka: the start offset %d is negative", c.Start.Offset)
	}
	return c.Settings.check()
}

// validTopic tells whether a broker takes the name.
func validTopic(name string) bool {
	if len(name) > 249 || name == "." || name == ".." {
		return false
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return true
}
