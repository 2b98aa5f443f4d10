package comparison

import (
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/figure"
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
			w.Open("button", "type", "button", "data-set", "view=run&run="+itoa(k+1))
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

// facetsOf are the facts that belong beside the numbers of a side; a value that
// its runs do not share is told for each.
func (b *builder) facetsOf(s *side) [][2]string {
	var out [][2]string
	add := func(name string, of func(d *analysis.Digest) string) {
		var values []string
		seen := map[string]bool{}
		for _, d := range s.runs {
			if v := of(d); v != "" && !seen[v] {
				seen[v] = true
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out = append(out, [2]string{name, strings.Join(values, "; ")})
		}
	}
	name := "run"
	if len(s.runs) > 1 {
		name = "runs, replicates of each other"
	}
	add(name, func(d *analysis.Digest) string { return d.Manifest.Run })
	add("started", func(d *analysis.Digest) string {
		if d.Manifest.StartedNs <= 0 {
			return ""
		}
		return time.Unix(0, d.Manifest.StartedNs).UTC().Format("2 January 2006, 15:04 UTC")
	})
	add("queue", func(d *analysis.Digest) string {
		q := d.Manifest.Queue
		if q.CommitInterval > 0 {
			return q.Kind + ", commits every " + figure.Duration(q.CommitInterval)
		}
		return q.Kind
	})
	add("an acknowledgement means", func(d *analysis.Digest) string { return d.Manifest.Queue.Durability })
	add("store", func(d *analysis.Digest) string {
		t := d.Manifest.Store.Address
		if d.Manifest.Store.Embedded {
			t += " (embedded: an in-process floor)"
		}
		return t
	})
	add("machine", func(d *analysis.Digest) string {
		h := d.Manifest.Host
		if h.CPUs == 0 {
			return h.Name
		}
		return strings.TrimPrefix(h.Name+", "+plural(h.CPUs, "processor", "processors"), ", ")
	})
	add("recorded by", func(d *analysis.Digest) string {
		return strings.TrimSpace(d.Manifest.Program.Name + " " + d.Manifest.Program.Version)
	})
	if f, n := s.found(analysis.Failure), s.found(analysis.Warning); f+n > 0 {
		text := plural(n, "warning", "warnings")
		if f > 0 {
			text = plural(f, "failure", "failures") + ", " + text
		}
		out = append(out, [2]string{"found in it", text})
	}
	return out
}
