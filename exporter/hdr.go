package exporter

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/stats"
	"queuebench/stats/hdrlog"
)

// writeHLog writes a standard interval log in ns: the latency of the view
// without a tag, the others under their names.
func writeHLog(w io.Writer, s Step) ([]string, error) {
	log := hdrlog.NewWriter(w)
	base := max(0, s.Digest.StartNs) / 1e6 * 1e6
	if err := log.Header(base); err != nil {
		return nil, err
	}
	if err := log.Comment([]byte("[values are nanoseconds; no tag: " + s.Kind.String() + "; warm-up cut: " + time.Duration(s.Summary.WarmupNs).String() + window(s.Summary.Window) + "]")); err != nil {
		return nil, err
	}
	var notes []string
	kinds := []analysis.Kind{s.Kind}
	for k := range analysis.NumKinds {
		if _, ok := s.Summary.Latencies[k.String()]; ok && k != s.Kind {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		notes = append(notes, s.lossNotes("a histogram log", k)...)
	}
	for _, iv := range s.Kept {
		for i, k := range kinds {
			b := positive(iv.Latency[k].Buckets)
			if len(b) == 0 {
				continue
			}
			l := hdrlog.Line{StartNs: max(0, s.Digest.StartNs) - base + int64(iv.Start), LengthNs: int64(iv.End - iv.Start), Buckets: b}
			if i > 0 {
				l.Tag = k.String()
			}
			if err := log.Histogram(l); err != nil {
				return notes, err
			}
		}
	}
	return notes, nil
}

// hgrmTicks is how many rows each half of the distance to 100 % has, as in
// HdrHistogram's own output.
const hgrmTicks = 5

// writeHGRM writes a percentile distribution in ms, in the form that
// HdrHistogram prints and plots.
func writeHGRM(w io.Writer, s Step) ([]string, error) {
	notes := s.lossNotes("a percentile distribution", s.Kind)
	all, _ := total(s.Kept, s.Kind)
	h := stats.Compact{Min: max(0, all.Min), Max: all.Max, Buckets: positive(all.Buckets)}
	for _, b := range h.Buckets {
		h.N += b.Count
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	next := 0.0
	var seen int64
	for i, x := range h.Buckets {
		seen += x.Count
		_, high := stats.Bounds(x.Index)
		high = min(max(high, h.Min), h.Max)
		for reached := float64(seen) / float64(h.N); next <= reached && next < 1; {
			fmt.Fprintf(b, "%12.3f %2.12f %10d %14.2f\n", ms(high), next, seen, 1/(1-next))
			// HdrHistogram's step: so many to each half of what is left.
			half := math.Exp2(math.Floor(math.Log2(1/(1-next))) + 1)
			next += 1 / (half * hgrmTicks)
			if next > reached && i+1 < len(h.Buckets) || 1-next < 1/float64(h.N)/hgrmTicks {
				break
			}
		}
		if i+1 == len(h.Buckets) {
			fmt.Fprintf(b, "%12.3f %2.12f %10d %14s\n", ms(high), 1.0, seen, "inf")
		}
	}
	mean, sd := moments(h)
	fmt.Fprintf(b, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n#[Max     = %12.3f, Total count    = %12d]\n#[Buckets = %12d, SubBuckets     = %12d]\n",
		mean/1e6, sd/1e6, ms(h.Max), h.N, 42, 2048)
	return notes, b.Flush()
}

// moments are the mean and the standard deviation in ns, of the middles of the
// buckets.
func moments(h stats.Compact) (mean, sd float64) {
	if h.N == 0 {
		return 0, 0
	}
	mid := func(b stats.Bucket) float64 {
		low, high := stats.Bounds(b.Index)
		return float64(low)/2 + float64(high)/2
	}
	for _, b := range h.Buckets {
		mean += mid(b) * float64(b.Count) / float64(h.N)
	}
	for _, b := range h.Buckets {
		d := mid(b) - mean
		sd += d * d * float64(b.Count) / float64(h.N)
	}
	return mean, math.Sqrt(sd)
}

// writePathway writes the CSV of Pathway's benchmark in exactly its form:
// cumulative percentiles in seconds with two decimals, by the lower edge of
// 10 ms; a row for half a second of messages, after the warm-up. Time 0 is the
// consumer's start where the log tells it, else that of the schedule.
func writePathway(w io.Writer, s Step) ([]string, error) {
	notes := []string{}
	consumer := time.Duration(0)
	for _, e := range s.Digest.Events {
		if e.Kind == "start" && strings.HasPrefix(e.Actor, "consumer") {
			consumer = min(consumer, e.At)
		}
	}
	if _, infinite := total(s.Kept, s.Kind); infinite > 0 {
		notes = append(notes, fmt.Sprintf("%s msg/s: %d messages never came: a percentile that reaches them is written as inf", analysis.FormatRate(s.Summary.Rate), infinite))
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "time_from_start,p50,p75,p85,p95,p99")
	var h stats.Compact
	var infinite, since int64
	every := int64(math.Floor(s.Summary.Rate / 2))
	for i, iv := range s.Kept {
		h = stats.Sum(h, iv.Latency[s.Kind])
		infinite += iv.Infinite[s.Kind]
		since += iv.Latency[s.Kind].N + iv.Infinite[s.Kind]
		if last := i+1 == len(s.Kept); h.N+infinite == 0 || since < every && !last {
			continue
		}
		since = 0
		fmt.Fprintf(b, "\n%.2f", (iv.End - consumer).Seconds())
		for _, q := range []float64{0.5, 0.75, 0.85, 0.95, 0.99} {
			ns, beyond := h.Quantile(q, infinite)
			if beyond {
				fmt.Fprint(b, ",inf")
				continue
			}
			cs := ns / 1e7 // its buckets are named by their lower edge
			if ns < 0 {
				cs = -((-ns + 1e7 - 1) / 1e7)
			}
			fmt.Fprintf(b, ",%.2f", float64(cs)/100)
		}
	}
	return notes, b.Flush()
}

// window is the part of a step that was looked at, in words; empty where it is
// all that the cut leaves.
func window(w *analysis.Window) string {
	if w == nil {
		return ""
	}
	return "; looked at: " + time.Duration(w.FromNs).String() + " to " + time.Duration(w.ToNs).String()
}
