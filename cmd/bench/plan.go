package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/runner"
	"queuebench/runner/schedule"
)

// draft is a step whose queue cannot be opened yet, since no store is open.
type draft struct {
	runner.Plan
	arrivals schedule.Spec
	// first is the schedule of the first repeat, where arrivals make one.
	first      schedule.Schedule
	partitions int
	open       opener
	// throughTopic is what the pipeline of Through writes.
	throughTopic string
	insecure     []string // what of TLS its settings switch off
	note         string   // for whoever reads the run; empty for none
}

// ratesOf are the rates that a command line asks for.
type ratesOf func(*cli.Context) ([]schedule.Rate, error)

// drafts are the steps in the order in which they run: each combination of what
// --vary varies, with each rate. Every step is read from a command line of its
// own, on which the varied flags stand, so any flag that shapes the load or the
// queue can vary.
func drafts(c *cli.Context, k kind, rates ratesOf, seed uint64) ([]draft, error) {
	return draftsFrom(c, seed, func(c *cli.Context, varied []command.Setting) ([]draft, error) {
		return draftsOf(c, k, rates, seed, varied)
	})
}

// draftsFrom are the steps of each combination, which of makes.
func draftsFrom(c *cli.Context, seed uint64, of func(c *cli.Context, varied []command.Setting) ([]draft, error)) ([]draft, error) {
	variants, err := variations(c)
	if err != nil {
		return nil, err
	}
	repeats := c.Int("repeats")
	if repeats < 1 {
		return nil, command.Misusef("--repeats %d: it is at least 1", repeats)
	}
	var once []draft
	for _, v := range variants {
		with, err := command.With(c, command.Given(c), addedTo(c, v.settings))
		if err != nil {
			return nil, command.Misusef("--vary: %w", err)
		}
		steps, err := of(with, v.settings)
		if err != nil {
			return nil, err
		}
		for _, d := range steps {
			if v.name != "" {
				d.Settings[variantName] = v.name
			}
		}
		if once = append(once, steps...); repeats > maxSteps/len(once) {
			return nil, command.Misusef("%d steps, each %d times, are more than %d: lower --repeats, or sweep fewer at once", len(once), repeats, maxSteps)
		}
	}
	var all []draft
	for k := range repeats {
		for i, d := range once {
			d.Step, d.Repeat = i, k
			if k == 0 && d.Schedule == nil {
				d.Schedule = d.first
			}
			if d.Schedule == nil {
				if d.Schedule, err = scheduleOf(d.arrivals, seed, k); err != nil {
					return nil, err
				}
			}
			if err := d.Check(); err != nil {
				return nil, command.Misuse(err)
			}
			all = append(all, d)
		}
	}
	return all, inOrder(c, all, seed)
}

// additive are the flags whose values are settings of their own: one that varies
// goes over those that are given, and leaves the others.
var additive = []string{"kafka-set", "X", "topic-config"}

// addedTo puts in front of a varied value of such a flag what was given of it.
func addedTo(c *cli.Context, varied []command.Setting) (all []command.Setting) {
	for _, s := range varied {
		if slices.Contains(additive, s.Name) {
			if given, ok := c.Generic(s.Name).(*command.Strings); ok {
				for _, v := range *given {
					all = append(all, command.Setting{Name: s.Name, Value: v})
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// draftsOf are the steps of one combination, a step for each rate.
func draftsOf(c *cli.Context, k kind, rates ratesOf, seed uint64, varied []command.Setting) ([]draft, error) {
	if err := k.refuseOthers(c); err != nil {
		return nil, err
	}
	open, err := k.parse(c)
	if err != nil {
		return nil, err
	}
	load, err := loadOf(c, k)
	if err != nil {
		return nil, err
	}
	through, err := throughOf(c, k, load)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(c, &load, through)
	if err != nil {
		return nil, err
	}
	profiles, err := profilesOf(c, rates)
	if err != nil {
		return nil, err
	}
	arrivals, err := arrivalsOf(c, load.Payload.Lines)
	if err != nil {
		return nil, err
	}
	var steps []draft
	for _, p := range profiles {
		d := draft{Plan: runner.Plan{Role: roleOf(c), Load: load, Through: through, Settings: map[string]string{}}, arrivals: arrivals, partitions: c.Int("partitions"), open: open, throughTopic: c.String("through"), note: schema}
		if k.insecure != nil {
			d.insecure = k.insecure(c)
		}
		d.arrivals.Profile = p
		if d.first, err = scheduleOf(d.arrivals, seed, 0); err != nil {
			return nil, err
		}
		d.Rate = p.Mean(d.first.Duration())
		for _, v := range varied {
			d.Settings[v.Name] = v.Value
		}
		d.Settings["rate"] = d.Rate.String()
		if d.Settings["arrivals"] != "" && load.Payload.Lines == nil { // which decide the size that is not given
			d.Settings["message-size"] = messageSize(c)
		}
		steps = append(steps, d)
	}
	return steps, nil
}

// loadOf reads who produces and consumes, and what.
func loadOf(c *cli.Context, k kind) (runner.Load, error) {
	if p := c.Int("partitions"); p < 1 || p > runner.MaxPartitions {
		return runner.Load{}, command.Misusef("--partitions %d: it is between 1 and %d", p, runner.MaxPartitions)
	}
	messages, err := payloadOf(c, k)
	if err != nil {
		return runner.Load{}, err
	}
	load := runner.Load{
		Payload: messages,
		Topics:  c.Int("topics"), Producers: c.Int("producers"), Groups: c.Int("groups"), Consumers: c.Int("consumers"),
		MaxInFlight: c.Int("max-in-flight"), DrainTimeout: c.Duration("drain-timeout"),
	}
	err = pacingOf(c, &load)
	return load, err
}

// inOrder puts steps into the order that --order asks for.
func inOrder(c *cli.Context, all []draft, seed uint64) error {
	switch order := c.String("order"); order {
	case "ascending", "": // run has no order
	case "shuffled":
		runner.Shuffle(all, seed)
	default:
		return command.Misusef("--order %q: say ascending or shuffled", order)
	}
	return nil
}

// opened turns a draft into the plan that runs, on stores that are open.
func (d draft) opened(clock *clock.Clock, stores *opened) runner.Plan {
	p := d.Plan
	p.Settings = maps.Clone(p.Settings)
	if d.note != "" && !slices.Contains(stores.warnings, d.note) {
		stores.warnings = append(stores.warnings, d.note)
	}
	env := queueEnv{
		run: stores.run, clock: clock, store: stores.tables, partitions: d.partitions,
		// A produce half knows of no consumers: there is one group at least.
		rate: d.Rate.PerSecond() / float64(d.Load.Topics), consumers: max(1, d.Load.Groups), prices: stores.prices,
	}
	stores.noteInsecure(d.insecure)
	open := stores.labelled(d.open(env))
	p.Through = d.throughOpened(d.open, env)
	p.Open = func(ctx context.Context, topic int) (queue.Queue, error) { return open(ctx, queueName(p, topic)) }
	return p
}

// queueName is the name of a topic of a step below the run's own prefix.
func queueName(p runner.Plan, topic int) string {
	name := fmt.Sprintf("step-%d-repeat-%d", p.Step, p.Repeat)
	if p.Load.Topics > 1 {
		name += fmt.Sprintf("-topic-%d", topic)
	}
	return name
}
