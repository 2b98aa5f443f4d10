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

	"queuebench/stats"
)

// ErrSLO: a text is no limit.
var ErrSLO = errors.New("not a limit")

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
		if d < 0 {
			return fmt.Errorf("the limit %.40q is negative, which no latency should be: write for instance 150ms", text)
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
