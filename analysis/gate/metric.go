package gate

import (
	"fmt"
	"strings"

	"queuebench/analysis"
)

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
	// Name is p50, p99.9, min, mean or max of a latency, or another of MetricNames.
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
