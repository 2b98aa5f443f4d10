// Package exporter writes what the analysis computed in the formats of others:
// CSV, the CSV of Pathway's benchmark, HdrHistogram logs and distributions, the
// result of the OpenMessaging Benchmark, Parquet and JSON.
//
// Everything is made from a digest under a view, after its warm-up, and computes
// nothing that package analysis does not. What a format cannot hold (infinite
// latencies, negative ones) is returned as notes, which the caller shows: nothing
// is left out in silence.
package exporter

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/stats"
)

// Format is a form of output.
type Format struct {
	Name string
	// PerStep: a file for each step; of others one for the run.
	PerStep   bool
	Extension string
	// Step and Run write; one of them is nil.
	Step func(w io.Writer, s Step) (notes []string, err error)
	Run  func(w io.Writer, d *analysis.Digest, v analysis.View) error
}

// Formats are all forms.
var Formats = []Format{
	{Name: "csv", Extension: ".csv", Run: writeCSV},
	{Name: "json", Extension: ".json", Run: writeJSON},
	{Name: "parquet", Extension: ".parquet", Run: writeParquet},
	{Name: "pathway-csv", PerStep: true, Extension: ".csv", Step: writePathway},
	{Name: "hlog", PerStep: true, Extension: ".hlog", Step: writeHLog},
	{Name: "hgrm", PerStep: true, Extension: ".hgrm", Step: writeHGRM},
	{Name: "omb", PerStep: true, Extension: ".json", Step: writeOMB},
}

// Names are the names of the forms.
func Names() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Find is the form of a name.
func Find(name string) (Format, error) {
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q: say one of %s", name, strings.Join(Names(), ", "))
}

// Step is a step under a view.
type Step struct {
	Digest  *analysis.StepDigest
	Summary *analysis.StepSummary
	Run     *analysis.Summary
	// Kind is the latency that is written where a format has one.
	Kind analysis.Kind
	// Kept are the intervals after the warm-up and before the cool-down.
	Kept []analysis.Interval
}

// Steps are the steps of a digest under a view.
func Steps(d *analysis.Digest, v analysis.View) []Step {
	sum := analysis.Summarize(d, v)
	var out []Step
	for i := range sum.Steps {
		s := Step{Digest: &d.Steps[i], Summary: &sum.Steps[i], Run: &sum, Kind: v.Kind}
		if s.Kind == analysis.EndToEnd {
			s.Kind = s.Summary.MainKind()
		}
		s.Kept = s.Summary.Kept(s.Digest)
		out = append(out, s)
	}
	return out
}

// Name is what the file of a step is called: by its rate, as Pathway's benchmark
// has it, with its number and repeat where others have the same.
func (s Step) Name() string {
	rate := func(perSecond float64) string { return strings.TrimSuffix(fmt.Sprintf("%.3f", perSecond), ".000") }
	name := rate(s.Summary.Rate)
	same, repeated := 0, false
	for _, x := range s.Run.Steps {
		if rate(x.Rate) == name {
			same++
			repeated = repeated || x.Repeat > 0
		}
	}
	if same > 1 {
		name += fmt.Sprintf("-step-%d", s.Summary.Step)
		if repeated {
			name += fmt.Sprintf("-%d", s.Summary.Repeat)
		}
	}
	return name
}

// total adds a latency up over intervals.
func total(intervals []analysis.Interval, k analysis.Kind) (h stats.Compact, infinite int64) {
	parts := make([]stats.Compact, 0, len(intervals))
	for i := range intervals {
		parts = append(parts, intervals[i].Latency[k])
		infinite += intervals[i].Infinite[k]
	}
	return stats.Sum(parts...), infinite
}

// lossNotes says what a format that has finite values only leaves out.
func (s Step) lossNotes(format string, k analysis.Kind) (notes []string) {
	h, infinite := total(s.Kept, k)
	if infinite > 0 {
		notes = append(notes, fmt.Sprintf("%s msg/s, %s: %d messages never came, and %s cannot hold an infinite latency: its percentiles are those of the %d that came", analysis.FormatRate(s.Summary.Rate), k.Title(), infinite, format, h.N))
	}
	if i := slices.IndexFunc(h.Buckets, func(b stats.Bucket) bool { return b.Index >= 0 }); h.N > 0 && i != 0 {
		var n int64
		for _, b := range h.Buckets {
			if b.Index < 0 {
				n += b.Count
			}
		}
		notes = append(notes, fmt.Sprintf("%s msg/s, %s: %d negative latencies are left out, which %s cannot hold", analysis.FormatRate(s.Summary.Rate), k.Title(), n, format))
	}
	return notes
}

// positive are the buckets that are not negative.
func positive(b []stats.Bucket) []stats.Bucket {
	i := slices.IndexFunc(b, func(b stats.Bucket) bool { return b.Index >= 0 })
	if i < 0 {
		return nil
	}
	return b[i:]
}
