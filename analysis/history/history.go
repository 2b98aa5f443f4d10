// Package history looks at the same loads over many runs in time, and finds where
// their latency changed.
//
// A run is one point, whatever its repeats: its median one by nearest rank. A
// change is shown by a permutation test over runs (stats.ChangePoints), and is told
// with what else changed between the two runs around it. Where there are too few
// runs to show any, it says how many are needed. The package keeps a few numbers of
// each digest, and neither files nor figures.
package history

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/rawlog"
	"queuebench/stats"
)

// Schema is the schema of the JSON that a Result makes.
const Schema = "queuebench.history/1"

// Level is the chance that anything is called a change by chance, over all series.
const Level = 0.05

// seed makes a history come out the same.
const seed = 20_260_103

// Result is the history of some runs.
type Result struct {
	Schema      string   `json:"schema"`
	Latency     string   `json:"latency"`
	Percentiles []string `json:"percentiles"`
	Level       float64  `json:"level"`
	Runs        []Run    `json:"runs"` // in order of their start
	Series      []Series `json:"series"`
	// RunsNeeded is the fewest runs of a series in which a change can be shown.
	RunsNeeded int      `json:"runs_needed"`
	Warnings   []string `json:"warnings"`
}

// Run is a run by its name.
type Run struct {
	Run       string `json:"run"`
	StartedNs int64  `json:"started_ns"`
	Version   string `json:"version,omitempty"`
}

// Series is a percentile of one load over time.
type Series struct {
	Load       string  `json:"load"`
	Rate       float64 `json:"rate"`
	Variant    string  `json:"variant,omitempty"`
	Percentile string  `json:"percentile"`
	Points     []Point `json:"points"`
	// LeftOut are the runs that have the load and not the percentile, with why.
	LeftOut []string `json:"left_out"`
	// TooFew points to show a change.
	TooFew    bool      `json:"too_few"`
	Stretches []Stretch `json:"stretches"` // between changes, in order
	Changes   []Change  `json:"changes"`   // one fewer
}

// Point is a run.
type Point struct {
	Run int `json:"run"` // its index in Result.Runs
	// Ns is the median repeat's percentile; +Inf where that falls on a message
	// that never came.
	Ns      compare.Number `json:"ns"`
	Repeats int            `json:"repeats"`
	Stretch int            `json:"stretch"` // its index
	// Doubts are IDs of findings that take the meaning from percentiles.
	Doubts []string `json:"doubts,omitempty"`
}

// Stretch is what lies between two changes.
type Stretch struct {
	From     int            `json:"from"` // index of the first point
	Runs     int            `json:"runs"`
	MedianNs compare.Number `json:"median_ns"` // by nearest rank
}

// Change is where one stretch ends and another begins.
type Change struct {
	Before int     `json:"before"` // index of the last run before it, in Result.Runs
	After  int     `json:"after"`  // of the first one after it
	P      float64 `json:"p"`
	// Ratio of the new stretch to the one before, with the interval of the rank
	// test; it is somewhat too large, as is all that was picked for being large.
	Ratio compare.Number `json:"ratio"`
	Low   compare.Number `json:"low"`
	High  compare.Number `json:"high"`
	// Differences of the two runs around it.
	Differences []compare.Difference `json:"differences"`
}

// Builder gathers runs. Its zero value is not ready: see New.
type Builder struct {
	view   analysis.View
	kind   analysis.Kind
	runs   []*run
	seen   map[string]bool
	result Result
}

// run is what is kept of a digest.
type run struct {
	manifest rawlog.Manifest
	order    []string
	loads    map[string]loadPoint
}

type loadPoint struct {
	name, variant string
	rate          float64
	values        map[string]compare.Number // by percentile; NaN with why
	why           map[string]string
	repeats       int
	doubts        []string
}

// New begins a history under a view: its cut, its latency and its percentiles, 50
// and 99 where it names none.
func New(v analysis.View) *Builder {
	if len(v.Percentiles) == 0 {
		v.Percentiles = compare.DefaultPercentiles
	}
	b := &Builder{view: v, seen: map[string]bool{}}
	b.result = Result{Schema: Schema, Level: Level, Runs: []Run{}, Series: []Series{}, Warnings: []string{}}
	for _, p := range v.Percentiles {
		b.result.Percentiles = append(b.result.Percentiles, analysis.FormatPercent(p))
	}
	return b
}

// Add takes a run. The same run a second time, as its log and its digest, is left
// out with a warning.
func (b *Builder) Add(d *analysis.Digest) {
	m := d.Manifest
	id := fmt.Sprintf("%s %d", m.Run, m.StartedNs)
	if b.seen[id] {
		b.result.Warnings = append(b.result.Warnings, fmt.Sprintf("run %s is there more than once: it counts once", m.Run))
		return
	}
	b.seen[id] = true
	view := b.view.Of(d)
	if len(b.runs) == 0 {
		b.kind = view.Kind
	} else if view.Kind != b.kind {
		b.result.Warnings = append(b.result.Warnings, fmt.Sprintf("run %s is about another latency (%s) than the first (%s)", m.Run, view.Kind.Title(), b.kind.Title()))
	}
	sum := analysis.SummarizePage(d, view, nil)
	order, loads := compare.Loads(&sum)
	m.Steps = nil
	r := &run{manifest: m, order: order, loads: map[string]loadPoint{}}
	for key, l := range loads {
		r.loads[key] = b.point(l)
	}
	b.runs = append(b.runs, r)
}

// Warn adds warnings to the result.
func (b *Builder) Warn(texts ...string) { b.result.Warnings = append(b.result.Warnings, texts...) }

// point makes one of the repeats of a load.
func (b *Builder) point(l *compare.Load) loadPoint {
	p := loadPoint{name: l.Name, variant: l.Variant, rate: l.Rate, values: map[string]compare.Number{}, why: map[string]string{}, repeats: len(l.Steps)}
	for _, x := range l.Steps {
		for _, id := range compare.Doubts(x) {
			if !slices.Contains(p.doubts, id) {
				p.doubts = append(p.doubts, id)
			}
		}
	}
	for _, key := range b.result.Percentiles {
		var values []float64
		for _, x := range l.Steps {
			switch v, ok := x.Latencies[b.kind.String()].Percentiles[key]; {
			case !ok:
				p.why[key] = "no message"
			case v.Beyond:
				values = append(values, math.Inf(1))
			case !v.Supported:
				p.why[key] = "too few messages"
			default:
				values = append(values, float64(v.Ns))
			}
		}
		p.values[key] = compare.Number(compare.Middle(values))
	}
	return p
}

// Result finds the changes.
func (b *Builder) Result() *Result {
	slices.SortStableFunc(b.runs, func(x, y *run) int {
		return cmp.Or(cmp.Compare(x.manifest.StartedNs, y.manifest.StartedNs), cmp.Compare(x.manifest.Run, y.manifest.Run))
	})
	r := b.result
	r.Latency = b.kind.String()
	var order []string
	for _, x := range b.runs {
		r.Runs = append(r.Runs, Run{Run: x.manifest.Run, StartedNs: x.manifest.StartedNs, Version: x.manifest.Program.Version})
		for _, key := range x.order {
			if !slices.Contains(order, key) {
				order = append(order, key)
			}
		}
	}
	for _, key := range order {
		for _, percentile := range r.Percentiles {
			r.Series = append(r.Series, b.series(key, percentile))
		}
	}
	alpha := Level / float64(max(1, len(r.Series)))
	r.RunsNeeded = stats.MinChangeRuns(alpha)
	for i := range r.Series {
		b.divide(&r.Series[i], alpha, r.RunsNeeded)
	}
	return &r
}

// series has the runs that have a load.
func (b *Builder) series(key, percentile string) Series {
	s := Series{Percentile: percentile, Points: []Point{}, LeftOut: []string{}, Stretches: []Stretch{}, Changes: []Change{}}
	for i, x := range b.runs {
		p, ok := x.loads[key]
		if !ok {
			continue
		}
		if s.Load == "" {
			s.Load, s.Rate, s.Variant = p.name, p.rate, p.variant
		}
		v := p.values[percentile]
		if math.IsNaN(float64(v)) {
			s.LeftOut = append(s.LeftOut, fmt.Sprintf("%s: %s", x.manifest.Run, p.why[percentile]))
			continue
		}
		s.Points = append(s.Points, Point{Run: i, Ns: v, Repeats: p.repeats, Doubts: p.doubts})
	}
	return s
}

// divide finds the changes of a series.
func (b *Builder) divide(s *Series, alpha float64, needed int) {
	if len(s.Points) == 0 {
		s.TooFew = true
		return
	}
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = float64(p.Ns)
	}
	s.TooFew = len(values) < needed
	edges := []int{0}
	points := stats.ChangePoints(values, alpha, rand.New(rand.NewPCG(seed, 0)))
	for _, c := range points {
		edges = append(edges, c.At)
	}
	edges = append(edges, len(values))
	for i := range len(edges) - 1 {
		from, to := edges[i], edges[i+1]
		s.Stretches = append(s.Stretches, Stretch{From: from, Runs: to - from, MedianNs: compare.Number(compare.Middle(values[from:to]))})
		for k := from; k < to; k++ {
			s.Points[k].Stretch = i
		}
	}
	for i, c := range points {
		before, after := s.Points[c.At-1].Run, s.Points[c.At].Run
		x := Change{Before: before, After: after, P: c.P, Ratio: compare.Number(math.NaN()), Low: compare.Number(math.NaN()), High: compare.Number(math.NaN()),
			Differences: append([]compare.Difference{}, compare.Between(&b.runs[before].manifest, &b.runs[after].manifest)...)}
		if ratio, ok := compare.RatioOf(values[edges[i]:edges[i+1]], values[edges[i+1]:edges[i+2]], compare.Level); ok {
			x.Ratio, x.Low, x.High = ratio[0], ratio[1], ratio[2]
		}
		s.Changes = append(s.Changes, x)
	}
}
