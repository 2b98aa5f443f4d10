package importer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/queue"
	"queuebench/rawlog"
)

// base is the file's name without its folders, which are nobody else's business.
func (s *source) base() string { return path.Base(strings.ReplaceAll(s.name, "\\", "/")) }

// digest is an empty one of a file, complete by itself.
func (s *source) digest(tool string, about rawlog.Import) *analysis.Digest {
	about.File = s.base()
	d := &analysis.Digest{Manifest: rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: s.base(), Complete: true,
		Program: rawlog.Program{Name: tool}, Queue: queue.Info{Kind: "as " + tool + " measured it"},
		Settings: map[string]string{}, Warnings: []string{}, Steps: []rawlog.Step{},
	}}
	if about.Format != "" {
		d.Manifest.Imports = []rawlog.Import{about}
	}
	return d
}

// addStep adds a step to a digest under the next free number.
func addStep(d *analysis.Digest, s *analysis.StepDigest) {
	s.Step, s.Repeat = len(d.Steps), 0
	a := s.Accounting
	d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{
		Step: s.Step, Rate: s.Rate, Settings: s.Settings, Imported: true, StartedNs: s.StartNs, DurationNs: int64(s.Duration),
		DeadlineNs: s.StartNs + int64(s.Duration), EndedNs: s.StartNs + int64(s.Duration), Producers: 1, Groups: []string{}, Complete: true, Parts: []rawlog.PartInfo{},
		Accounting: rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Failed: a.Failed, Unconfirmed: a.Unconfirmed,
			Overrun: a.Overrun, Received: a.Received, Lost: a.Lost, Duplicates: a.Duplicates, OutOfOrder: a.OutOfOrder},
	})
	if m := &d.Manifest; s.StartNs > 0 && (m.StartedNs == 0 || s.StartNs < m.StartedNs) {
		m.StartedNs = s.StartNs
	}
	d.Manifest.EndedNs = max(d.Manifest.EndedNs, s.StartNs+int64(s.Duration))
	d.Steps = append(d.Steps, *s)
	adopt(d)
}

// adopt points the steps to their entries in the manifest.
func adopt(d *analysis.Digest) {
	for i := range d.Steps {
		d.Steps[i].Own = &d.Manifest.Steps[i]
	}
}

// series are the collectors of a file by a label that tells them apart, such as
// the operation or the metric.
type series struct {
	label string
	named map[string]*collector
	order []string
}

func newSeries(label string) *series { return &series{label: label, named: map[string]*collector{}} }

// of is the collector of a name.
func (x *series) of(name string) (*collector, error) {
	c := x.named[name]
	if c == nil {
		if len(x.order) == mostSteps {
			return nil, fmt.Errorf("more than %d different values of %s", mostSteps, x.label)
		}
		c = newCollector()
		x.named[strings.Clone(name)] = c
		x.order = append(x.order, strings.Clone(name))
	}
	return c, nil
}

// addTo adds a step for each to a file's digest; named where there are several.
func (x *series) addTo(d *analysis.Digest, s *source) error {
	slices.Sort(x.order)
	if len(x.order) == 0 {
		return s.fail(0, "%w", errNothing)
	}
	for _, name := range x.order {
		c := x.named[name]
		step, err := c.step()
		if err != nil {
			return s.fail(0, "%s %s: %w", x.label, name, err)
		}
		if c.outside > 0 {
			note := fmt.Sprintf("deliveries before the first message, or %d days after it: %d, which are counted, but in no second of the throughput", longestSpan/(24*time.Hour), c.outside)
			if len(x.order) > 1 {
				note = fmt.Sprintf("%s %s: %s", x.label, name, note)
			}
			about := &d.Manifest.Imports[0]
			about.Notes = append(about.Notes, note)
		}
		if len(x.order) > 1 {
			step.Settings[x.label] = name
		}
		addStep(d, step)
	}
	return nil
}

// Combine joins what was read of several files: steps stay apart and are told by
// their file, references of one series stand in one line. One digest is returned
// as it is. The error says why a run that bench recorded is none of them.
func Combine(digests ...*analysis.Digest) (*analysis.Digest, error) {
	if len(digests) == 1 {
		return digests[0], nil
	}
	var names []string
	for _, d := range digests {
		names = append(names, d.Manifest.Run)
	}
	out := &analysis.Digest{Manifest: digests[0].Manifest}
	m := &out.Manifest
	m.Run = strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		m.Run += fmt.Sprintf(" and %d more", more)
	}
	m.Imports, m.Steps, m.StartedNs, m.EndedNs = nil, []rawlog.Step{}, 0, 0
	for _, d := range digests {
		if len(d.Manifest.Imports) == 0 && len(d.References) == 0 {
			return nil, fmt.Errorf("%s is a run, and no file of another tool: give runs one at a time", d.Manifest.Run)
		}
		if d.Manifest.Program.Name != m.Program.Name {
			m.Program.Name, m.Queue.Kind = "several tools", "as several tools measured it"
		}
		m.Imports = append(m.Imports, d.Manifest.Imports...)
		for i := range d.Steps {
			s := d.Steps[i]
			s.Settings = maps.Clone(s.Settings)
			s.Settings["file"] = d.Manifest.Run
			addStep(out, &s)
		}
		for _, r := range d.References {
			addReference(out, r)
		}
	}
	return out, nil
}

// addReference adds a reference to the one of the same name, which has the same
// definition, or as a new one.
func addReference(d *analysis.Digest, r analysis.Reference) {
	for i := range d.References {
		if have := &d.References[i]; have.Name == r.Name && have.PercentileDefinition == r.PercentileDefinition && len(r.Timeline)+len(have.Timeline) == 0 {
			have.Points = append(slices.Clone(have.Points), r.Points...)
			have.Source += ", " + r.Source
			return
		}
	}
	d.References = append(d.References, r)
}

// sample counts a value of a kind that only has a latency: ok is whether the
// tool calls it a success.
func (c *collector) sample(begin int64, resolution time.Duration, ns int64, ok bool) error {
	b, err := c.row(begin, resolution)
	if err != nil {
		return err
	}
	c.acc.Attempted++
	if ok {
		c.acc.Acked++
	} else {
		c.acc.Failed++
	}
	if c.record(b, analysis.Imported, ns) {
		c.arrived(begin + ns)
	}
	return nil
}

// value counts a value without a time.
func (c *collector) value(ns int64) error {
	c.timeless = true
	return c.sample(0, time.Second, ns, true)
}
