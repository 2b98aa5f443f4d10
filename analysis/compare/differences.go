package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/rawlog"
)

// Difference is something in which two sides differ, or the runs of one side
// among themselves.
type Difference struct {
	// Name is the flag's for a setting; else "host CPUs", "program version", ….
	Name string `json:"name"`
	// Base and New are the values that occur, in order of the runs. More than one
	// on a side: its runs are no replicates of each other.
	Base []string `json:"base"`
	New  []string `json:"new"`
	// Loads are those that it is about; empty where it is about all.
	Loads []string `json:"loads,omitempty"`
}

// Text is the difference in one line.
func (d *Difference) Text() string {
	text := fmt.Sprintf("%s: %s → %s", d.Name, valuesText(d.Base), valuesText(d.New))
	if len(d.Base) > 1 || len(d.New) > 1 {
		text += " (the runs of a side differ among themselves)"
	}
	if len(d.Loads) > 0 {
		text += " (" + strings.Join(d.Loads, "; ") + ")"
	}
	return text
}

func valuesText(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		if out[i] = v; v == "" {
			out[i] = "none"
		}
	}
	return strings.Join(out, " or ")
}

// fact is a value by its name. An empty value is none.
type fact struct{ name, value string }

// ownNames are settings that each run has for itself: its name, and the seed that
// is drawn anew so that phases are not always the same.
var ownNames = []string{"run-id", "seed"}

const factCommitInterval = "queue's commit interval"

// factsOf is all that a run's manifest says of how it was made: settings first,
// by their flag's name.
func factsOf(m *rawlog.Manifest) []fact {
	var out []fact
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if !slices.Contains(ownNames, name) {
			out = append(out, fact{name, m.Settings[name]})
		}
	}
	add := func(name, value string) {
		if m.Run != "" { // the log's own address ends in it
			value = strings.ReplaceAll(value, m.Run, "RUN")
		}
		out = append(out, fact{name, value})
	}
	q := &m.Queue
	add("queue", q.Kind)
	add("queue's partitions", number(int64(q.Partitions)))
	add("what an acknowledgement means", q.Durability)
	add(factCommitInterval, interval(q.CommitInterval))
	add("queue loses nothing", strconv.FormatBool(q.LosesNothing))
	add("queue delivers once", strconv.FormatBool(q.DeliversOnce))
	add("queue in the runner's process", strconv.FormatBool(q.InProcess))
	add("queue carries headers", strconv.FormatBool(q.Headers))
	add("queue carries keys", strconv.FormatBool(q.Keys))
	add("resolution of the queue's stamps", interval(q.StampResolution))
	for _, s := range []struct {
		name  string
		store *rawlog.StoreInfo
	}{{"store", &m.Store}, {"store of the log", &m.LogStore}} {
		add(s.name+"'s address", s.store.Address)
		add(s.name+"'s durability", s.store.Durability)
		add(s.name+" is embedded", strconv.FormatBool(s.store.Embedded))
	}
	host := func(prefix string, h *rawlog.Host) {
		add(prefix+"host", h.Name)
		add(prefix+"system", strings.Trim(h.OS+"/"+h.Arch, "/"))
		add(prefix+"kernel", h.Kernel)
		add(prefix+"processors", number(int64(h.CPUs)))
		add(prefix+"processor model", h.CPUModel)
		add(prefix+"memory", memory(h.MemoryBytes))
	}
	host("", &m.Host)
	for i := range m.Processes {
		host(m.Processes[i].Name+" ", &m.Processes[i].Host)
	}
	add("program", m.Program.Name)
	add("program version", m.Program.Version)
	add("Go version", m.Program.Go)
	return out
}

// stepFacts is the same of one step, beside its settings, which are part of the
// load.
func (s *step) facts() []fact {
	x := s.summary
	out := []fact{
		{"length of the step", interval(time.Duration(x.DurationNs))},
		{"warm-up cut", interval(time.Duration(x.WarmupNs))},
		{"cool-down cut", interval(time.Duration(x.CooldownNs))},
	}
	if x.Loop != nil { // lasts as long as its operations do
		out = []fact{{"operations", number(x.Loop.Operations)}, {"warm-up operations", number(x.Loop.WarmupOperations)}}
	}
	if e := s.entry; e != nil {
		out = append(out,
			fact{"arrivals", e.Arrivals}, fact{"rate over time", e.RateProfile},
			fact{"producers", number(int64(e.Producers))}, fact{"consumer groups", number(int64(len(e.Groups)))})
	}
	return out
}

// memory to a tenth of a GiB: a kernel's own share differs from boot to boot.
func memory(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GiB"
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func interval(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// distinct puts together the facts of several runs or steps: each name once, with
// the values that occur. One that some lack has "" among its values.
func distinct(all [][]fact) (names []string, values map[string][]string) {
	values = map[string][]string{}
	count := map[string]int{}
	for _, facts := range all {
		for _, f := range facts {
			if _, ok := values[f.name]; !ok {
				names = append(names, f.name)
			}
			count[f.name]++
			if !slices.Contains(values[f.name], f.value) {
				values[f.name] = append(values[f.name], f.value)
			}
		}
	}
	for name, n := range count {
		if n < len(all) && !slices.Contains(values[name], "") {
			values[name] = append(values[name], "")
		}
	}
	return names, values
}

// differing are the facts that are not one value on both sides.
func differing(a, b [][]fact) []Difference {
	namesA, valuesA := distinct(a)
	namesB, valuesB := distinct(b)
	for _, name := range namesB {
		if _, ok := valuesA[name]; !ok {
			namesA = append(namesA, name)
		}
	}
	var out []Difference
	for _, name := range namesA {
		d := Difference{Name: name, Base: valuesA[name], New: valuesB[name]}
		if d.Base == nil {
			d.Base = []string{""}
		}
		if d.New == nil {
			d.New = []string{""}
		}
		if len(d.Base) != 1 || len(d.New) != 1 || d.Base[0] != d.New[0] {
			// What a queue made of a setting that differs is no news.
			if name != factCommitInterval || !slices.ContainsFunc(out, func(o Difference) bool { return o.Name == "commit-interval" }) {
				out = append(out, d)
			}
		}
	}
	return out
}

// differences are those of the runs, then those of the loads that both sides
// have; one that all loads have is told once.
func differences(a, b *gathered) []Difference {
	runs := func(g *gathered) (all [][]fact) {
		for _, d := range g.runs {
			all = append(all, factsOf(&d.Manifest))
		}
		return all
	}
	steps := func(l *load) (all [][]fact) {
		for i := range l.steps {
			all = append(all, l.steps[i].facts())
		}
		return all
	}
	out := append([]Difference{}, differing(runs(a), runs(b))...)
	first, loads := len(out), 0
	for _, key := range a.order {
		l, other := a.loads[key], b.loads[key]
		if other == nil {
			continue
		}
		loads++
		for _, d := range differing(steps(l), steps(other)) {
			at := slices.IndexFunc(out[first:], func(o Difference) bool {
				return o.Name == d.Name && slices.Equal(o.Base, d.Base) && slices.Equal(o.New, d.New)
			})
			if at < 0 {
				d.Loads = []string{l.name}
				out = append(out, d)
			} else {
				out[first+at].Loads = append(out[first+at].Loads, l.name)
			}
		}
	}
	for i := range out[first:] {
		if len(out[first+i].Loads) == loads {
			out[first+i].Loads = nil
		}
	}
	return out
}

// Between are the differences of two runs by their manifests, those of single
// steps left out.
func Between(a, b *rawlog.Manifest) []Difference {
	return differing([][]fact{factsOf(a)}, [][]fact{factsOf(b)})
}
