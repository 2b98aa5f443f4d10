// Package jetstream is NATS JetStream as a queue under test: one stream with a
// subject for each partition, asynchronous publishing with an acknowledgement for
// each message, and a durable pull consumer for each group, whose members compete
// for its messages.
//
// It never sends a message a second time by itself, which could double it: what
// was not acknowledged within AckTimeout has failed, and its caller decides. It
// never touches a stream that it did not make.
package jetstream

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"queuebench/internal/secret"
	"queuebench/queue/broker"
)

// Storage is where the server keeps the stream.
type Storage string

// The storages.
const (
	File   Storage = "file"
	Memory Storage = "memory"
)

// AckPolicy is how consumers acknowledge.
type AckPolicy string

// The policies. With AckAll the last message of a batch acknowledges all before
// it, also those of other members of the group, so a group has one consumer then.
// With AckNone the server takes what it sent for delivered.
const (
	AckExplicit AckPolicy = "explicit"
	AckAll      AckPolicy = "all"
	AckNone     AckPolicy = "none"
)

// Config says where the stream is and how it is kept.
type Config struct {
	// URL names the servers, with commas between: nats://host:4222, tls://….
	URL      string
	Identity broker.Identity
	// Token and CredsFile are the other ways of a client to name itself: a token,
	// and a file with a JWT and its key; empty for none.
	Token     secret.Text
	CredsFile string
	// Monitor is the address of the server's monitoring, http://host:8222, which
	// alone tells how it syncs its files; empty for none.
	Monitor string

	// Name is the stream's, and the prefix of its subjects.
	Name       string
	Partitions int // 1 if 0
	// Existing says that the stream of that name is there and not ours: it is neither
	// created nor emptied nor removed. Create then means that what lies in it now is
	// of no concern. It is one partition.
	Existing bool
	// Subject is what is published to on an existing stream; if empty, the stream's
	// first subject without wildcards.
	Subject string
	// GroupPrefix is what the names of groups begin with, so that those of an
	// existing stream are the run's own; they are removed with Remove.
	GroupPrefix string
	Storage     Storage
	Replicas    int // 1 if 0
	// Async lets the server acknowledge before it wrote to the file.
	Async bool

	// MaxPending bounds the messages of a producer without an acknowledgement;
	// 4,000 if 0, the client library's own. A server takes some 10,000 for a
	// stream before it refuses.
	MaxPending int
	// AckTimeout is how long a producer waits for an acknowledgement; 5 s if 0,
	// the client library's own.
	AckTimeout time.Duration

	Acks AckPolicy // AckExplicit if empty
	// AckWait is when the server sends a message again that was not acknowledged;
	// 30 s if 0, the server's own.
	AckWait time.Duration
	// MaxAckPending bounds what a group has on its way without an acknowledgement,
	// and so what a consumer keeps in memory; 10,000 if 0. The server's own is
	// 1,000.
	MaxAckPending int
	// ReceiveMax is how many messages one Receive returns at most; 1,024 if 0.
	ReceiveMax int
}

func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, 1)
	c.Storage = cmp.Or(c.Storage, File)
	c.Replicas = cmp.Or(c.Replicas, 1)
	c.MaxPending = cmp.Or(c.MaxPending, 4000)
	c.AckTimeout = cmp.Or(c.AckTimeout, 5*time.Second)
	c.Acks = cmp.Or(c.Acks, AckExplicit)
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.MaxAckPending = cmp.Or(c.MaxAckPending, 10_000)
	c.ReceiveMax = cmp.Or(c.ReceiveMax, 1024)
	return c
}

// Check says what is wrong with the settings, the name apart.
func (c Config) Check() error {
	c = c.withDefaults()
	if err := broker.Positive("jetstream", map[string]int{"Partitions": c.Partitions, "MaxPending": c.MaxPending, "MaxAckPending": c.MaxAckPending, "ReceiveMax": c.ReceiveMax}); err != nil {
		return err
	}
	switch {
	case c.URL == "":
		return errors.New("jetstream: no server is named, such as nats://127.0.0.1:4222")
	case c.Storage != File && c.Storage != Memory:
		return fmt.Errorf("jetstream: storage %q is neither file nor memory", c.Storage)
	case c.Replicas < 1 || c.Replicas > 5:
		return fmt.Errorf("jetstream: %d replicas: a stream has 1 to 5", c.Replicas)
	case c.Existing && c.Partitions > 1:
		return fmt.Errorf("jetstream: %d partitions: a stream that is there is one", c.Partitions)
	case c.Async && c.Storage == Memory:
		return errors.New("jetstream: a stream in memory is not written to a file, so it cannot be written late")
	case c.Async && c.Replicas > 1:
		return errors.New("jetstream: the server refuses to write late what has replicas")
	case c.Acks != AckExplicit && c.Acks != AckAll && c.Acks != AckNone:
		return fmt.Errorf("jetstream: acknowledgements %q are none of explicit, all, none", c.Acks)
	case c.AckTimeout < 0 || c.AckWait < 0:
		return errors.New("jetstream: AckTimeout and AckWait are not negative")
	}
	return nil
}

// checkName refuses what the server would, or would read as a wildcard.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name, ". *>/\\\t\r\n") {
		return fmt.Errorf("jetstream: the name %q: a stream's name is not empty and has no dots, spaces, slashes or wildcards", name)
	}
	return nil
}

func (c Config) tls() (*tls.Config, error) {
	return c.Identity.TLSConfig(strings.HasPrefix(c.URL, "tls://"))
}
