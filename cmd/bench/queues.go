package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/queue"
)

// kind is a queue that can be put under test.
type kind struct {
	name  string
	usage string
	// store says that the queue's objects lie in an object store.
	store bool
	// inProcess says that the queue lives in this process, so that no other
	// reaches it.
	inProcess bool
	// groups says that members of a consumer group may be of several processes.
	groups bool
	// headers says that its messages may carry headers.
	headers bool
	// named says that it can read a topic of somebody else's by its name.
	named bool
	flags []cli.Flag
	// servers are the addresses (host:port) that the flags name, for a note where
	// one is on this machine; nil for a queue without a server of its own.
	servers func(c *cli.Context) []string
	// insecure says what of TLS the flags switch off, a sentence each; nil for a
	// queue that has no such flag. A store's is not the queue's.
	insecure func(c *cli.Context) []string
	// clean removes what a run that was killed left on its servers, which the
	// flags of placed name, and returns what it removed, such as "2 topics of run x",
	// also with an error; nil for a queue that leaves nothing outside of an object
	// store.
	clean  func(c *cli.Context, run string) ([]string, error)
	placed []cli.Flag
	// parse reads the flags, before anything is opened.
	parse func(c *cli.Context) (opener, error)
}

// opener returns what makes the queue of a step.
type opener func(env queueEnv) queueFactory

// queueFactory makes the queue of a topic of a step, under a name of its own.
type queueFactory func(ctx context.Context, name string) (queue.Queue, error)

// queueEnv is what a queue may use of the run.
type queueEnv struct {
	run        string // the run's id, for a queue whose names are not below the run's prefix
	clock      *clock.Clock
	store      objectstore.Store // at the run's own prefix; nil for a kind without store
	partitions int
	// Of a topic of the step, for a queue that chooses its settings by them. The
	// rate is in messages a second, 0 where only the producers' half knows it.
	rate      float64
	consumers int // that read all messages
	prices    objectstore.Prices
	// topic is one that is there already and stays; empty for the kind's own
	// choice.
	topic string
}

// kinds are the queues of this program, the default first.
//
// A queue that links a client of its own is a pair of files, one of which is
// built: queue_kafka.go behind "!min && !nokafka" has kafkaKinds, and
// queue_kafka_none.go behind "min || nokafka" has one that returns nil. So each
// queue can be left out of a program, and min leaves all of them out.
func kinds() []kind {
	return slices.Concat(
		[]kind{deltaKind(), memoryKind()},
		kafkaKinds(),
		natsKinds(),
		rabbitmqKinds(),
		redisKinds(),
	)
}

func kindNamed(name string) (kind, error) {
	var names []string
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, command.Misusef("--queue %q: this program has %s", name, strings.Join(names, ", "))
}

// queueFlags are the flags of all kinds, under a heading that names whose they
// are.
func queueFlags() []cli.Flag {
	return flagsOfKinds(func(k kind) []cli.Flag { return k.flags })
}

// flagsOfKinds are some flags of each kind. A flag that two kinds share has the
// same name in both and stands here once.
func flagsOfKinds(some func(kind) []cli.Flag) (flags []cli.Flag) {
	owners := map[string][]string{}
	for _, k := range kinds() {
		for _, f := range some(k) {
			name := command.Name(f)
			if owners[name] == nil {
				flags = append(flags, f)
			}
			owners[name] = append(owners[name], k.name)
		}
	}
	for _, f := range flags {
		command.Under("QUEUE "+strings.Join(owners[command.Name(f)], ", "), f)
	}
	return flags
}

// refuseOthers refuses flags that belong to other kinds only, since they would
// do nothing.
func (k kind) refuseOthers(c *cli.Context) error {
	own, set := map[string]bool{}, command.Set(c)
	for _, f := range k.flags {
		own[command.Name(f)] = true
	}
	for _, other := range kinds() {
		for _, f := range other.flags {
			if name := command.Name(f); !own[name] && set[name] {
				return command.Misusef("--%s does nothing with --queue %s: it belongs to --queue %s", name, k.name, other.name)
			}
		}
	}
	return nil
}

// kindsUsage lists the queues for --help.
func kindsUsage() string {
	var parts []string
	for _, k := range kinds() {
		parts = append(parts, fmt.Sprintf("%s (%s)", k.name, k.usage))
	}
	return strings.Join(parts, ", ")
}
