package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"queuebench/analysis"
)

func isOMB(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"driver"`)) && bytes.Contains(head, []byte(`"publishRate"`))
}

// ombLatency is a latency of the OpenMessaging Benchmark.
type ombLatency struct {
	key  string // "EndToEndLatency"; of windows with a small first letter
	name string
	// unit: publish delays are in µs, all else is in ms.
	unit time.Duration
	what string
}

var ombLatencies = []ombLatency{
	{"EndToEndLatency", "OMB end-to-end", time.Millisecond, "from the stamp that a producer puts into a message when it sends it to its receipt: the delay before sending is not in it, and stamps are of whole ms"},
	{"PublishLatency", "OMB publish", time.Millisecond, "from sending to the acknowledgement: the delay before sending is not in it"},
	{"PublishDelayLatency", "OMB publish delay", time.Microsecond, "from the intended time to sending"},
}

// ombValues are the fields of a latency.
var ombValues = []struct{ suffix, percent string }{
	{"50pct", "50"}, {"75pct", "75"}, {"95pct", "95"}, {"99pct", "99"}, {"999pct", "99.9"}, {"9999pct", "99.99"},
}

func readOMB(s *source) (*analysis.Digest, error) {
	body, err := s.whole()
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, s.jsonError(body, err)
	}
	o := omb{fields: fields}
	var rs []analysis.Reference
	rate := o.meanOf("publishRate")
	source := s.base()
	if w, d := o.text("workload"), o.text("driver"); w != "" {
		source += fmt.Sprintf(" (workload %s, driver %s)", w, d)
	}
	for _, l := range ombLatencies {
		r := analysis.Reference{
			Name: l.name, Format: "OpenMessaging Benchmark result", Source: source, Latency: l.what,
			PercentileDefinition: "HdrHistogram of 5 digits over the whole run: the upper edge of the bucket that holds the percentile",
			Notes: []string{
				"the length of its windows (10 s) is not in the file; their percentiles are of each window, and are not merged",
				"its rate is the mean of the windows' publish rates",
			},
		}
		if l.unit == time.Microsecond {
			r.Notes = append(r.Notes, "in µs in the file, where all other latencies are in ms")
		}
		p := o.aggregate(l)
		if p != nil {
			p.Rate = rate
			r.Points = []analysis.ReferencePoint{*p}
		}
		r.Timeline = o.windows(l)
		if p != nil || len(r.Timeline) > 0 {
			rs = append(rs, r)
		}
		if o.err != nil {
			return nil, s.fail(0, "%w", o.err)
		}
	}
	if len(rs) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	return s.reference("OpenMessaging Benchmark", rs...)
}

// jsonError names the line of an error of JSON.
func (s *source) jsonError(body []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return s.fail(lineOf(body, syntax.Offset), "%w", err)
	case errors.As(err, &kind):
		return s.fail(lineOf(body, kind.Offset), "%w", err)
	}
	return s.fail(0, "%w", err)
}

// omb reads fields and keeps the first error.
type omb struct {
	fields map[string]json.RawMessage
	err    error
}

func (o *omb) read(key string, to any) bool {
	raw, ok := o.fields[key]
	if !ok || string(raw) == "null" || o.err != nil {
		return false
	}
	if err := json.Unmarshal(raw, to); err != nil {
		o.err = fmt.Errorf("field %s: %w", key, err)
		return false
	}
	return true
}

func (o *omb) text(key string) (v string) {
	o.read(key, &v)
	return v
}

func (o *omb) meanOf(key string) float64 {
	var v []float64
	if !o.read(key, &v) || len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func (o *omb) ns(key string, v float64, unit time.Duration) int64 {
	ns, err := carried(v, unit)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("field %s: %w", key, err)
	}
	return ns
}

// aggregate is the whole run; nil where the file has no value of it.
func (o *omb) aggregate(l ombLatency) *analysis.ReferencePoint {
	p := &analysis.ReferencePoint{Percentiles: map[string]analysis.ReferenceValue{}}
	prefix := "aggregated" + l.key
	one := func(suffix string) *int64 {
		var v float64
		if !o.read(prefix+suffix, &v) {
			return nil
		}
		return ptr(o.ns(prefix+suffix, v, l.unit))
	}
	quantiles := map[string]float64{}
	o.read(prefix+"Quantiles", &quantiles)
	if len(quantiles) > maxPoints {
		o.err = fmt.Errorf("field %sQuantiles: %w", prefix, errPoints)
		return nil
	}
	for text, v := range quantiles {
		percent, err := percentKey(text)
		if err != nil {
			o.err = fmt.Errorf("field %sQuantiles: %w", prefix, err)
			return nil
		}
		p.Percentiles[percent] = analysis.ReferenceValue{Ns: o.ns(prefix+"Quantiles", v, l.unit)}
	}
	for _, v := range ombValues {
		if ns := one(v.suffix); ns != nil {
			p.Percentiles[v.percent] = analysis.ReferenceValue{Ns: *ns}
		}
	}
	p.MeanNs, p.MaxNs = one("Avg"), one("Max")
	if len(p.Percentiles) == 0 && p.MeanNs == nil && p.MaxNs == nil {
		return nil
	}
	return p
}

// windows are the rows of the arrays.
func (o *omb) windows(l ombLatency) []analysis.ReferencePoint {
	prefix := string(l.key[0]|0x20) + l.key[1:]
	var out []analysis.ReferencePoint
	each := func(key string, put func(p *analysis.ReferencePoint, v float64)) {
		var column []float64
		if !o.read(key, &column) {
			return
		}
		if len(column) > maxPoints {
			o.err = fmt.Errorf("field %s: %w", key, errPoints)
			return
		}
		for i, v := range column {
			if i == len(out) {
				out = append(out, analysis.ReferencePoint{Label: fmt.Sprintf("window %d", i+1), Percentiles: map[string]analysis.ReferenceValue{}})
			}
			put(&out[i], v)
		}
	}
	latencies := 0
	for _, v := range ombValues {
		each(prefix+v.suffix, func(p *analysis.ReferencePoint, x float64) {
			p.Percentiles[v.percent] = analysis.ReferenceValue{Ns: o.ns(prefix, x, l.unit)}
			latencies++
		})
	}
	if latencies == 0 {
		return nil
	}
	each(prefix+"Avg", func(p *analysis.ReferencePoint, x float64) { p.MeanNs = ptr(o.ns(prefix, x, l.unit)) })
	each(prefix+"Max", func(p *analysis.ReferencePoint, x float64) { p.MaxNs = ptr(o.ns(prefix, x, l.unit)) })
	each("publishRate", func(p *analysis.ReferencePoint, x float64) { p.Rate = x })
	return out
}
