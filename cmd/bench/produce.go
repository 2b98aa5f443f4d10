package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/rawlog"
)

// notProducing are the flags of a load that a produce half has not.
var notProducing = []string{"groups", "consumers", "consumer-delay", "repeats", "vary", "format", "delimiter", "identity", "through", "through-identity",
	"schema-registry", "schema-subject", "schema-file", "schema-id", "schema-type", "schema-message-index", "schema-registry-ca", "through-schema"}

func produceCommand() *cli.Command {
	flags := []cli.Flag{&cli.StringFlag{Name: "rate", Aliases: []string{"r"}, Usage: "messages per second"}}
	for _, f := range loadFlags() {
		if !slices.Contains(notProducing, command.Name(f)) {
			flags = append(flags, f)
		}
	}
	flags = append(flags, clockFlags()...)
	return &cli.Command{
		Name:  "produce",
		Usage: "the producing half of a run, for a terminal or a host of its own",
		Description: `Prints a table of what it sent; its last line is the address of the raw log, to
which ` + "`bench consume`" + ` of the same --run-id adds its own part: give both halves
the same --run-id, queue, stores, partitions and topics. Start the consumers
first if they are to be there for the first message.

It creates the queue, sends a begin mark, the schedule and an end mark to each
partition, and leaves the queue to its consumers: ` + "`bench consume --remove`" + ` or
` + "`bench clean`" + ` removes it.`,
		UsageText: `   bench produce --run-id night-1 --rate 1000 --duration 1s --store ./lake`,
		Flags:     halfFlags(flags),
		Action:    produce,
	}
}

func produce(c *cli.Context) error {
	c, k, notes, err := sharedRun(c)
	if err != nil {
		return err
	}
	seed, err := seedOf(c)
	if err != nil {
		return err
	}
	steps, err := draftsOf(c, k, oneRate, seed, nil)
	if err != nil {
		return err
	}
	d := steps[0]
	d.Schedule = d.first
	if err := d.Check(); err != nil {
		return command.Misuse(err)
	}
	return loadHalf(c, half{role: rawlog.RoleProduce, process: "produce"}, d, k, seed, notes...)
}
