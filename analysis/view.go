package analysis

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/stats"
)

// View is what to look at: the same type is the command line's flags, the
// page's address and the WASM module's argument.
type View struct {
	// Warmup is cut from the start of each step, by intended time. Automatic
	// (the default rule) when nil: 30 s for steps of two minutes and more, a
	// tenth of the step below that.
	Warmup *time.Duration
	// Steady cuts the warm-up where the latency has settled, by the data: see
	// docs/method.md. Warmup and WarmupUntil are not looked at then.
	Steady bool
	// WarmupUntil cuts what was intended before that time, ns since the epoch,
	// from each step; 0 for none. Warmup is not looked at then.
	WarmupUntil int64
	// Cooldown is cut from the end of each step, by intended time.
	Cooldown time.Duration
	// From and To are a window on each step, by intended time since its start:
	// what lies outside of it is cut from all numbers that a digest has by
	// interval. What is cut as warm-up or cool-down stays cut. 0 for a window
	// that begins with the step, or ends with it.
	From, To time.Duration
	// Interval is the least that a point of a series covers; 0 for the digest's
	// own.
	Interval time.Duration
	// Percentiles in percent, (0,100), ascending.
	Percentiles []float64
	// Kind is the latency drawn in the figures.
	Kind Kind
	// LogScale draws latencies on a logarithmic axis.
	LogScale bool
	// Lines are those of latency over time, as ParseLines has them; nil for the
	// usual ones.
	Lines []string
}

// DefaultPercentiles are shown when none are named.
var DefaultPercentiles = []float64{50, 75, 85, 95, 99, 99.9}

// Kind is one of the latencies.
type Kind int

// The latencies: from → to.
const (
	EndToEnd         Kind = iota // intended → received
	EndToEndFromSend             // sent → received
	Publish                      // intended → acked
	SendLag                      // intended → sent
	ToBroker                     // intended → stamp on the input's topic, only through a pipeline
	ThroughPipeline              // stamp on the input's topic → stamp on the output's, only through a pipeline
	BrokerToConsumer             // broker → received, only where the broker stamps
	Poll                         // call → return of a poll, closed loop only
	Imported                     // as another tool measured it, imported data only
	NumKinds
)

var kindNames = [NumKinds]string{"end_to_end", "end_to_end_from_send", "publish", "send_lag", "to_broker", "through_pipeline", "broker_to_consumer", "poll", "imported"}
var kindTitles = [NumKinds]string{"end-to-end", "end-to-end from send", "publish", "send lag", "to the broker", "through the pipeline", "broker to consumer", "poll", "imported"}

// String is the kind's name in JSON, digests and addresses.
func (k Kind) String() string { return kindNames[k] }

// Title is the kind's name for people.
func (k Kind) Title() string { return kindTitles[k] }

// ParseKind returns the latency of a name, as String has it; dashes are taken
// for underscores.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if strings.ReplaceAll(name, "-", "_") == n {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("no latency is called %q: there are %s", name, strings.Join(kindNames[:], ", "))
}

// maxPercentiles bounds what a page or a table is asked to show.
const maxPercentiles = 50

// ParsePercentiles reads percentiles in percent with commas between them,
// each in (0,100), and returns them ascending and each once.
func ParsePercentiles(text string) ([]float64, error) {
	var out []float64
	for field := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return nil, fmt.Errorf("percentile %q is not a number: write for instance 50,99,99.9", field)
		}
		if !(p > 0 && p < 100) {
			return nil, fmt.Errorf("percentile %s is not between 0 and 100: the minimum and the maximum are always shown", strings.TrimSpace(field))
		}
		// Finer ones exceed what a rank can be computed for exactly.
		if q := stats.FromPercent(p); math.Abs(q*1e12-math.Round(q*1e12)) > 1e-3 || q <= 0 {
			return nil, fmt.Errorf("percentile %s has more than 10 decimals", strings.TrimSpace(field))
		}
		out = append(out, p)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > maxPercentiles {
		return nil, fmt.Errorf("%d percentiles: at most %d can be shown", len(out), maxPercentiles)
	}
	return out, nil
}

// FormatPercent is a percentile's text, the key in JSON: "50", "99.9".
func FormatPercent(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

func formatPercentiles(ps []float64) string {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = FormatPercent(p)
	}
	return strings.Join(texts, ",")
}

// percentiles are those of v, or the default ones.
func (v View) percentiles() []float64 {
	if len(v.Percentiles) == 0 {
		return DefaultPercentiles
	}
	return v.Percentiles
}

// The keys of a fragment, which are the flags of the command line.
const (
	keyWarmup      = "warmup"
	keyCooldown    = "cooldown"
	keyFrom        = "from"
	keyTo          = "to"
	keyInterval    = "interval"
	keyPercentiles = "percentiles"
	keyLatency     = "latency"
	keyScale       = "scale"
	keyLines       = "lines"
)

// foreignKeys belong to the page, not to the view: what is looked at, not how.
var foreignKeys = []string{"log", "run", "step", "repeat", "view", "base", "label", "columns", "unit", "metric"}

// Fragment is v as the fragment of an address, without "#":
// warmup=3s&from=5s&to=65s&percentiles=50,99&latency=publish&scale=log. What has its default
// is left out.
func (v View) Fragment() string {
	var out []string
	if w := v.WarmupText(); w != "" {
		out = append(out, keyWarmup+"="+w)
	}
	if v.Cooldown != 0 {
		out = append(out, keyCooldown+"="+durationText(v.Cooldown))
	}
	if v.From != 0 {
		out = append(out, keyFrom+"="+durationText(v.From))
	}
	if v.To != 0 {
		out = append(out, keyTo+"="+durationText(v.To))
	}
	if v.Interval != 0 {
		out = append(out, keyInterval+"="+durationText(v.Interval))
	}
	if len(v.Percentiles) > 0 {
		out = append(out, keyPercentiles+"="+formatPercentiles(v.Percentiles))
	}
	if v.Kind != EndToEnd {
		out = append(out, keyLatency+"="+v.Kind.String())
	}
	if v.LogScale {
		out = append(out, keyScale+"=log")
	}
	if len(v.Lines) > 0 {
		out = append(out, keyLines+"="+strings.Join(v.Lines, ","))
	}
	return strings.Join(out, "&")
}

// ParseFragment reads what Fragment writes, with or without "#" and with the
// keys in any order. The page's own keys (log, run, step, repeat, view) are
// passed over; any other is an error that names it.
func ParseFragment(text string) (View, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(text, "#"))
	if err != nil {
		return View{}, fmt.Errorf("the address's fragment: %w", err)
	}
	var v View
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(foreignKeys, key) {
			continue
		}
		if len(values[key]) != 1 {
			return View{}, fmt.Errorf("%s is given %d times", key, len(values[key]))
		}
		value := values[key][0]
		switch key {
		case keyWarmup:
			if err := v.SetWarmup(value); err != nil {
				return View{}, err
			}
		case keyCooldown:
			if v.Cooldown, err = ParseCooldown(value); err != nil {
				return View{}, err
			}
		case keyFrom:
			if v.From, err = ParseWindowEdge(value); err != nil {
				return View{}, err
			}
		case keyTo:
			if v.To, err = ParseWindowEdge(value); err != nil {
				return View{}, err
			}
		case keyInterval:
			if v.Interval, err = ParseInterval(value); err != nil {
				return View{}, err
			}
		case keyPercentiles:
			if v.Percentiles, err = ParsePercentiles(value); err != nil {
				return View{}, err
			}
		case keyLatency:
			if v.Kind, err = ParseKind(value); err != nil {
				return View{}, err
			}
		case keyLines:
			if v.Lines, err = ParseLines(value); err != nil {
				return View{}, err
			}
		case keyScale:
			switch value {
			case "log":
				v.LogScale = true
			case "linear":
			default:
				return View{}, fmt.Errorf("scale %q: there are linear and log", value)
			}
		default:
			return View{}, fmt.Errorf("unknown key %q: there are %s", key, strings.Join([]string{keyWarmup, keyCooldown, keyFrom, keyTo, keyInterval, keyPercentiles, keyLatency, keyScale, keyLines}, ", "))
		}
	}
	return v, v.CheckWindow()
}
