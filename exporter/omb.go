package exporter

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
)

// ombWindow is the length of the windows of the OpenMessaging Benchmark.
const ombWindow = 10 * time.Second

// ombLatencies are the latencies that it knows, with the unit of each: delays
// are in µs, all else is in ms.
var ombLatencies = []struct {
	key  string
	kind analysis.Kind
	unit time.Duration
}{
	{"publishLatency", analysis.Publish, time.Millisecond},
	{"publishDelayLatency", analysis.SendLag, time.Microsecond},
	{"endToEndLatency", analysis.EndToEnd, time.Millisecond},
}

var ombQuantiles = []struct {
	suffix string
	q      float64
}{{"50pct", 0.5}, {"75pct", 0.75}, {"95pct", 0.95}, {"99pct", 0.99}, {"999pct", 0.999}, {"9999pct", 0.9999}}

// writeOMB writes a result of the OpenMessaging Benchmark.
func writeOMB(w io.Writer, s Step) ([]string, error) {
	settings := s.Summary.Settings
	number := func(name string) int {
		n, _ := strconv.Atoi(settings[name])
		return n
	}
	out := map[string]any{
		"workload": fmt.Sprintf("%s, %s msg/s", s.Run.Run, analysis.FormatRate(s.Summary.Rate)), "driver": s.Run.Queue.Kind,
		"messageSize": number("message-size"), "topics": max(1, number("topics")), "partitions": max(1, s.Run.Queue.Partitions),
		"producersPerTopic": max(1, number("producers")), "consumersPerTopic": max(1, number("consumers")),
	}
	windows := s.windows()
	publish, errors, consume, backlog := []float64{}, []float64{}, []float64{}, []int64{}
	var behind int64
	for _, window := range windows {
		length := (window[len(window)-1].End - window[0].Start).Seconds()
		received, lost := total(window, s.Summary.MainKind())
		acked, refused := total(window, analysis.Publish)
		published := acked.N
		if _, ok := s.Summary.Latencies[analysis.Publish.String()]; !ok { // of another tool
			for i := range window {
				published += window[i].Scheduled
			}
		}
		publish = append(publish, float64(published)/length)
		errors = append(errors, float64(refused)/length)
		consume = append(consume, float64(received.N)/length)
		behind += lost
		backlog = append(backlog, behind)
	}
	out["publishRate"], out["publishErrorRate"], out["consumeRate"], out["backlog"] = publish, errors, consume, backlog
	notes := []string{"consume rates are those of the messages that were due in a window, and the backlog counts those that never came: the digest has no others"}
	for _, l := range ombLatencies {
		kind := l.kind
		if kind == analysis.EndToEnd && s.Summary.MainKind() == analysis.Imported {
			kind = analysis.Imported
		}
		if _, ok := s.Summary.Latencies[kind.String()]; !ok {
			continue
		}
		notes = append(notes, s.lossNotes("this format", kind)...)
		columns := map[string][]float64{}
		for _, window := range windows {
			h, _ := total(window, kind)
			for name, v := range ombValues(h, l.unit) {
				columns[name] = append(columns[name], v)
			}
		}
		for name, column := range columns {
			out[l.key+name] = column
		}
		h, _ := total(s.Kept, kind)
		aggregated := "aggregated" + string(l.key[0]&^0x20) + l.key[1:]
		for name, v := range ombValues(h, l.unit) {
			out[aggregated+name] = v
		}
		quantiles := map[string]float64{}
		for percent := 5; percent <= 100 && h.N > 0; percent += 5 {
			ns, _ := h.Quantile(float64(percent)/100, 0)
			quantiles[fmt.Sprintf("%d.0", percent)] = inUnit(ns, l.unit)
		}
		out[aggregated+"Quantiles"] = quantiles
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return notes, enc.Encode(out)
}

func ombValues(h stats.Compact, unit time.Duration) map[string]float64 {
	v := map[string]float64{"Avg": h.Mean() / float64(unit), "Max": inUnit(h.Max, unit)}
	for _, x := range ombQuantiles {
		if h.N == 0 {
			v[x.suffix] = 0
			continue
		}
		ns, _ := h.Quantile(x.q, 0)
		v[x.suffix] = inUnit(ns, unit)
	}
	return v
}

// inUnit is a value in ms with three decimals, as the benchmark has it; delays
// are whole µs.
func inUnit(ns int64, unit time.Duration) float64 {
	if unit == time.Microsecond {
		return float64((ns + 500) / 1000)
	}
	return float64((ns+500)/1000) / 1000
}

// windows are the kept intervals in stretches of ombWindow, or longer ones where
// an interval is.
func (s Step) windows() [][]analysis.Interval {
	var out [][]analysis.Interval
	begin := 0
	for i := range s.Kept {
		if s.Kept[i].End-s.Kept[begin].Start >= ombWindow || i+1 == len(s.Kept) {
			out = append(out, s.Kept[begin:i+1])
			begin = i + 1
		}
	}
	return out
}
