package report

import (
	"slices"

	"queuebench/analysis"
	"queuebench/report/texts"
)

// icon is a severity's shape, so that colour is not all that tells. The word
// stands beside it wherever it is used.
func icon(s analysis.Severity) string {
	path := ""
	switch s {
	case analysis.Failure:
		path = `<path d="M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" stroke="currentColor" stroke-width="1.6"/>`
	case analysis.Warning:
		path = `<path d="M8 1.6 15 14H1z" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"/><path d="M8 6v4M8 11.2v1.4" stroke="currentColor" stroke-width="1.6"/>`
	case analysis.Note:
		path = `<circle cx="8" cy="8" r="6.6" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M8 7.2v4.4M8 4.2v1.6" stroke="currentColor" stroke-width="1.6"/>`
	default:
		path = `<circle cx="8" cy="8" r="6.6" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M4.8 8.2l2.3 2.3 4.2-4.8" fill="none" stroke="currentColor" stroke-width="1.6"/>`
	}
	return `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">` + path + `</svg>`
}

func severityWord(s analysis.Severity) string {
	switch s {
	case analysis.Failure:
		return texts.Failure
	case analysis.Warning:
		return texts.Warning
	}
	return texts.Note
}

// found is a finding with the steps that show it.
type found struct {
	analysis.Finding
	where []int // indexes of the summary's steps; empty: the run
	texts []string
}

// gather brings the same finding of several steps together, the gravest first.
func (b *builder) gather() []found {
	var out []found
	add := func(f analysis.Finding, step int) {
		i := slices.IndexFunc(out, func(g found) bool {
			return g.ID == f.ID && g.Severity == f.Severity && g.Advice == f.Advice && (len(g.where) > 0) == (step >= 0)
		})
		if i < 0 {
			out = append(out, found{Finding: f})
			i = len(out) - 1
		}
		if step >= 0 {
			out[i].where = append(out[i].where, step)
		}
		out[i].texts = append(out[i].texts, f.Text)
	}
	for _, f := range b.sum.Findings {
		add(f, -1)
	}
	for i, s := range b.sum.Steps {
		for _, f := range s.Findings {
			add(f, i)
		}
	}
	order := []analysis.Severity{analysis.Failure, analysis.Warning, analysis.Note}
	slices.SortStableFunc(out, func(a, b found) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return out
}

func (b *builder) findings() string {
	var w writer
	all := b.gather()
	w.raw(`<h2>` + texts.Found + `</h2>`)
	if len(all) == 0 {
		w.raw(`<p class="note">` + texts.NothingFound + `</p>`)
		return w.String()
	}
	w.raw(`<ul class="findings">`)
	for _, f := range all {
		w.open("li", "class", "finding "+string(f.Severity), "data-finding", f.ID, "data-severity", string(f.Severity))
		w.raw(`<div class="finding-head">`, icon(f.Severity), `<b>`, severityWord(f.Severity), `</b></div><div class="finding-body">`)
		same := true
		for _, t := range f.texts {
			same = same && t == f.texts[0]
		}
		switch {
		case len(f.where) == 0:
			for _, t := range f.texts {
				w.el("p", t)
			}
		case same:
			w.raw(`<p>`)
			if len(b.sum.Steps) > 1 {
				b.where(&w, f.where)
			}
			w.text(f.texts[0]).raw(`</p>`)
		case len(f.texts) <= 3:
			for i, t := range f.texts {
				w.raw(`<p>`)
				b.where(&w, f.where[i:i+1])
				w.text(t).raw(`</p>`)
			}
		default:
			w.raw(`<details data-key="finding-`).text(f.ID).raw(`"><summary>`)
			b.where(&w, f.where[:1])
			w.text(f.texts[0]).raw(` <span class="more">`).text(texts.MoreSteps(len(f.texts) - 1)).raw(`</span></summary>`)
			for i, t := range f.texts[1:] {
				w.raw(`<p>`)
				b.where(&w, f.where[i+1:i+2])
				w.text(t).raw(`</p>`)
			}
			w.raw(`</details>`)
		}
		if f.Advice != "" {
			w.raw(`<p class="advice">`).text(f.Advice)
			if f.Tuning != "" {
				w.raw(` <small>`).text(f.Tuning).raw(`</small>`)
			}
			w.raw(`</p>`)
		}
		w.raw(`</div></li>`)
	}
	w.raw(`</ul>`)
	return w.String()
}

// where links the steps that a finding is about: rate by rate where it is
// about all repeats of one, and no more than maxWhere by name.
func (b *builder) where(w *writer, steps []int) {
	const maxWhere = 6
	if len(steps) > 1 && len(steps) == len(b.sum.Steps) {
		w.raw(`<span class="where">` + texts.EveryStep + `</span> `)
		return
	}
	of := map[string]int{}
	for _, s := range b.sum.Steps {
		of[rateKey(s)]++
	}
	has := map[string]int{}
	for _, k := range steps {
		has[rateKey(b.sum.Steps[k])]++
	}
	w.raw(`<span class="where">`)
	named := 0
	for i, k := range steps {
		s := b.sum.Steps[k]
		name := b.stepName(s)
		if key := rateKey(s); of[key] > 1 && has[key] == of[key] {
			if i > 0 && rateKey(b.sum.Steps[steps[i-1]]) == key {
				continue
			}
			name = texts.AllRepeats(rateName(s))
		}
		if named == maxWhere {
			w.text(texts.AndOthers(len(steps)))
			break
		}
		if named > 0 {
			w.raw("; ")
		}
		w.raw(`<a data-goto href="#`, stepID(s), `">`).text(name).raw(`</a>`)
		named++
	}
	w.raw(`</span> `)
}
