package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// maxReferences bounds what a digest carries beside its steps.
const maxReferences = 1000

// Reference is what another tool, or a publication, says of a latency: numbers
// that are carried as they are. Nothing is computed from them, and they are
// never added to a histogram or averaged.
type Reference struct {
	Name   string `json:"name"` // of the series: "Kafka, end-to-end"
	Format string `json:"format"`
	Source string `json:"source"` // the file or the publication
	// Latency says from what to what it is, PercentileDefinition how the tool
	// makes a percentile.
	Latency              string   `json:"latency"`
	PercentileDefinition string   `json:"percentile_definition"`
	Notes                []string `json:"notes,omitempty"`
	// Points are whole runs, or rates of a sweep.
	Points []ReferencePoint `json:"points"`
	// Timeline are stretches of a run, or a cumulative curve.
	Timeline []ReferencePoint `json:"timeline,omitempty"`
}

// ReferencePoint is a row of a reference. What its source does not say is nil,
// or 0 of Rate and N.
type ReferencePoint struct {
	Label  string  `json:"label,omitempty"`
	AtNs   *int64  `json:"at_ns,omitempty"` // since the start of the run
	Rate   float64 `json:"rate,omitempty"`  // messages per second
	N      int64   `json:"n,omitempty"`
	MinNs  *int64  `json:"min_ns,omitempty"`
	MeanNs *int64  `json:"mean_ns,omitempty"`
	SDNs   *int64  `json:"sd_ns,omitempty"`
	MaxNs  *int64  `json:"max_ns,omitempty"`
	// Percentiles by their percent as text.
	Percentiles map[string]ReferenceValue `json:"percentiles"`
}

// ReferenceValue is a percentile of a reference.
type ReferenceValue struct {
	Ns int64 `json:"ns"`
	// AtMost: the source only bounds it.
	AtMost bool `json:"at_most,omitempty"`
}

// Text is the value as a table shows it.
func (v ReferenceValue) Text() string {
	if v.AtMost {
		return "≤ " + FormatLatency(v.Ns)
	}
	return FormatLatency(v.Ns)
}

// usualPercentiles are those that tables of others have beside ours.
var usualPercentiles = []string{"50", "75", "85", "90", "95", "99", "99.9", "99.99", "99.999"}

// maxReferenceRows is how many rows of a timeline a table shows.
const maxReferenceRows = 12

// ReferenceTable has a row per point of each reference, with the usual
// percentiles that any of them carries, and those of the summary. more counts
// the rows of timelines that are left out, which JSON has.
func ReferenceTable(s Summary) (header []string, rows [][]string, more int) {
	percents := referencePercents(s)
	header = []string{"imported reference", "rate/s", "n"}
	for _, p := range percents {
		header = append(header, "p"+p)
	}
	header = append(header, "min", "mean", "sd", "max")
	for i := range s.References {
		r := &s.References[i]
		for _, p := range r.Points {
			rows = append(rows, p.cells(r.Name, percents))
		}
		shown := r.Timeline[:min(len(r.Timeline), maxReferenceRows)]
		for _, p := range shown {
			rows = append(rows, p.cells(r.Name, percents))
		}
		more += len(r.Timeline) - len(shown)
	}
	return header, rows, more
}

func (p *ReferencePoint) cells(name string, percents []string) []string {
	if p.Label != "" {
		name += ", " + p.Label
	}
	row := []string{name, Dash, Dash}
	if p.Rate > 0 {
		row[1] = FormatRate(p.Rate)
	}
	if p.N > 0 {
		row[2] = FormatCount(p.N)
	}
	for _, percent := range percents {
		text := Dash
		if v, ok := p.Percentiles[percent]; ok {
			text = v.Text()
		}
		row = append(row, text)
	}
	for _, ns := range []*int64{p.MinNs, p.MeanNs, p.SDNs, p.MaxNs} {
		text := Dash
		if ns != nil {
			text = FormatLatency(*ns)
		}
		row = append(row, text)
	}
	return row
}

// referencePercents are the columns of the table, ascending.
func referencePercents(s Summary) []string {
	carried := map[string]bool{}
	for i := range s.References {
		for _, points := range [][]ReferencePoint{s.References[i].Points, s.References[i].Timeline} {
			for _, p := range points {
				for percent := range p.Percentiles {
					carried[percent] = true
				}
			}
		}
	}
	wanted := append(slices.Clone(usualPercentiles), s.percentiles()...)
	for percent := range maps.Keys(carried) {
		if !slices.Contains(wanted, percent) {
			delete(carried, percent)
		}
	}
	return slices.SortedFunc(maps.Keys(carried), func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	})
}
