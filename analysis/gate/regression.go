package gate

import (
	"fmt"
	"strconv"
	"strings"

	"queuebench/stats"
)

// Regression is by how much a percentile may be above that of the base: p99=10%.
type Regression struct {
	Metric Metric
	Rate   float64 // of the steps it is about; 0 is all
	Share  float64 // 0.1: a tenth
}

// String is the limit as ParseRegression reads it.
func (r Regression) String() string {
	text := r.Metric.String()
	if r.Rate > 0 {
		text += "@" + strconv.FormatFloat(r.Rate, 'f', -1, 64)
	}
	return text + "=" + percentText(r.Share)
}

// ParseRegression reads p99=10%, publish.p99.9=5%, p99@10000=0.5%.
func ParseRegression(text string) (Regression, error) {
	var r Regression
	what, share, ok := strings.Cut(text, "=")
	number, percent := strings.CutSuffix(strings.TrimSpace(share), "%")
	number = strings.TrimSpace(number)
	if !ok || !percent || number == "" || strings.Trim(number, "0123456789.") != "" {
		return r, fmt.Errorf("%w: %.60q: write for instance p99=10%%", ErrSLO, text)
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v > 1e6 {
		return r, fmt.Errorf("%w: %.60q: %.40q is no share", ErrSLO, text, share)
	}
	name, rate, has := strings.Cut(strings.TrimSpace(what), "@")
	if has {
		if r.Rate, err = parseRate(strings.TrimSpace(rate)); err != nil {
			return Regression{}, fmt.Errorf("%w: %.60q: %w", ErrSLO, text, err)
		}
	}
	if r.Metric, err = ParseMetric(strings.TrimSpace(name)); err != nil {
		return Regression{}, err
	}
	if r.Metric.Percent == 0 {
		return Regression{}, fmt.Errorf("%w: %.60q: only percentiles are compared with a base: hold %s to a limit of its own with --slo", ErrSLO, text, r.Metric)
	}
	r.Share = stats.FromPercent(v)
	return r, nil
}
