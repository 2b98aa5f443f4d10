package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/capacity"
	"queuebench/runner/schedule"
)

func capacityCommand() *cli.Command {
	return &cli.Command{
		Name:  "capacity",
		Usage: "search the highest rate that a queue holds",
		Description: `Prints a table of what happened at each rate that was tried, and the highest rate
that holds: no message overrun, failed or lost, and none of those that were due
left to pile up. It was found by bisection and held in a long run, and a rate just
above it did not. A search that does not come to that says why instead of a
number, and its exit status is 1. The last line is the address of the raw log,
which has every try as a step.`,
		UsageText: `   bench capacity --queue memory --service-time 100us --min 3500 --tolerance 40% --step-duration 1s --confirm-duration 2s`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "min", Usage: "rate to start from, in messages per second; it doubles until it does not hold", Value: "1000"},
			&cli.StringFlag{Name: "max", Usage: "highest rate that is tried", Value: "1000000"},
			&cli.StringFlag{Name: "step-duration", Aliases: []string{"duration", "d"}, Usage: "how long each rate lasts", DefaultText: "5s, or 20 commit intervals where that is longer"},
			&cli.StringFlag{Name: "confirm-duration", Usage: "how long the two runs last that confirm the answer", DefaultText: "four times --step-duration"},
			&cli.StringFlag{Name: "tolerance", Usage: "how far the answer may lie below the limit", Value: "5%"},
		}, without(loadFlags(), "duration", "seconds-to-stream", "vary", "repeats", "rate-profile", "messages", "payload-repeats")...),
		Action: func(c *cli.Context) error {
			return begin(c, readSearch)
		},
	}
}

// without leaves flags out.
func without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, command.Name(f)) })
}

// searcher makes the plans of a search, each from what became of the last.
type searcher struct {
	c             *cli.Context
	kind          kind
	cfg           *runner.Config
	min           float64       // rate to start from
	step, confirm time.Duration // 0 for the default
	search        *capacity.Search
	result        *rawlog.Capacity
}

// readSearch reads a search from the command line, and checks its ends.
func readSearch(c *cli.Context, k kind, cfg *runner.Config) (planner, error) {
	s := &searcher{c: c, kind: k, cfg: cfg}
	var ends [2]float64
	for i, name := range []string{"min", "max"} {
		r, err := schedule.ParseRate(c.String(name))
		if err != nil {
			return nil, command.Misusef("--%s: %v", name, err)
		}
		ends[i] = r.PerSecond()
	}
	tolerance, err := share("tolerance", c.String("tolerance"))
	if err != nil {
		return nil, err
	}
	search := capacity.Config{Min: ends[0], Max: ends[1], Tolerance: tolerance}
	if err := search.Check(); err != nil {
		return nil, command.Misuse(err)
	}
	for name, d := range map[string]*time.Duration{"step-duration": &s.step, "confirm-duration": &s.confirm} {
		if !command.IsSet(c, name) {
			continue
		}
		if *d, err = duration(name, c.String(name)); err != nil {
			return nil, err
		}
	}
	if s.step > 0 && s.confirm > 0 && s.confirm < s.step {
		return nil, command.Misusef("--confirm-duration %v is shorter than --step-duration %v: what confirms must be no shorter than what it confirms", s.confirm, s.step)
	}
	s.min = search.Min
	s.search, s.result = capacity.New(search), &rawlog.Capacity{Tolerance: tolerance, Tries: []rawlog.CapacityTry{}}
	for _, rate := range ends {
		if _, err := s.draft(rate, max(s.step, s.confirm, time.Second)); err != nil {
			return nil, err
		}
	}
	return s.plan, nil
}

// share reads "5%" or "0.05".
func share(name, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, command.Misusef("--%s %q: write 5%% or 0.05", name, text)
	}
	if percent {
		v /= 100
	}
	return v, nil
}

// draft is a step at a rate.
func (s *searcher) draft(rate float64, d time.Duration) (draft, error) {
	with, err := command.With(s.c, command.Given(s.c), []command.Setting{{Name: "step-duration", Value: d.String()}})
	if err != nil {
		return draft{}, err
	}
	steps, err := draftsOf(with, s.kind, func(*cli.Context) ([]schedule.Rate, error) {
		return []schedule.Rate{schedule.Rate(math.Round(rate * 1000))}, nil
	}, s.cfg.Seed, nil)
	if err != nil {
		return draft{}, err
	}
	one := steps[0]
	one.Schedule = one.first
	if err := one.Check(); err != nil {
		return draft{}, command.Misuse(err)
	}
	if !command.IsSet(s.c, "drain-timeout") {
		// Twice the rate that holds takes as long again to be drained.
		one.Load.DrainTimeout = max(one.Load.DrainTimeout, 3*d)
	}
	return one, nil
}

// plan gives the runner a search in the place of plans.
func (s *searcher) plan(stores *opened) error {
	first, err := s.draft(s.min, time.Second) // it is opened to be asked, and not driven
	if err != nil {
		return err
	}
	q, err := first.opened(s.cfg.Clock, stores).Open(s.c.Context, 0)
	if err != nil {
		return err
	}
	interval := q.Info().CommitInterval
	if err := q.Close(); err != nil {
		return err
	}
	least := runner.MinTrend(interval)
	if s.step == 0 {
		s.step = max(5*time.Second, 20*interval)
	}
	if s.step < least {
		return command.Misusef("--step-duration %v is too short to tell whether messages pile up: with this queue it takes at least %v", s.step, least)
	}
	if s.confirm == 0 {
		s.confirm = 4 * s.step
	}
	s.result.StepNs, s.result.ConfirmNs = int64(s.step), int64(s.confirm)
	s.cfg.Search = true
	s.cfg.Next = func(last *runner.StepResult) (runner.Plan, bool) { return s.next(last, stores) }
	return nil
}

// next takes what became of the last try, and makes the next one.
func (s *searcher) next(last *runner.StepResult, stores *opened) (runner.Plan, bool) {
	try, more := s.search.Next()
	if last != nil {
		s.tell(try, last)
		try, more = s.search.Next()
	}
	s.keep()
	if !more {
		return runner.Plan{}, false
	}
	d := s.step
	if try.Confirm {
		d = s.confirm
	}
	one, err := s.draft(try.Rate, d)
	if err != nil { // both ends were checked
		s.result.Reason = err.Error()
		return runner.Plan{}, false
	}
	one.Step = len(s.result.Tries)
	one.Settings["purpose"] = "search"
	if try.Confirm {
		one.Settings["purpose"] = "confirm"
	}
	return one.opened(s.cfg.Clock, stores), true
}

// tell judges a try.
func (s *searcher) tell(try capacity.Try, last *runner.StepResult) {
	why, own := last.NotHeld()
	v := capacity.Verdict{Held: why == "", Why: why, Own: own}
	if last.Failure != "" {
		v = capacity.Verdict{Why: "failed: " + last.Failure, Broken: "the step failed: " + last.Failure}
	}
	s.search.Tell(v)
	s.result.Tries = append(s.result.Tries, rawlog.CapacityTry{
		Step: len(s.result.Tries), Rate: try.Rate, Confirm: try.Confirm, Held: v.Held, Why: v.Why, PerSecond: finite(last.Trend.PerSecond), Z: last.Trend.Z,
	})
	text := "held"
	if !v.Held {
		text = "did not hold: " + v.Why
	}
	s.cfg.Note(fmt.Sprintf("%s messages per second %s", rateText(try.Rate), text))
}

// keep puts the state of the search into the manifest.
func (s *searcher) keep() {
	r := s.search.Result()
	f := s.result
	f.Converged, f.Rate, f.Reason, f.Held, f.NotHeld, f.Why, f.Warnings = r.Converged, r.Rate, r.Reason, r.Held, r.NotHeld, r.Why, r.Warnings
	s.cfg.Manifest.Capacity = f
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func rateText(rate float64) string { return strconv.FormatFloat(rate, 'f', -1, 64) }

// capacityText is the result of a search in words.
func capacityText(f *rawlog.Capacity) string {
	if !f.Converged {
		return "capacity: none to tell: " + f.Reason
	}
	text := fmt.Sprintf("capacity: %s messages per second, held for %v; %s did not hold: %s", rateText(f.Rate), time.Duration(f.ConfirmNs), rateText(f.NotHeld), f.Why)
	for _, w := range f.Warnings {
		text += "\nnote: " + w
	}
	return text
}

// reasonOf says why a search came to nothing.
func reasonOf(f *rawlog.Capacity) string {
	if f == nil || f.Reason == "" {
		return "the search was not finished"
	}
	return f.Reason
}
