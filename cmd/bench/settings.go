package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner"
	"queuebench/runner/schedule"
)

// newRunID is a run id that sorts by time: 20060102t150405z and six random
// letters.
func newRunID(now time.Time) string {
	return now.UTC().Format("20060102t150405z") + "-" + strings.ToLower(rand.Text()[:6])
}

// runID is what may be a part of keys and paths everywhere.
var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$`)

func checkRunID(id string) error {
	if !runID.MatchString(id) {
		return command.Misusef("%q is no run id: use up to 80 letters, digits, hyphens and underscores, a letter or digit first", id)
	}
	if id == tablesPrefix || id == runsPrefix {
		return command.Misusef("%q is no run id: it is the folder that all runs of a store share", id)
	}
	return nil
}

// duration reads "10s", or a plain number of seconds.
func duration(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		var seconds float64
		if seconds, err = strconv.ParseFloat(text, 64); err == nil {
			if math.IsNaN(seconds) {
				err = errors.New("not a number")
			}
			// Clamped, since a conversion that overflows has any sign.
			d = time.Duration(max(-1, min(seconds, runner.MaxDuration.Seconds()+1)) * float64(time.Second))
		}
	}
	switch {
	case err != nil:
		return 0, command.Misusef("--%s %q: write 10s, 5m, or a number of seconds", name, text)
	case d <= 0:
		return 0, command.Misusef("--%s %s is not positive: write 10s, 5m, or a number of seconds", name, text)
	case d > runner.MaxDuration:
		return 0, command.Misusef("--%s %s is longer than %v", name, text, runner.MaxDuration)
	}
	return d, nil
}

// loadDuration is how long each rate lasts.
func loadDuration(c *cli.Context) (time.Duration, error) {
	short, long := command.IsSet(c, "duration"), command.IsSet(c, "seconds-to-stream")
	switch {
	case short && long:
		return 0, command.Misusef("--duration and --seconds-to-stream say the same: give one")
	case long:
		return duration("seconds-to-stream", c.String("seconds-to-stream"))
	}
	return duration("duration", c.String("duration"))
}

// maxRates bounds a range that was mistyped, maxSteps all steps of a sweep.
const (
	maxRates = 1000
	maxSteps = 10_000
)

// sweepRates are the rates of --rates or of the range, ascending.
func sweepRates(c *cli.Context) ([]schedule.Rate, error) {
	var list command.Strings
	if given, ok := c.Generic("rates").(*command.Strings); ok {
		list = *given
	}
	var rates []schedule.Rate
	for _, item := range list {
		for text := range strings.SplitSeq(item, ",") {
			r, err := schedule.ParseRate(text)
			if err != nil {
				return nil, command.Misusef("--rates: %v", err)
			}
			rates = append(rates, r)
		}
	}
	inRange := 0
	var ends [3]schedule.Rate
	for i, name := range []string{"range-start", "range-end", "range-step"} {
		if !command.IsSet(c, name) {
			continue
		}
		inRange++
		var err error
		if ends[i], err = schedule.ParseRate(c.String(name)); err != nil {
			return nil, command.Misusef("--%s: %v", name, err)
		}
	}
	switch {
	case inRange > 0 && len(list) > 0:
		return nil, command.Misusef("--rates and --range-start, --range-end, --range-step both name the rates: give one of the two")
	case inRange == 0 && len(list) == 0:
		return nil, command.Misusef("no rate is given: add --rates 1000,10000, or --range-start, --range-end and --range-step")
	case inRange > 0 && inRange < 3:
		return nil, command.Misusef("a range needs --range-start, --range-end and --range-step, all three")
	case inRange == 3:
		if ends[1] < ends[0] {
			return nil, command.Misusef("the range ends before it starts: --range-end %s is below --range-start %s", ends[1], ends[0])
		}
		if n := (ends[1] - ends[0]) / ends[2]; n >= maxRates {
			return nil, command.Misusef("the range has %d rates, more than %d: raise --range-step", n+1, maxRates)
		}
		for r := ends[0]; r <= ends[1]; r += ends[2] {
			rates = append(rates, r)
		}
	}
	slices.Sort(rates)
	for i := 1; i < len(rates); i++ {
		if rates[i] == rates[i-1] {
			return nil, command.Misusef("rate %s is given twice: --repeats runs each rate several times", rates[i])
		}
	}
	return rates, nil
}

// seedOf is --seed, or a random one, which the log keeps.
func seedOf(c *cli.Context) (uint64, error) {
	if command.IsSet(c, "seed") {
		return c.Uint64("seed"), nil
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1<<53)) // fits every JSON reader
	if err != nil {
		return 0, err
	}
	return n.Uint64(), nil
}

// settings are all flags of a command as text, for the log. No flag holds a
// secret.
func settings(c *cli.Context) map[string]string {
	m := map[string]string{"command": c.Command.Name}
	for _, f := range c.Command.Flags {
		name := command.Name(f)
		if name == "help" {
			continue
		}
		if list, ok := c.Generic(name).(*command.Strings); ok {
			m[name] = strings.Join(*list, ",")
			continue
		}
		m[name] = fmt.Sprint(c.Value(name))
	}
	return m
}
