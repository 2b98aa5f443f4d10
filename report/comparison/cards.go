package comparison

import (
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/rawlog"
	"queuebench/report/markup"
)

// cards stand the sides beside each other: what each is, what it promises, and
// its colour and dashes in all figures.
func (b *builder) cards(w *markup.Writer) error {
	w.Raw(`<h2>What is compared</h2><ul class="sides">`)
	for i, s := range b.sides {
		w.Open("li", "class", "side", "data-side", s.label)
		w.Raw(`<h3>`, figure.Swatch(s.class), ` `).Text(s.label)
		if i == b.base {
			w.Raw(` <span class="role">base</span>`)
		}
		w.Raw(`</h3><dl>`)
		for _, f := range b.facetsOf(s) {
			w.El("dt", f[0]).El("dd", f[1])
		}
		w.Raw(`</dl><p class="actions needs-script">`)
		if i != b.base {
			w.Open("button", "type", "button", "data-set", "base="+itoa(s.at[0]+1)).Raw(`Make it the base</button> `)
		}
		for _, k := range s.at {
			w.Open("button", "type", "button", "data-set", "view=&run="+itoa(k+1))
			if len(s.at) == 1 {
				w.Raw(`Open this run</button> `)
			} else {
				w.Text("Open run " + itoa(k+1)).Raw(`</button> `)
			}
		}
		w.Raw(`</p></li>`)
	}
	w.Raw(`</ul>`)
	return nil
}

// facets are the facts that belong beside the numbers of a side.
var facets = []struct {
	name string
	of   func(m *rawlog.Manifest) string
}{
	{"run", func(m *rawlog.Manifest) string { return m.Run }},
	{"started", func(m *rawlog.Manifest) string {
		if m.StartedNs <= 0 {
			return ""
		}
		return time.Unix(0, m.StartedNs).UTC().Format("2 January 2006, 15:04 UTC")
	}},
	{"queue", func(m *rawlog.Manifest) string {
		if m.Queue.CommitInterval > 0 {
			return m.Queue.Kind + ", commits every " + figure.Duration(m.Queue.CommitInterval)
		}
		return m.Queue.Kind
	}},
	{"an acknowledgement means", func(m *rawlog.Manifest) string { return m.Queue.Durability }},
	{"store", func(m *rawlog.Manifest) string {
		if m.Store.Embedded {
			return m.Store.Address + " (embedded: an in-process floor)"
		}
		return m.Store.Address
	}},
	{"machine", func(m *rawlog.Manifest) string {
		if m.Host.CPUs == 0 {
			return m.Host.Name
		}
		return strings.TrimPrefix(m.Host.Name+", "+plural(m.Host.CPUs, "processor", "processors"), ", ")
	}},
	{"recorded by", func(m *rawlog.Manifest) string { return strings.TrimSpace(m.Program.Name + " " + m.Program.Version) }},
}

// facetsOf are the facets of a side; a value that its runs do not share is told
// for each.
func (b *builder) facetsOf(s *side) [][2]string {
	var out [][2]string
	for i, f := range facets {
		var values []string
		for _, d := range s.runs {
			if v := f.of(&d.Manifest); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		name := f.name
		if i == 0 && len(s.runs) > 1 {
			name = "runs, replicates of each other"
		}
		if len(values) > 0 {
			out = append(out, [2]string{name, strings.Join(values, "; ")})
		}
	}
	if f, n := s.found(analysis.Failure), s.found(analysis.Warning); f+n > 0 {
		text := plural(n, "warning", "warnings")
		if f > 0 {
			text = plural(f, "failure", "failures") + ", " + text
		}
		out = append(out, [2]string{"found in it", text})
	}
	return out
}
