package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner"
	"queuebench/runner/pace"
)

// pacingFlags say how the two sides wait.
func pacingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "pacing", Usage: "how a producer waits for the next message: precise (nanosleep on a locked thread and a short spin), or sleep (time.Sleep, up to a millisecond late: there to compare with)", Value: pace.Precise.String()},
		&cli.DurationFlag{Name: "consumer-delay", Usage: "how long a consumer takes for each message, one after the other: a message is received when its turn comes, and a rate above the inverse builds a backlog", DefaultText: "none"},
	}
}

// pacingOf reads them.
func pacingOf(c *cli.Context, load *runner.Load) (err error) {
	if load.Pacing, err = pace.ParseKind(c.String("pacing")); err != nil {
		return command.Misusef("--pacing: %w", err)
	}
	return delayOf(c, load)
}

// delayOf reads the consumers' part.
func delayOf(c *cli.Context, load *runner.Load) error {
	if load.ConsumerDelay = c.Duration("consumer-delay"); load.ConsumerDelay < 0 || load.ConsumerDelay > time.Hour {
		return command.Misusef("--consumer-delay %v: it is between 0 and an hour", load.ConsumerDelay)
	}
	return nil
}
