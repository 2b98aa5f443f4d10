package site

import (
	"html"
	"net/url"
	"slices"
	"time"

	"queuebench/figure"
	"queuebench/report/texts"
)

// index is the page of a site: the list of its runs, which can be read with
// scripts off, and the place where scripts put a run.
func index(list List, s *static) string {
	var p page
	// All modules at once, rather than each after the one that imports it.
	links := `<link rel="stylesheet" href="` + s.style + `">`
	for _, name := range s.modules {
		links += "\n" + `<link rel="modulepreload" href="` + name + `">`
	}
	p.head(texts.SiteTitle, siteCSP, links)
	// By its name: a bucket shows no index.html of its own accord.
	p.top(`<a href="index.html">`+texts.Brand+`</a>`, `<a id="all-runs" href="index.html" hidden>`+texts.AllRuns+`</a>`, "main")
	p.WriteString(`<main id="main" data-worker="` + s.worker + `" data-analyze="` + s.analyze + `" data-intake="` + s.intake + `">
<p id="page-error" class="error" role="alert" hidden></p>
<p id="loading-said" class="unseen" role="status"></p>
<div id="loading" class="loading" tabindex="-1" hidden><p id="loading-text"></p><progress id="loading-bar" max="1" aria-label="` + texts.Progress + `"></progress><button type="button" id="loading-cancel">` + texts.Cancel + `</button></div>
<ul id="opened" class="opened" hidden></ul>
<section id="run-list"><h1 class="run">` + texts.Runs + `</h1>
<noscript><p class="note">` + texts.ListScriptsOff + `</p></noscript>
`)
	if len(list.Runs) == 0 {
		p.WriteString("<p>" + texts.NoRuns + "</p>\n")
	}
	chooser(&p, list)
	p.WriteString("<ul class=\"runs\">\n")
	for i, e := range list.Runs {
		listed(&p, e, before(list.Runs, i))
	}
	p.WriteString("</ul></section>\n" + openingHTML + "<div id=\"controls-holder\" class=\"controls-holder\" hidden></div>\n</main>\n")
	p.foot(texts.SiteFoot)
	for _, name := range s.entries {
		p.WriteString(`<script type="module" src="` + name + "\"></script>\n")
	}
	p.WriteString("</body>\n</html>\n")
	return p.String()
}

// chooser finds runs by a word or by their queue, and compares those that are
// ticked. It waits for its script.
func chooser(p *page, list List) {
	if len(list.Runs) < 2 {
		return
	}
	p.WriteString(`<form id="chooser" class="chooser" role="search" aria-label="` + texts.FindLabel + `" hidden>
<div class="field grow"><label for="find">` + texts.Find + `</label><input type="search" id="find" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="queue">` + texts.Queue + `</label><select id="queue"><option value="">` + texts.AllQueues + `</option>`)
	var queues []string
	for _, e := range list.Runs {
		if !slices.Contains(queues, e.Queue) {
			queues = append(queues, e.Queue)
		}
	}
	slices.Sort(queues)
	for _, q := range queues {
		p.WriteString(`<option>` + html.EscapeString(q) + `</option>`)
	}
	p.WriteString(`</select></div>
<a id="compare" class="button" role="link" aria-disabled="true">` + texts.CompareButton + `</a>
<p id="found" class="status" role="status" aria-live="polite">` + texts.TickTwo + `</p></form>
`)
}

// listed is one run of the list. previous is the run that it is offered to be
// compared with; nil for none.
func listed(p *page, e Entry, previous *Entry) {
	log := html.EscapeString(url.QueryEscape(e.address()))
	name := html.EscapeString(e.Run)
	p.WriteString(`<li class="listed" data-queue="` + html.EscapeString(e.Queue) + `" data-log="` + html.EscapeString(e.address()) + `" data-file="` + html.EscapeString(e.File) + `" data-page="` + html.EscapeString((&url.URL{Path: e.Page}).String()) + `">`)
	p.WriteString(`<label class="pick" hidden><input type="checkbox" name="log" value="` + html.EscapeString(e.address()) + `"><span class="unseen">` + texts.PickRun(name) + `</span></label>`)
	p.WriteString(`<a class="open" href="#log=` + log + `"><span class="name">` + name + `</span>`)
	when := ""
	if e.StartedNs > 0 {
		when = time.Unix(0, e.StartedNs).UTC().Format(texts.DateShort)
	}
	p.WriteString(`<span class="when">` + when + `</span><span class="what">` + html.EscapeString(e.Queue))
	if !e.Complete {
		p.WriteString(texts.ListIncomplete)
	}
	p.WriteString(`</span>` + sparkline(e.Steps) + `<span class="numbers">`)
	for i, s := range e.Steps {
		if i == 6 {
			p.WriteString("<span>" + texts.MoreOfRun(len(e.Steps)-i) + "</span>")
			break
		}
		p.WriteString("<span>" + html.EscapeString(texts.StepNumbers(s.Rate, s.P50, s.P99)) + "</span>")
	}
	p.WriteString(`</span></a><span class="more">`)
	if e.Page != "" {
		p.WriteString(`<a href="` + html.EscapeString((&url.URL{Path: e.Page}).String()) + `">` + texts.PlainPage + `<span class="unseen">` + texts.PlainPageOf(name) + `</span></a>`)
	}
	if previous != nil {
		p.WriteString(` <a href="#log=` + html.EscapeString(url.QueryEscape(previous.address())) + `&amp;log=` + log + `&amp;view=compare">` + texts.CompareBefore + `<span class="unseen">` + texts.BeforeRun(html.EscapeString(previous.Run)) + `</span></a>`)
	}
	p.WriteString("</span></li>\n")
}

// before is the next older run of the same queue that has a rate in common with
// run i: runs stand from the newest to the oldest.
func before(runs []Entry, i int) *Entry {
	for k := i + 1; k < len(runs); k++ {
		if runs[k].Queue != runs[i].Queue {
			continue
		}
		for _, s := range runs[k].Steps {
			if slices.ContainsFunc(runs[i].Steps, func(o EntryStep) bool { return o.Rate == s.Rate }) {
				return &runs[k]
			}
		}
	}
	return nil
}

// sparkline draws p50 and p99 over the steps in the order of their rate, each on
// the same logarithmic axis. The numbers stand beside it, so it is hidden from
// those who hear the page. It is empty where there is nothing to draw.
func sparkline(steps []EntryStep) string {
	s := figure.Sparkline{}
	sorted := slices.Clone(steps)
	slices.SortStableFunc(sorted, func(a, b EntryStep) int {
		switch {
		case a.RatePerS < b.RatePerS:
			return -1
		case a.RatePerS > b.RatePerS:
			return 1
		}
		return 0
	})
	for _, st := range sorted {
		s.Low, s.High = append(s.Low, st.P50Ns), append(s.High, st.P99Ns)
	}
	return s.SVG()
}
