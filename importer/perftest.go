package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"queuebench/analysis"
)

func isPerfTestCSV(head []byte) bool {
	return bytes.HasPrefix(firstLine(head), []byte("id,time (s),")) || bytes.HasPrefix(firstLine(head), []byte("time (s),")) && bytes.Contains(firstLine(head), []byte("consumer latency"))
}

var perfTestSeries = []struct{ word, name, what string }{
	{"consumer", "PerfTest consumer", "from the stamp that a publisher puts into a message to its receipt"},
	{"confirm", "PerfTest confirm", "from publishing to the broker's confirm"},
}

var perfTestValues = map[string]string{"median": "50", "75th p.": "75", "95th p.": "95", "99th p.": "99"}

// perfTestColumn is what a column of a latency means.
type perfTestColumn struct {
	series int
	what   string // min, median, 75th p., …
	unit   time.Duration
}

// parsePerfTest reads a column's name, such as "95th p. consumer latency (µs)".
// The µ may have been mangled on its way.
func parsePerfTest(name string) (perfTestColumn, bool, error) {
	what, rest, ok := strings.Cut(name, " latency (")
	unit, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return perfTestColumn{}, false, nil
	}
	at := strings.LastIndex(what, " ")
	if at < 0 {
		return perfTestColumn{}, false, nil
	}
	c := perfTestColumn{series: slices.IndexFunc(perfTestSeries, func(x struct{ word, name, what string }) bool { return x.word == what[at+1:] }), what: what[:at]}
	if c.series < 0 {
		return c, false, nil
	}
	var err error
	if c.unit, err = ParseUnit(unit); err == nil {
		return c, true, nil
	}
	if mu, isSecond := strings.CutSuffix(unit, "s"); isSecond && mu != "" && !strings.ContainsFunc(mu, func(r rune) bool { return r < utf8.RuneSelf && r != '?' }) {
		c.unit = time.Microsecond // "?s", "\ufffds", "Âµs"
		return c, true, nil
	}
	return c, false, fmt.Errorf("column %q: %w", name, err)
}

func readPerfTestCSV(s *source) (*analysis.Digest, error) {
	var header []string
	columns := map[int]perfTestColumn{}
	timelines := make([][]analysis.ReferencePoint, len(perfTestSeries))
	err := s.eachRecord(',', func(f []string) error {
		if header == nil {
			header = slices.Clone(f)
			for i, name := range header {
				c, ok, err := parsePerfTest(name)
				if err != nil {
					return err
				}
				if ok {
					columns[i] = c
				}
			}
			if len(columns) == 0 {
				return fmt.Errorf("the header has no latency")
			}
			return nil
		}
		if len(f) != len(header) {
			return fmt.Errorf("%d columns, the header has %d", len(f), len(header))
		}
		if len(timelines[0]) == maxPoints {
			return errPoints
		}
		rows := make([]analysis.ReferencePoint, len(perfTestSeries))
		for k := range rows {
			rows[k].Percentiles = map[string]analysis.ReferenceValue{}
		}
		for i, text := range f {
			if text == "" {
				continue
			}
			var err error
			switch c, isLatency := columns[i]; {
			case isLatency:
				err = c.put(&rows[c.series], text)
			case header[i] == "id":
				rows[0].Label, rows[1].Label = strings.Clone(text), strings.Clone(text)
			case header[i] == "time (s)":
				var ns int64
				ns, err = scaled(text, time.Second)
				rows[0].AtNs, rows[1].AtNs = &ns, &ns
			case header[i] == "received (msg/s)":
				rows[0].Rate, err = number(text)
			case header[i] == "confirmed (msg/s)":
				rows[1].Rate, err = number(text)
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", header[i], err)
			}
		}
		for k, p := range rows {
			if p.AtNs != nil {
				p.Label = strings.TrimPrefix(p.Label+" at "+analysis.FormatLatency(*p.AtNs), " ")
			}
			timelines[k] = append(timelines[k], p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rs []analysis.Reference
	for k, x := range perfTestSeries {
		timeline := slices.DeleteFunc(timelines[k], func(p analysis.ReferencePoint) bool { return len(p.Percentiles) == 0 && p.MinNs == nil })
		if len(timeline) == 0 {
			continue
		}
		rs = append(rs, analysis.Reference{
			Name: x.name, Format: "PerfTest CSV", Source: s.base(), Latency: x.what,
			PercentileDefinition: "of each second, interpolated by PerfTest's metrics library from a sample of its values",
			Notes:                []string{"a row is a second of the run; none is of the whole, and seconds are not merged"},
			Points:               []analysis.ReferencePoint{}, Timeline: timeline,
		})
	}
	if len(rs) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	return s.reference("PerfTest", rs...)
}

func (c perfTestColumn) put(p *analysis.ReferencePoint, text string) error {
	ns, err := scaled(text, c.unit)
	if err != nil {
		return err
	}
	switch percent, ok := perfTestValues[c.what]; {
	case ok:
		p.Percentiles[percent] = analysis.ReferenceValue{Ns: ns}
	case c.what == "min":
		p.MinNs = &ns
	case c.what == "max":
		p.MaxNs = &ns
	}
	return nil
}

func isPerfTestJSON(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"avg-latency"`))
}

// perfTestRow is a sample, or a whole run.
type perfTestRow struct {
	Elapsed *float64      `json:"elapsed"` // ms
	Min     *float64      `json:"min-latency"`
	Avg     *float64      `json:"avg-latency"`
	Max     *float64      `json:"max-latency"`
	Rate    float64       `json:"recv-msg-rate"`
	Samples []perfTestRow `json:"samples"`
}

func (r *perfTestRow) point(label string, unit time.Duration) (analysis.ReferencePoint, error) {
	p := analysis.ReferencePoint{Label: label, Rate: r.Rate, Percentiles: map[string]analysis.ReferenceValue{}}
	for _, x := range []struct {
		from *float64
		to   **int64
		unit time.Duration
	}{{r.Min, &p.MinNs, unit}, {r.Avg, &p.MeanNs, unit}, {r.Max, &p.MaxNs, unit}, {r.Elapsed, &p.AtNs, time.Millisecond}} {
		if x.from == nil {
			continue
		}
		ns, err := carried(*x.from, x.unit)
		if err != nil {
			return p, err
		}
		*x.to = &ns
	}
	return p, nil
}

// readPerfTestJSON reads what `PerfTestMulti` writes: means and extremes, no
// percentile.
func readPerfTestJSON(s *source) (*analysis.Digest, error) {
	body, err := s.whole()
	if err != nil {
		return nil, err
	}
	runs := map[string]perfTestRow{}
	if err := json.Unmarshal(body, &runs); err != nil {
		return nil, s.jsonError(body, err)
	}
	unit := cmp.Or(s.opt.Unit, time.Microsecond)
	r := analysis.Reference{
		Name: "PerfTest consumer", Format: "PerfTest JSON", Source: s.base(), Latency: perfTestSeries[0].what, PercentileDefinition: "none: it has minimum, mean and maximum only",
		Notes: []string{fmt.Sprintf("the file carries no unit: values are read as %s (--unit says otherwise)", unitName(unit))},
	}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		run := runs[name]
		if run.Avg == nil && len(run.Samples) == 0 {
			continue
		}
		if len(r.Points)+len(r.Timeline)+len(run.Samples) > maxPoints {
			return nil, s.fail(0, "%w", errPoints)
		}
		p, err := run.point(name, unit)
		if err != nil {
			return nil, s.fail(0, "%s: %w", name, err)
		}
		r.Points = append(r.Points, p)
		for i := range run.Samples {
			p, err := run.Samples[i].point(fmt.Sprintf("%s, sample %d", name, i+1), unit)
			if err != nil {
				return nil, s.fail(0, "%s, sample %d: %w", name, i+1, err)
			}
			r.Timeline = append(r.Timeline, p)
		}
	}
	if len(r.Points) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	return s.reference("PerfTest", r)
}
