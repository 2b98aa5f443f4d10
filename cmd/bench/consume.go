package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner"
)

// alsoConsuming are the flags of a load that a consume half has too: the others
// it learns from the producers.
var alsoConsuming = []string{"queue", "topics", "groups", "consumers", "consumer-delay", "partitions", "drain-timeout", "run-id", "spool", "calibrate", "metrics-addr", "part-age", "json", "quiet"}

func consumeFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.IntFlag{Name: "index", Usage: "which consume process of the run this is, from 0, where there are several with the same --groups and --consumers: its consumers and groups are numbered after theirs"},
		&cli.BoolFlag{Name: "resume", Usage: "go on where a consume half of this --run-id and --index was killed"},
		&cli.DurationFlag{Name: "wait", Usage: "how long the first message is waited for", Value: time.Minute},
		&cli.DurationFlag{Name: "idle-timeout", Usage: "end when no message has come for so long; without it the end is that of the schedule and --drain-timeout", DefaultText: "none"},
		&cli.BoolFlag{Name: "remove", Usage: "remove the queue once the end marks have come and every other process of the run has ended"},
	}
	flags = append(flags, clockFlags()...)
	for _, f := range loadFlags() {
		if slices.Contains(alsoConsuming, command.Name(f)) {
			flags = append(flags, f)
		}
	}
	return halfFlags(append(append(flags, queueFlags()...), placeFlags()...))
}

func consumeCommand() *cli.Command {
	return &cli.Command{
		Name:  "consume",
		Usage: "the consuming half of a run, for a terminal or a host of its own",
		Description: `Prints a table of what it received; its last line is the address of the raw log,
to which ` + "`bench produce`" + ` of the same --run-id adds its own part.

It waits for the queue, and learns rate, duration and producers from the begin
marks in it. It ends when the end mark of each producer has come from each
partition and a second has passed for what is missing; else --drain-timeout
after the end of the schedule, or by --idle-timeout, with exit status 1.

One that was killed goes on with --resume: it starts at the last position that
it recorded in a closed part, so that nothing is lost, and what is recorded
already is passed over. The queue is left as it is, unless --remove is given.`,
		UsageText: `   bench produce --run-id night-1 --rate 1000 --duration 1s --store ./lake
   bench consume --run-id night-1 --store ./lake --json
   bench consume --run-id night-1 --store ./lake --index 1 --remove`,
		Flags:  consumeFlags(),
		Action: consume,
	}
}

func consume(c *cli.Context) error {
	if err := needRunID(c); err != nil {
		return err
	}
	k, err := acrossProcesses(c)
	if err != nil {
		return err
	}
	d, err := consuming(c, k)
	if err != nil {
		return err
	}
	load := d.Load
	index := c.Int("index")
	if index < 0 || index > runner.MaxActors {
		return command.Misusef("--index %d is not between 0 and %d", index, runner.MaxActors)
	}
	for _, name := range []string{"wait", "idle-timeout"} {
		if v := c.Duration(name); v < 0 || v == 0 && name == "wait" || v > runner.MaxDuration {
			return command.Misusef("--%s %v: it is a time of up to %v", name, v, runner.MaxDuration)
		}
	}
	seed, err := seedOf(c)
	if err != nil {
		return err
	}
	h := half{role: rawlog.RoleConsume, process: "consume", resume: c.Bool("resume"), remove: c.Bool("remove"), index: index, count: load.Topics * load.Groups * load.Consumers}
	if h.first = index * h.count; index > 0 {
		h.process = fmt.Sprintf("consume-%d", index)
	}
	return loadHalf(c, h, d, k, seed)
}

// consuming is the draft of a consume half.
func consuming(c *cli.Context, k kind) (d draft, err error) {
	if err := k.refuseOthers(c); err != nil {
		return d, err
	}
	open, err := k.parse(c)
	if err != nil {
		return d, err
	}
	load, err := consumersOf(c)
	if err != nil {
		return d, err
	}
	d = draft{Plan: runner.Plan{Role: rawlog.RoleConsume, Load: load, Settings: map[string]string{}}, partitions: c.Int("partitions"), open: open}
	if err := d.Check(); err != nil {
		return d, command.Misuse(err)
	}
	return d, nil
}

// otherHalfTimeout bounds how long a removal of the queue waits for the other
// processes of the run to have ended.
const otherHalfTimeout = 30 * time.Second

// othersEnded waits until every other process of the run has ended.
func (h *half) othersEnded(ctx context.Context, log objectstore.Store) error {
	ctx, cancel := context.WithTimeout(ctx, otherHalfTimeout)
	defer cancel()
	for {
		all, err := manifestsIn(ctx, log)
		if err != nil {
			return err
		}
		busy, producers := "", false
		for _, m := range all {
			if m.Process == h.process {
				continue
			}
			producers = producers || m.Role == rawlog.RoleProduce
			if m.EndedNs == 0 {
				busy = m.Process
			}
		}
		if producers && busy == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			if !producers {
				return errors.New("the log of the producers is not beside this one, so nothing says that they have ended")
			}
			return fmt.Errorf("%s has not ended", busy)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// consumersOf reads who consumes.
func consumersOf(c *cli.Context) (runner.Load, error) {
	if p := c.Int("partitions"); p < 1 || p > runner.MaxPartitions {
		return runner.Load{}, command.Misusef("--partitions %d: it is between 1 and %d", p, runner.MaxPartitions)
	}
	load := runner.Load{Topics: c.Int("topics"), Groups: c.Int("groups"), Consumers: c.Int("consumers"), DrainTimeout: c.Duration("drain-timeout")}
	err := delayOf(c, &load)
	return load, err
}
