package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/rawlog"
	"queuebench/stats"
)

// gathered is a side with its steps put together by load.
type gathered struct {
	info  Info
	kind  analysis.Kind
	runs  []*analysis.Digest
	order []string
	loads map[string]*load
}

// load is one load of a side: what has the same rate and the same settings of
// its own is a replicate.
type load struct {
	name, variant string
	rate          float64
	steps         []step
}

// step is a replicate.
type step struct {
	run     *rawlog.Manifest
	entry   *rawlog.Step // nil where the manifest has none
	digest  *analysis.StepDigest
	summary *analysis.StepSummary
	latency analysis.LatencySummary
}

func gather(s Side, v analysis.View) *gathered {
	g := &gathered{info: Info{Label: s.Label, Runs: []Run{}}, runs: s.Runs, loads: map[string]*load{}}
	for i, d := range s.Runs {
		m := &d.Manifest
		g.info.Runs = append(g.info.Runs, Run{Run: m.Run, StartedNs: m.StartedNs, Version: m.Program.Version, Complete: m.Complete})
		view := v.Of(d)
		if i == 0 {
			g.kind = view.Kind
		}
		sum := analysis.SummarizePage(d, view, nil)
		for k := range sum.Steps {
			x := &sum.Steps[k]
			key := loadKey(x)
			l := g.loads[key]
			if l == nil {
				l = &load{name: loadName(x), variant: x.Variant, rate: x.Rate}
				g.loads[key] = l
				g.order = append(g.order, key)
			}
			l.steps = append(l.steps, step{run: m, entry: entryOf(m, x), digest: &d.Steps[k], summary: x, latency: x.Latencies[g.kind.String()]})
		}
	}
	return g
}

// Load is what has the same rate and the same settings of its own: its steps are
// replicates.
type Load struct {
	Name    string
	Rate    float64
	Variant string
	Steps   []*analysis.StepSummary
}

// Loads are those of a run, by a key that is the same for the same load of another
// run, and the keys in the order of their first step.
func Loads(sum *analysis.Summary) (order []string, loads map[string]*Load) {
	loads = map[string]*Load{}
	for i := range sum.Steps {
		x := &sum.Steps[i]
		key := loadKey(x)
		if loads[key] == nil {
			order = append(order, key)
			loads[key] = &Load{Name: loadName(x), Rate: x.Rate, Variant: x.Variant}
		}
		loads[key].Steps = append(loads[key].Steps, x)
	}
	return order, loads
}

// Doubts are the IDs of findings that take the meaning from the percentiles of a
// step.
func Doubts(x *analysis.StepSummary) []string {
	var out []string
	for _, u := range unsteady {
		if slices.ContainsFunc(x.Findings, func(f analysis.Finding) bool { return f.ID == u.id }) {
			out = append(out, u.id)
		}
	}
	return out
}

func entryOf(m *rawlog.Manifest, x *analysis.StepSummary) *rawlog.Step {
	for i := range m.Steps {
		if m.Steps[i].Step == x.Step && m.Steps[i].Repeat == x.Repeat {
			return &m.Steps[i]
		}
	}
	return nil
}

// loadKey tells loads apart. The rate of a closed loop is a result, and so is that
// of a tail.
func loadKey(x *analysis.StepSummary) string {
	if x.Tail != nil {
		return "tail\x00" + x.Variant
	}
	if o := x.Loop; o != nil {
		return fmt.Sprintf("closed %s %d %d\x00%s", o.Mode, o.Workers, o.Concurrency, x.Variant)
	}
	return fmt.Sprintf("%g %t\x00%s", x.Rate, x.Drain != nil, x.Variant)
}

// loadName is the name of a load for people.
func loadName(x *analysis.StepSummary) string {
	name := x.Name()
	if o := x.Loop; o != nil {
		name, _, _ = strings.Cut(name, ", "+analysis.FormatRate(o.PerSecond)+" operations")
	} else if x.Tail != nil {
		name = "tail"
	} else if x.Drain != nil {
		name = "backlog"
		if x.Rate > 0 {
			name += " at " + analysis.FormatRate(x.Rate) + " msg/s"
		}
	}
	if x.Variant != "" {
		name += ", " + x.Variant
	}
	return name
}

// names are the loads of a side.
func names(g *gathered) string {
	var out []string
	for _, key := range g.order {
		out = append(out, g.loads[key].name)
	}
	return strings.Join(out, "; ")
}

// pieces are the intervals of a step after the cut, for a latency.
func (s *step) pieces(kind analysis.Kind) []stats.Sample {
	var out []stats.Sample
	for _, iv := range s.summary.Kept(s.digest) {
		out = append(out, stats.Sample{Values: iv.Latency[kind], Infinite: iv.Infinite[kind]})
	}
	return out
}

func (l *load) group() Group {
	g := Group{Replicates: []Replicate{}}
	var rates []float64
	for i := range l.steps {
		x := l.steps[i].summary
		r := Replicate{Run: l.steps[i].run.Run, Step: x.Step, Repeat: x.Repeat, N: l.steps[i].latency.N,
			ReceivedPerS: x.PerSecond(), Lost: x.Accounting.Lost, Duplicates: x.Accounting.Duplicates, Findings: []string{}}
		for _, f := range x.Findings {
			r.Findings = append(r.Findings, f.ID)
		}
		g.Replicates = append(g.Replicates, r)
		rates = append(rates, r.ReceivedPerS)
	}
	g.ReceivedPerS = Middle(rates)
	return g
}

// Middle is the median by nearest rank: a value that was measured, never a mean
// of two. NaN of none.
func Middle(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	x := slices.Sorted(slices.Values(values))
	return x[(len(x)-1)/2]
}

// warnings are about the comparison as a whole.
func warnings(all []*gathered) []string {
	var out []string
	seen := map[string]string{}
	for _, g := range all {
		for _, d := range g.runs {
			// Other steps of a run are other measurements: see Split.
			run, text := d.Manifest.Run, ""
			for i := range d.Steps {
				id := fmt.Sprintf("%s\x00%d\x00%d", run, d.Steps[i].Step, d.Steps[i].Repeat)
				switch before, ok := seen[id]; {
				case !ok:
					seen[id] = g.info.Label
				case before == g.info.Label:
					text = fmt.Sprintf("run %s is in %s more than once: it is no replicate of itself, and the tests take it for another run", run, before)
				default:
					text = fmt.Sprintf("run %s is in %s and in %s: it is compared with itself", run, before, g.info.Label)
				}
			}
			if text != "" {
				out = append(out, text)
			}
		}
		if g.kind != all[0].kind {
			out = append(out, fmt.Sprintf("%s is about another latency (%s) than %s (%s)", g.info.Label, g.kind.Title(), all[0].info.Label, all[0].kind.Title()))
		}
		most := 0
		for _, l := range g.loads {
			most = max(most, len(l.steps))
		}
		if len(g.runs) == 1 && most > 1 {
			out = append(out, fmt.Sprintf("%s: the repeats are of one run, with one start and one place; what another start gives they do not tell", g.info.Label))
		}
	}
	return out
}
