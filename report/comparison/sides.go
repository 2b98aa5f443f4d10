package comparison

import (
	"fmt"
	"slices"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/figure"
	"queuebench/report/texts"
)

// side is what stands on one side of the comparison: one run, or several that
// carry one label.
type side struct {
	label string
	class int   // colour and dashes in all figures
	at    []int // of its runs in what was opened
	runs  []*analysis.Digest
	// steps are those of all runs under the view, with the digest and the step of
	// it that each is of.
	sum     analysis.Summary
	digests []*analysis.Digest
	steps   []*analysis.StepDigest
}

// gather puts the runs into sides, by their label.
func (b *builder) gather(ds []*analysis.Digest) {
	labels := Labels(ds, b.o.Labels)
	for i, d := range ds {
		at := slices.IndexFunc(b.sides, func(s *side) bool { return s.label == labels[i] })
		if at < 0 {
			at = len(b.sides)
			b.sides = append(b.sides, &side{label: labels[i], class: at % figure.Classes})
		}
		if i == b.o.Base {
			b.base = at
		}
		s := b.sides[at]
		s.at, s.runs = append(s.at, i), append(s.runs, d)
		sum := analysis.Summarize(d, b.v.Of(d))
		s.sum.Steps = append(s.sum.Steps, sum.Steps...)
		for k := range sum.Steps {
			s.digests, s.steps = append(s.digests, d), append(s.steps, &d.Steps[k])
		}
	}
}

// longestLabel is how many characters a label of ours has at most: it stands in
// figures and in the head of tables.
const longestLabel = 32

// Labels name runs. A run that was given a label has that; runs of one label are
// one side. Others are named by the one setting in which all of them differ, or
// by their queue, and else by their run's name; no two of these get the same.
func Labels(ds []*analysis.Digest, given []string) []string {
	out := make([]string, len(ds))
	var free []int
	for i := range ds {
		if i < len(given) && given[i] != "" {
			out[i] = given[i]
		} else {
			free = append(free, i)
		}
	}
	name := func(text func(d *analysis.Digest) string) bool {
		seen := map[string]bool{}
		for _, g := range out {
			seen[g] = true
		}
		for _, i := range free {
			t := text(ds[i])
			if t == "" || len([]rune(t)) > longestLabel || seen[t] {
				return false
			}
			seen[t] = true
		}
		for _, i := range free {
			out[i] = text(ds[i])
		}
		return true
	}
	if len(free) == len(ds) && len(ds) > 1 {
		if name(func(d *analysis.Digest) string { return d.Manifest.Queue.Kind }) {
			return out
		}
		if setting := onlySetting(ds); setting != "" && name(func(d *analysis.Digest) string {
			v := d.Manifest.Settings[setting]
			if v == "" {
				v = texts.SettingNone
			}
			return setting + " " + v
		}) {
			return out
		}
	}
	if len(free) > 0 && !name(func(d *analysis.Digest) string { return d.Manifest.Run }) {
		for _, i := range free {
			text := short(ds[i].Manifest.Run)
			for n := 2; slices.Contains(out, text); n++ {
				text = fmt.Sprintf("%s #%d", short(ds[i].Manifest.Run), n)
			}
			out[i] = text
		}
	}
	return out
}

// short keeps the end of a name, which is what sets runs apart that were started
// by one program.
func short(name string) string {
	r := []rune(name)
	if len(r) == 0 {
		return texts.UnnamedRun
	}
	if len(r) > longestLabel {
		return "…" + string(r[len(r)-longestLabel+1:])
	}
	return name
}

// onlySetting is the setting that is all in which runs differ, as far as they were
// set; empty where there is none, or several.
func onlySetting(ds []*analysis.Digest) string {
	found := ""
	for i := range ds {
		for _, d := range compare.Between(&ds[0].Manifest, &ds[i].Manifest) {
			_, a := ds[0].Manifest.Settings[d.Name]
			_, b := ds[i].Manifest.Settings[d.Name]
			if !a && !b || d.Name == found {
				continue // of the machine or the program
			}
			if found != "" {
				return ""
			}
			found = d.Name
		}
	}
	return found
}

// load is one load with the steps of each side that has it.
type load struct {
	name  string
	rate  float64
	steps [][]int // by side: indexes into its steps
}

// loadsOf are the loads of all sides, the base's first.
func (b *builder) loadsOf() []*load {
	var out []*load
	at := map[string]*load{}
	order := slices.Concat([]*side{b.sides[b.base]}, b.sides)
	for _, s := range order {
		keys, loads := compare.Loads(&s.sum)
		for _, key := range keys {
			l := at[key]
			if l == nil {
				l = &load{name: loads[key].Name, rate: loads[key].Rate, steps: make([][]int, len(b.sides))}
				at[key] = l
				out = append(out, l)
			}
			side := slices.Index(b.sides, s)
			l.steps[side] = nil
			for _, x := range loads[key].Steps {
				l.steps[side] = append(l.steps[side], s.index(x))
			}
		}
	}
	return out
}

// index is that of a step of the side's summary.
func (s *side) index(x *analysis.StepSummary) int {
	for i := range s.sum.Steps {
		if &s.sum.Steps[i] == x {
			return i
		}
	}
	return -1
}

// total adds a count over the steps of a side.
func (s *side) total(of func(*analysis.StepSummary) int64) (n int64) {
	for i := range s.sum.Steps {
		n += of(&s.sum.Steps[i])
	}
	return n
}

// found counts the findings of a severity.
func (s *side) found(severity analysis.Severity) int {
	n := 0
	for i := range s.sum.Steps {
		for _, f := range s.sum.Steps[i].Findings {
			if f.Severity == severity {
				n++
			}
		}
	}
	return n
}
