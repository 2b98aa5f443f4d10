// Package queue says what a queue under test is: something that can be
// created, written by producers, read by consumers from a start position, and
// removed.
//
// It holds the interfaces and the plain values that cross them, and nothing
// else: no schedule, no time stamps of messages, no recording. A queue is
// handed messages in batches, and hands them back in batches, so that its
// client may do as little per message as it can. Every implementation passes
// the suite in queue/queuetest.
package queue

import (
	"context"
	"errors"
	"time"
)

// Queue is one topic or table of a queue under test. Its methods may be called
// from several goroutines.
type Queue interface {
	// Info describes what the queue is and what it promises.
	Info() Info

	// Create makes the queue ready and empty. What lies under its name from
	// an earlier run is removed first, and nothing else is touched. A queue
	// whose producer creates it (a table) is only emptied here: its consumers
	// wait for it to appear.
	Create(ctx context.Context) error

	// Producer opens a producer. cfg.Acked is called until Close has returned.
	Producer(ctx context.Context, cfg ProducerConfig) (Producer, error)

	// Consumer opens a consumer at cfg.Start.
	Consumer(ctx context.Context, cfg ConsumerConfig) (Consumer, error)

	// Remove deletes what Create and the producers made, and nothing else.
	Remove(ctx context.Context) error

	// Close releases clients and connections. It can be called twice.
	Close() error
}

// Info describes a queue. It goes into the run's manifest as it is.
type Info struct {
	Kind       string `json:"kind"`       // "delta", "memory", "kafka", …
	Partitions int    `json:"partitions"` // at least 1
	// Durability is one sentence: what an acknowledgement means here.
	Durability string `json:"durability"`
	// InProcess marks a result as an in-process floor, never a result about
	// a product.
	InProcess bool `json:"in_process"`
	// LosesNothing promises that an acknowledged message is delivered;
	// DeliversOnce promises that no message is delivered twice to a group.
	// A breach of either is an error of the run.
	LosesNothing bool `json:"loses_nothing"`
	DeliversOnce bool `json:"delivers_once"`
	// StampResolution is the smallest difference between two stamps of the
	// broker; 0 where it does not stamp, or it is not known.
	StampResolution time.Duration `json:"stamp_resolution_ns,omitempty"`

	// Headers: messages may carry headers, and deliveries do.
	Headers bool `json:"headers,omitempty"`
	// Keys: deliveries carry the key that the message had.
	Keys bool `json:"keys,omitempty"`
	// CommitInterval is the period at which messages become visible; 0 where
	// there is none.
	CommitInterval time.Duration `json:"commit_interval_ns"`
}

// Message is one message on its way in.
type Message struct {
	Payload   []byte
	Key       []byte   // nil for none
	Headers   []Header // nil for none, and for a queue whose Info has none
	Partition int32    // AnyPartition lets the queue choose
}

// Header is a name and a value that travel beside the payload. A name may come
// several times; the order is kept.
type Header struct {
	Name  string
	Value []byte
}

// AnyPartition lets the queue choose the partition of a message.
const AnyPartition int32 = -1

// Producer hands messages to the queue. Send is called by one goroutine at a
// time.
type Producer interface {
	// Send hands the messages over in order and returns when the client has
	// taken all of them, which may mean waiting for room; the caller times
	// that. The producer copies what it keeps: payloads, keys, headers and the
	// slice may be reused as soon as Send returns. On an error, the first n messages were
	// taken and will be acknowledged or failed through Acked; the others were
	// not and never will be. After ErrBroken no later Send takes any.
	Send(ctx context.Context, batch []Message) (n int, err error)

	// Flush returns when each message taken has been acknowledged or failed.
	Flush(ctx context.Context) error

	// Pending is the number of messages taken by the client whose fate is not
	// known: the depth of its own queue. It may be called at any time.
	Pending() int

	// Close gives up what is pending (each such message gets an Ack with an
	// error) and releases the client. It can be called twice.
	Close() error
}

// ProducerConfig is what a producer is opened with.
type ProducerConfig struct {
	// ID tells the producers of a run apart, from 0.
	ID int
	// Acked is told the fate of messages as soon as the client hears of it,
	// from one goroutine at a time. The slice is reused after the call.
	Acked func([]Ack)
	// Trace is told of each commit or produce request; nil for nobody.
	Trace func(Trace)
	// Event is told of conflicts, throttling and the like; nil for nobody.
	Event func(Event)
}

// Ack is the fate of N consecutive messages, First to First+N−1, counted from 0
// in the order in which the producer took them.
type Ack struct {
	First     int64
	N         int64
	Partition int32 // −1 where the queue does not tell
	Offset    int64 // of the first message; −1 where the queue does not tell
	// OffsetStep is what each further message adds to Offset: 1 where every
	// message has its own, 0 where a commit has one for all.
	OffsetStep int64
	Err        error // nil: acknowledged
	// BrokerNs is the broker's stamp that all of them share, ns since the epoch; 0
	// for none, and where the acknowledgement does not tell.
	BrokerNs int64
	// BrokerKind names it, as that of a Delivery; empty for none.
	BrokerKind string
}

// Consumer reads the queue. Its methods are called by one goroutine, but for
// Close, which may come from any and ends a waiting Receive.
type Consumer interface {
	// Receive waits for the next batch, which is never empty. Its memory is
	// valid until the next call. It returns the context's error when that
	// ends first, ErrClosed after Close, and ErrEnd where the queue was asked
	// for what there is, and no more. Any other error is fatal for the consumer:
	// a gap or missing data is never skipped.
	Receive(ctx context.Context) ([]Delivery, error)

	// Close can be called twice.
	Close() error
}

// ConsumerConfig is what a consumer is opened with.
type ConsumerConfig struct {
	// ID tells the consumers of a run apart, from 0.
	ID int
	// Group shares the messages among its consumers; each group gets all.
	Group string
	Start Start
	Trace func(Trace)
	Event func(Event)
}

// Delivery is one message on its way out.
type Delivery struct {
	Payload   []byte
	Key       []byte
	Headers   []Header
	Partition int32
	Offset    int64 // Delta: the version
	// BrokerNs is the broker's stamp, ns since the epoch; 0 for none.
	BrokerNs int64
	// BrokerKind names it: "create", "append", "column", "commit", …; empty for none.
	BrokerKind string
}

// StartKind says how a Start is to be read.
type StartKind int

// The start positions of a consumer.
const (
	StartEarliest StartKind = iota // everything there is
	StartLatest                    // only what comes after opening
	StartOffset                    // from Offset on, inclusive
	StartTime                      // from the first message at or after Time
)

// Start is the position at which a consumer begins.
type Start struct {
	Kind   StartKind
	Offset int64
	Time   time.Time
}

// Event is a thing that happened inside a queue's client.
type Event struct {
	Kind string // "conflict", "throttled", "retry", "rebalance", …
	Text string
	Took time.Duration // how long it lasted; 0 where it has no duration
}

// ErrClosed is returned by the methods of what has been closed.
var ErrClosed = errors.New("queue: closed")

// ErrBroken is wrapped in the error of a producer that cannot go on, whatever it is
// handed: what it says ends the run.
var ErrBroken = errors.New("the producer cannot go on")

// ErrEnd is returned by the Receive of a consumer that reads what there was when
// it began, and has returned all of it.
var ErrEnd = errors.New("queue: everything that there was has been read")
