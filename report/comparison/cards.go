package comparison

import (
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/rawlog"
	"queuebench/report/markup"
	"queuebench/report/texts"
)

// cards stand the sides beside each other: what each is, what it promises, and
// its colour and dashes in all figures.
func (b *builder) cards(w *markup.Writer) error {
	w.Raw(`<h2>` + texts.Sides + `</h2><ul class="sides">`)
	for i, s := range b.sides {
		w.Open("li", "class", "side", "data-side", s.label)
		w.Raw(`<h3>`, figure.Swatch(s.class), ` `).Text(s.label)
		if i == b.base {
			w.Raw(` <span class="role">` + texts.Base + `</span>`)
		}
		w.Raw(`</h3><dl>`)
		for _, f := range b.facetsOf(s) {
			w.El("dt", f[0]).El("dd", f[1])
		}
		w.Raw(`</dl><p class="actions needs-script">`)
		if i != b.base {
			w.Open("button", "type", "button", "data-set", "base="+itoa(s.at[0]+1)).Raw(texts.MakeBase + `</button> `)
		}
		for _, k := range s.at {
			w.Open("button", "type", "button", "data-set", "view=&run="+itoa(k+1))
			if len(s.at) == 1 {
				w.Raw(texts.OpenThis + `</button> `)
			} else {
				w.Text(texts.OpenRun(itoa(k + 1))).Raw(`</button> `)
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
	{texts.RunName, func(m *rawlog.Manifest) string { return m.Run }},
	{texts.Started, func(m *rawlog.Manifest) string {
		if m.StartedNs <= 0 {
			return ""
		}
		return time.Unix(0, m.StartedNs).UTC().Format(texts.Date)
	}},
	{texts.QueueKind, func(m *rawlog.Manifest) string {
		if m.Queue.CommitInterval > 0 {
			return texts.CommitsEvery(m.Queue.Kind, figure.Duration(m.Queue.CommitInterval))
		}
		return m.Queue.Kind
	}},
	{texts.AckMeans, func(m *rawlog.Manifest) string { return m.Queue.Durability }},
	{texts.Store, func(m *rawlog.Manifest) string {
		if m.Store.Embedded {
			return texts.EmbeddedStore(m.Store.Address)
		}
		return m.Store.Address
	}},
	{texts.MachineName, func(m *rawlog.Manifest) string {
		if m.Host.CPUs == 0 {
			return m.Host.Name
		}
		return texts.Host(m.Host.Name, m.Host.CPUs)
	}},
	{texts.RecordedBy, func(m *rawlog.Manifest) string { return strings.TrimSpace(m.Program.Name + " " + m.Program.Version) }},
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
			name = texts.Replicates
		}
		if len(values) > 0 {
			out = append(out, [2]string{name, strings.Join(values, "; ")})
		}
	}
	if f, n := s.found(analysis.Failure), s.found(analysis.Warning); f+n > 0 {
		out = append(out, [2]string{texts.FoundInIt, texts.FoundOf(f, n)})
	}
	return out
}
