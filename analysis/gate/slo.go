// Package gate holds a run to limits, and to what an earlier one reached: the
// judgement of a CI job.
//
// A limit is held, broken, or not supported by the data: a percentile without
// enough messages, a latency that grows, a load that the runner could not make, or
// too few runs to tell. It refuses to call the last one a success. The package
// reads digests and writes text, JSON, JUnit XML and annotations for GitHub; it
// knows no files.
package gate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
)

// ErrSLO: a text is no limit.
var ErrSLO = errors.New("not a limit")

// unit is what a limit is written in.
type unit int

const (
	nanoseconds unit = iota // 150ms
	count                   // 0, or a share of what was scheduled: 0.1%
	perSecond               // 9900, or a share of the rate: 99%
	ratio                   // 0.05, or 5%
)

// Metric is what a limit is about.
type Metric struct {
	// Kind of the latency, where it is one; HasKind tells whether it was named:
	// else it is the latency that the step is about.
	Kind    analysis.Kind
	HasKind bool
	// Name is p50, p99.9, min, mean or max of a latency, or one of Counts or
	// Rates.
	Name string
	// Percent is that of a percentile, and 0 of others.
	Percent float64
}

// counts are numbers of messages, by their name in a limit.
var counts = []struct {
	name string
	of   func(*analysis.Accounting) int64
	// missing: what a step that was cut off does not tell.
	missing bool
}{
	{"lost", func(a *analysis.Accounting) int64 { return a.Lost }, true},
	{"duplicates", func(a *analysis.Accounting) int64 { return a.Duplicates }, true},
	{"out_of_order", func(a *analysis.Accounting) int64 { return a.OutOfOrder }, true},
	{"failed", func(a *analysis.Accounting) int64 { return a.Failed }, true},
	{"unconfirmed", func(a *analysis.Accounting) int64 { return a.Unconfirmed }, true},
	{"overrun", func(a *analysis.Accounting) int64 { return a.Overrun }, true},
	{"unknown", func(a *analysis.Accounting) int64 { return a.Unknown }, false},
	{"foreign", func(a *analysis.Accounting) int64 { return a.Foreign }, true},
	{"negative", func(a *analysis.Accounting) int64 { return a.Negative }, true},
	{"rejected", func(a *analysis.Accounting) int64 { return a.RecordsRejected }, true},
}

// The metrics of throughput: messages received per second after the cut, or
// operations of a closed loop, and its coefficient of variation.
const (
	receivedPerS = "received_per_s"
	cov          = "cov"
)

// MetricNames are all names but the percentiles, for messages.
func MetricNames() []string {
	out := []string{"min", "mean", "max", receivedPerS, cov}
	for _, c := range counts {
		out = append(out, c.name)
	}
	return out
}

// String is the metric as a limit has it.
func (m Metric) String() string {
	if m.HasKind {
		return m.Kind.String() + "." + m.Name
	}
	return m.Name
}

func (m Metric) unit() unit {
	switch m.Name {
	case receivedPerS:
		return perSecond
	case cov:
		return ratio
	case "min", "mean", "max":
		return nanoseconds
	}
	if m.Percent > 0 {
		return nanoseconds
	}
	return count
}

// ParseMetric reads p99, publish.p99.9, send_lag.max, lost, received_per_s.
func ParseMetric(text string) (Metric, error) {
	var m Metric
	kind, name := "", text
	// A dot stands in p99.9 too: a kind is what is before the first dot and no
	// percentile.
	if before, after, ok := strings.Cut(text, "."); ok {
		if _, err := percentOf(before); err != nil {
			kind, name = before, after
		}
	}
	if kind != "" {
		k, err := analysis.ParseKind(kind)
		if err != nil {
			return m, fmt.Errorf("%w: %w", ErrSLO, err)
		}
		m.Kind, m.HasKind = k, true
	}
	m.Name = strings.ReplaceAll(name, "-", "_")
	percent, err := percentOf(m.Name)
	switch {
	case err == nil:
		m.Percent = percent
		m.Name = "p" + analysis.FormatPercent(percent)
		return m, nil
	case strings.HasPrefix(name, "p") && len(name) > 1 && strings.Trim(name[1:], "0123456789.") == "":
		return m, fmt.Errorf("%w: %w", ErrSLO, err)
	}
	for _, known := range MetricNames() {
		if m.Name == known {
			if m.HasKind && m.unit() != nanoseconds {
				return m, fmt.Errorf("%w: %s has no %s: write %s alone", ErrSLO, kind, name, name)
			}
			return m, nil
		}
	}
	return m, fmt.Errorf("%w: nothing is measured that is called %.60q: there are p50, p99.9 and any other percentile, %s, each of the first four also of one latency, such as publish.p99",
		ErrSLO, text, strings.Join(MetricNames(), ", "))
}

// percentOf reads p99.9.
func percentOf(name string) (float64, error) {
	text, ok := strings.CutPrefix(name, "p")
	if !ok || text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, fmt.Errorf("%.40q is no percentile", name)
	}
	ps, err := analysis.ParsePercentiles(text)
	if err != nil {
		return 0, err
	}
	return ps[0], nil
}

// Op compares a value with a limit.
type Op string

// The comparisons, those of two characters first: one may begin as another does.
var ops = []Op{"<=", ">=", "==", "!=", "<", ">"}

func (o Op) holds(value, limit float64) bool {
	switch o {
	case "<":
		return value < limit
	case "<=":
		return value <= limit
	case ">":
		return value > limit
	case ">=":
		return value >= limit
	case "==":
		return value == limit
	}
	return value != limit
}

// SLO is a limit: METRIC[@RATE] OP VALUE.
type SLO struct {
	Metric Metric
	// Rate is that of the steps it is about; 0 is all.
	Rate float64
	Op   Op
	// Limit in ns, messages, messages per second, or a ratio; where Share is true
	// a share in [0,∞) of what was scheduled, or of the rate.
	Limit float64
	Share bool
}

// String is the limit as ParseSLO reads it.
func (s SLO) String() string {
	text := s.Metric.String()
	if s.Rate > 0 {
		text += "@" + strconv.FormatFloat(s.Rate, 'f', -1, 64)
	}
	return text + string(s.Op) + s.limitText()
}

func (s SLO) limitText() string {
	switch {
	case s.Share:
		return percentText(s.Limit)
	case s.Metric.unit() == nanoseconds:
		return strings.ReplaceAll(time.Duration(s.Limit).String(), "µ", "u")
	}
	return strconv.FormatFloat(s.Limit, 'f', -1, 64)
}

// percentText is a share in percent. The decimal point is moved in the text, so
// that what is read again is the same number.
func percentText(share float64) string {
	v, err := strconv.ParseFloat(strconv.FormatFloat(share, 'f', -1, 64)+"e2", 64)
	if err != nil {
		return "?"
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "%"
}

// ParseSLO reads a limit: p99<150ms, lost==0, p99.9@10000<400ms,
// publish.p99<20ms, received_per_s>=99%, overrun<=0.1%. Spaces may stand between
// its parts.
func ParseSLO(text string) (SLO, error) {
	var s SLO
	at, op := -1, Op("")
	for _, o := range ops {
		if i := strings.Index(text, string(o)); i >= 0 && (at < 0 || i < at) {
			at, op = i, o
		}
	}
	if at < 0 {
		return s, fmt.Errorf("%w: %.60q has no comparison: write for instance p99<150ms or lost==0", ErrSLO, text)
	}
	what, limit := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(op):])
	s.Op = op
	name, rate, has := strings.Cut(what, "@")
	if has {
		var err error
		if s.Rate, err = parseRate(strings.TrimSpace(rate)); err != nil {
			return SLO{}, fmt.Errorf("%w: %.60q: %w", ErrSLO, text, err)
		}
	}
	var err error
	if s.Metric, err = ParseMetric(strings.TrimSpace(name)); err != nil {
		return SLO{}, err
	}
	if err := s.parseLimit(limit); err != nil {
		return SLO{}, fmt.Errorf("%w: %.60q: %w", ErrSLO, text, err)
	}
	return s, nil
}

func parseRate(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.40q after @ is no rate in messages per second", text)
	}
	return v, nil
}

func (s *SLO) parseLimit(text string) error {
	u := s.Metric.unit()
	if u == nanoseconds {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("the limit %.40q is no duration: write for instance 150ms", text)
		}
		if s.Limit = float64(d); int64(s.Limit) != int64(d) {
			return fmt.Errorf("the limit %.40q is finer than can be told: at that length write whole microseconds", text)
		}
		return nil
	}
	number, share := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) || v > 1e15 || strings.Trim(strings.TrimSpace(number), "0123456789.") != "" {
		return fmt.Errorf("the limit %.40q is no number such as 0, 9900 or 0.1%%", text)
	}
	if share {
		v = stats.FromPercent(v)
	}
	s.Limit, s.Share = v, share
	if u == ratio {
		s.Share = false // 5% is 0.05
	}
	if u == count && !share && v != math.Trunc(v) {
		return fmt.Errorf("the limit %.40q is no whole number of messages", text)
	}
	return nil
}
