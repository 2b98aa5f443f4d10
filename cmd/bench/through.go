package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/runner"
	"queuebench/runner/identity"
)

// throughFlags are of a pipeline between the producers and the consumers.
func throughFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "through", Usage: "topic that the consumers read in the place of --topic, which the producers write: what lies between is a pipeline of yours, and the latency is that of the whole way", DefaultText: "no pipeline"},
		&cli.StringFlag{Name: "through-identity", Usage: "where the pipeline's outputs carry the identities, or ranges of identities, of their inputs: payload, key, header:NAME or json:/pointer", DefaultText: "where --identity says"},
	}
}

// throughSuffix ends the name of what is read behind a pipeline.
const throughSuffix = "-through"

// throughOf reads what lies between; nil for nothing.
func throughOf(c *cli.Context, k kind, load runner.Load) (*runner.Through, error) {
	if c.String("through") == "" {
		if command.IsSet(c, "through-identity") {
			return nil, command.Misusef("--through-identity does nothing without --through: leave it out, or name the topic that the pipeline writes")
		}
		return nil, nil
	}
	switch {
	case !k.named:
		return nil, command.Misusef("--through: a %s queue has no topics of a given name; use --queue %s", k.name, namedKinds())
	case c.String("topic") == "":
		return nil, command.Misusef("--through needs --topic, the topic that the pipeline reads")
	case c.String("topic") == c.String("through"):
		return nil, command.Misusef("--topic and --through are both %q: without a pipeline between two topics, leave --through out", c.String("topic"))
	case load.Topics > 1:
		return nil, command.Misusef("--through goes from one topic to one: leave --topics out")
	}
	t := &runner.Through{Identity: load.Payload.Identity}
	if text := c.String("through-identity"); text != "" {
		var err error
		if t.Identity, err = identity.ParsePlace(text); err != nil {
			return nil, command.Misusef("--through-identity: %v", err)
		}
	}
	return t, nil
}

// namedKinds are the queues that can read a topic by its name.
func namedKinds() string {
	var names []string
	for _, k := range kinds() {
		if k.named {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// throughOpened is a step's pipeline with what opens its outputs.
func (d draft) throughOpened(open opener, env queueEnv) *runner.Through {
	if d.Through == nil {
		return nil
	}
	env.topic = d.throughTopic
	factory := open(env)
	t := *d.Through
	t.Open = func(ctx context.Context, topic int) (queue.Queue, error) {
		return factory(ctx, queueName(d.Plan, topic)+throughSuffix)
	}
	return &t
}
