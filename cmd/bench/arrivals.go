package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// arrivalFlags say when messages are due.
func arrivalFlags() []cli.Flag {
	var kinds []string
	for _, k := range schedule.Kinds() {
		kinds = append(kinds, string(k))
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "arrivals", Usage: "how messages follow each other: " + strings.Join(kinds, ", "), Value: string(schedule.ConstantArrivals)},
		&cli.StringFlag{Name: "burst-size", Usage: "messages of a burst, all due at the same instant, or all: the whole step is one burst", DefaultText: "none"},
		&cli.StringFlag{Name: "rate-profile", Usage: "a rate that changes, in the place of one rate: 0s:1000,60s:5000 steps to 5,000 at 60 s, 0s:1000,60s~5000 climbs to it", DefaultText: "none"},
		&cli.Int64Flag{Name: "messages", Usage: "end a step after so many messages; with --duration, whichever comes first", DefaultText: "no limit"},
	}
}

// profilesOf are the rates of the steps: one for each rate, or the profile.
func profilesOf(c *cli.Context, rates ratesOf) ([]schedule.Profile, error) {
	if command.IsSet(c, "rate-profile") {
		for _, name := range []string{"rate", "rates", "range-start", "range-end", "range-step"} {
			if command.IsSet(c, name) {
				return nil, command.Misusef("--rate-profile and --%s both name the rate: give one of the two", name)
			}
		}
		p, err := schedule.ParseProfile(c.String("rate-profile"))
		if err != nil {
			return nil, command.Misusef("--rate-profile: %v", err)
		}
		return []schedule.Profile{p}, nil
	}
	list, err := rates(c)
	if err != nil {
		return nil, err
	}
	var all []schedule.Profile
	for _, r := range list {
		all = append(all, schedule.Steady(r))
	}
	return all, nil
}

// arrivalsOf reads everything of a schedule but its rate and its seed.
func arrivalsOf(c *cli.Context, lines *payload.Lines) (schedule.Spec, error) {
	var s schedule.Spec
	var err error
	if s.Kind, err = schedule.ParseKind(c.String("arrivals")); err != nil {
		return s, command.Misusef("--arrivals: %v", err)
	}
	if s.Messages, err = messagesOf(c, lines); err != nil {
		return s, err
	}
	if s.Messages == 0 || command.IsSet(c, "duration") || command.IsSet(c, "seconds-to-stream") {
		if s.Duration, err = loadDuration(c); err != nil {
			return s, err
		}
	}
	s.Burst, err = burstOf(c, s.Kind)
	return s, err
}

// messagesOf is the number of messages that ends a step, 0 for none.
func messagesOf(c *cli.Context, lines *payload.Lines) (int64, error) {
	n, repeats := c.Int64("messages"), c.Int64("payload-repeats")
	switch {
	case command.IsSet(c, "messages") && n <= 0:
		return 0, command.Misusef("--messages %d is not positive", n)
	case !command.IsSet(c, "payload-repeats"):
		return n, nil
	case lines == nil:
		return 0, command.Misusef("--payload-repeats does nothing without --payload-file")
	case command.IsSet(c, "messages"):
		return 0, command.Misusef("--messages and --payload-repeats both say how many messages there are: give one")
	case repeats <= 0 || repeats > maxMessages/lines.Count():
		return 0, command.Misusef("--payload-repeats %d is not between 1 and %d, for a file of %d lines", repeats, maxMessages/lines.Count(), lines.Count())
	}
	return repeats * lines.Count(), nil
}

// maxMessages of a step, far beyond what a month could have.
const maxMessages = 1 << 50

// burstOf is the size of a burst, 0 for all in one.
func burstOf(c *cli.Context, kind schedule.Kind) (int64, error) {
	text := c.String("burst-size")
	switch {
	case kind != schedule.BurstArrivals && text != "":
		return 0, command.Misusef("--burst-size does nothing with --arrivals %s: it belongs to --arrivals burst", kind)
	case kind != schedule.BurstArrivals, text == "all":
		return 0, nil
	case text == "":
		return 0, command.Misusef("--arrivals burst needs --burst-size: a number of messages, or all")
	}
	n, err := wholeNumber(text)
	if err != nil || n <= 0 {
		return 0, command.Misusef("--burst-size %q: say a number of messages, or all", text)
	}
	return n, nil
}

// scheduleOf makes the schedule of a repeat. Repeats differ in what is random,
// so that they are samples of it; steps of other settings do not, so that they
// are compared on the same arrivals.
func scheduleOf(s schedule.Spec, seed uint64, repeat int) (schedule.Schedule, error) {
	s.Seed = seed + uint64(repeat)
	made, err := schedule.New(s)
	if err != nil {
		return nil, command.Misuse(err)
	}
	return made, nil
}
