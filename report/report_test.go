package report_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/reporttest"
)

func sweep() *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: "2026-11-29-sweep", Rates: []float64{1000, 3000}, Duration: 10 * time.Second, Stall: true})
}

// settled is long enough for the intervals of percentiles.
func settled() *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: "settled", Rates: []float64{200, 500}, Duration: 30 * time.Second})
}

func build(t *testing.T, d *analysis.Digest, v analysis.View) report.Document {
	t.Helper()
	doc, err := report.Build(d, v, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func all(doc report.Document) string {
	var b strings.Builder
	for _, r := range doc.Regions {
		b.WriteString(r.HTML)
	}
	return b.String()
}

var cellPattern = regexp.MustCompile(`<td[^>]* data-step="(\d+)" data-repeat="(\d+)" data-kind="(\w+)" data-percentile="([\d.]+)" data-ns="(-?\d+)"(?: data-supported="(\w+)")?[^>]*>([^<]*)(?:<small>([^<]*)</small>)?</td>`)

// TestCellsEqualTheSummary reads every percentile and its interval from the HTML.
func TestCellsEqualTheSummary(t *testing.T) {
	d := settled()
	for _, v := range []analysis.View{
		{},
		{Warmup: new(3 * time.Second), Percentiles: []float64{10, 50, 99, 99.99}, Kind: analysis.Publish, LogScale: true},
		{Warmup: new(time.Duration(0)), Kind: analysis.SendLag},
	} {
		doc := build(t, d, v)
		want := analysis.Summarize(d, v)
		cells := cellPattern.FindAllStringSubmatch(all(doc), -1)
		seen, intervals := map[string]int{}, 0
		for _, c := range cells {
			step, _ := strconv.Atoi(c[1])
			repeat, _ := strconv.Atoi(c[2])
			for _, s := range want.Steps {
				if s.Step != step || s.Repeat != repeat {
					continue
				}
				p := s.Latencies[c[3]].Percentiles[c[4]]
				text := strings.ReplaceAll(c[7], "&gt;", ">")
				if strconv.FormatInt(p.Ns, 10) != c[5] || p.Supported != (c[6] == "") || p.Text() != text {
					t.Errorf("%v: cell %v, the summary has %+v", v.Fragment(), c[1:], p)
				}
				if told := p.IntervalCell(); told != strings.Trim(c[8], "–") {
					t.Errorf("%v: the interval of cell %v is %q, the summary has %q", v.Fragment(), c[1:8], c[8], told)
				} else if told != "" {
					intervals++
				}
				seen[c[3]]++
			}
		}
		if intervals == 0 {
			t.Errorf("%v: no interval is told", v.Fragment())
		}
		np := len(v.Percentiles)
		if np == 0 {
			np = len(analysis.DefaultPercentiles)
		}
		for _, k := range []analysis.Kind{analysis.EndToEnd, analysis.EndToEndFromSend, analysis.Publish, analysis.SendLag} {
			n := 2 * np
			if k == v.Kind {
				n *= 2 // once in the table per rate, once in that of the step
			}
			if seen[k.String()] != n {
				t.Errorf("%v: %d cells of %s, want %d", v.Fragment(), seen[k.String()], k, n)
			}
		}
	}
}

// TestIntervalsWhereTheyAreShown: a page with one step in depth has the intervals
// of all its latencies, and of the other steps those of the table per rate.
func TestIntervalsWhereTheyAreShown(t *testing.T) {
	d := settled()
	doc, err := report.Build(d, analysis.View{}, report.Options{Place: &report.Place{Step: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range doc.Summary.Steps {
		for k, l := range s.Latencies {
			if has, want := l.Percentiles["50"].HighNs > 0, i == 1 || k == analysis.EndToEnd.String(); has != want {
				t.Errorf("step %d, %s: an interval %v, want %v", i, k, has, want)
			}
		}
	}
	html := all(doc)
	for _, want := range []string{"A whisker is the 95 % interval", "Below a percentile: its 95 % interval", `data-unit="ms">p99, 95 %`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	short := reporttest.Digest(reporttest.Spec{Run: "short", Rates: []float64{500}, Duration: 3 * time.Second})
	if html := all(build(t, short, analysis.View{})); strings.Contains(html, "95 %") || strings.Contains(html, "<small>–") {
		t.Error("a run too short for intervals speaks of them")
	}
}

// TestRegions names what a page can rely on.
func TestRegions(t *testing.T) {
	doc := build(t, sweep(), analysis.View{})
	var ids []string
	for _, r := range doc.Regions {
		ids = append(ids, r.ID)
		if !strings.Contains(r.HTML, "<h") {
			t.Errorf("%s has no heading", r.ID)
		}
	}
	if got := strings.Join(ids, " "); got != "headline findings per-rate accounting step-0-0 step-1-0 facts" {
		t.Error(got)
	}
	html := all(doc)
	for _, want := range []string{
		"no coordinated omission", "lab-3", "Objects are written to a folder", "commit-interval", "5f0c0c1e",
		"bench v0.1.0", `data-severity="`, "<figcaption>Each line is", "<svg", `data-count="lost"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

// TestHostile puts markup into every text of a run.
func TestHostile(t *testing.T) {
	x := reporttest.HostileName + "\x00\x1b[31m\xff"
	d := sweep()
	m := &d.Manifest
	m.Run, m.Reason, m.Complete = x, x, false
	m.Host.Name, m.Host.CPUModel, m.Host.Kernel, m.Clock.BootID, m.Program.Version = x, x, x, x, x
	m.Queue.Kind, m.Queue.Durability, m.Store.Address, m.LogStore.Durability = x, x, x, x
	m.Settings[x], m.Warnings = x, []string{x}
	d.Steps[0].Failure, d.Steps[0].Settings = x, map[string]string{x: x}
	d.Steps[0].Events = []analysis.Event{{Actor: x, Kind: x, Text: x}}
	doc := build(t, d, analysis.View{})
	html := all(doc) + report.ControlsHTML(doc.Controls)
	for _, bad := range []string{"<img", "<script", `"c"`, "onerror=\""} {
		if strings.Contains(html, bad) {
			t.Errorf("%q came through", bad)
		}
	}
	if strings.ContainsAny(html, "\x00\x1b") || !utf8.ValidString(html) {
		t.Error("control characters or bytes that are no text came through")
	}
	if !strings.Contains(html, "&lt;img src=x") {
		t.Error("the name is not shown at all")
	}
}

// TestWellFormed reads each fragment as XML, but for the tables of values,
// which leave out the end tags that HTML lets out.
func TestWellFormed(t *testing.T) {
	doc := build(t, reporttest.Digest(reporttest.Spec{Run: reporttest.HostileName, Rates: []float64{500}, Repeats: 2, Duration: 4 * time.Second, Lost: 40}), analysis.View{})
	values := regexp.MustCompile(`(?s)<details class="data[^>]*>.*?</details>`)
	bare := regexp.MustCompile(` (data-goto|hidden|checked|selected)([ >])`)
	void := regexp.MustCompile(`<(input[^>]*)>`)
	check := func(id, html string) {
		html = values.ReplaceAllString(html, "")
		html = bare.ReplaceAllString(html, ` $1=""$2`)
		html = void.ReplaceAllString(html, "<$1/>")
		d := xml.NewDecoder(strings.NewReader("<x>" + html + "</x>"))
		d.Entity = xml.HTMLEntity
		for {
			if _, err := d.Token(); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", id, err)
				}
				return
			}
		}
	}
	for _, r := range doc.Regions {
		check(r.ID, r.HTML)
	}
	check("controls", report.ControlsHTML(doc.Controls))
}

func TestLossShows(t *testing.T) {
	doc := build(t, reporttest.Digest(reporttest.Spec{Run: "r", Rates: []float64{500}, Duration: 8 * time.Second, Lost: 400}), analysis.View{})
	html := all(doc)
	if !strings.Contains(html, `data-beyond="true"`) || !strings.Contains(html, "&gt; 10.0 s") {
		t.Error("400 lost of 3,600 do not reach the p99")
	}
	if !strings.Contains(html, `class="verdict failure"`) {
		t.Error("a loss that the queue promised not to have is no failure")
	}
}

func TestNothing(t *testing.T) {
	d := sweep()
	d.Steps, d.Manifest.Steps = nil, nil
	doc := build(t, d, analysis.View{})
	if html := all(doc); !strings.Contains(html, "nothing to measure") || !strings.Contains(html, "<svg") {
		t.Error("an empty run has neither a word nor a figure")
	}
	if _, err := report.Build(nil, analysis.View{}, report.Options{}); err == nil {
		t.Error("no digest, no error")
	}
	if _, err := report.Build(sweep(), analysis.View{Warmup: new(time.Minute)}, report.Options{}); err == nil || !strings.Contains(err.Error(), "warm-up") {
		t.Errorf("a warm-up longer than the step gives %v", err)
	}
}

func TestControls(t *testing.T) {
	c := build(t, sweep(), analysis.View{}).Controls
	if c.WarmupS != "1" || !c.WarmupAuto || c.Edges[5] != "1" || len(c.Edges) != 50 || c.Fragment != "" {
		t.Errorf("%+v", c)
	}
	html := report.ControlsHTML(c)
	for _, want := range []string{`id="warmup-slider"`, `value="5"`, `max="49"`, `name="percentiles" value="50, 75, 85, 95, 99, 99.9"`, `id="scale-linear" value="linear" checked`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	c = build(t, sweep(), analysis.View{Warmup: new(3 * time.Second), LogScale: true}).Controls
	if c.WarmupS != "3" || c.Scale != "log" || c.Fragment != "warmup=3s&scale=log" || !strings.Contains(c.Change, "p99 is") {
		t.Errorf("%+v", c)
	}
}

// TestSize holds the fragments of ten rates of five minutes below what a light
// report of a megabyte has room for beside the page itself.
// The hint tells the cut that was made, which lies on an edge of the intervals.
func TestHintOfTheCut(t *testing.T) {
	d := reporttest.Digest(reporttest.Spec{Run: "coarse", Rates: []float64{100}, Interval: 400 * time.Millisecond})
	doc := build(t, d, analysis.View{Warmup: new(3 * time.Second)})
	const want = "Cut of the longest step: 3.2 s (as asked, moved from 3 s to the next edge of the intervals)."
	if doc.Controls.Hint != want {
		t.Errorf("%q, want %q", doc.Controls.Hint, want)
	}
	if doc.Controls.WarmupS != "3" {
		t.Errorf("the control has %q, which was asked for as 3", doc.Controls.WarmupS)
	}
}

func TestSize(t *testing.T) {
	var rates []float64
	for i := range 10 {
		rates = append(rates, float64(20*(i+1)))
	}
	d := reporttest.Digest(reporttest.Spec{Run: "long", Rates: rates, Duration: 300 * time.Second, Interval: time.Second})
	n := len(all(build(t, d, analysis.View{})))
	if n > 920_000 {
		t.Errorf("%d bytes", n)
	}
}

// Steps that differ by more than their rate are told apart wherever they are
// named, and no rate gathers them as if they were repeats.
func TestVariantsAreToldApart(t *testing.T) {
	d := sweep()
	for i := range d.Steps {
		d.Steps[i].Rate = 1000
		d.Steps[i].Settings = map[string]string{"rate": "1000", "consumers": fmt.Sprint(1 << i)}
	}
	html := all(build(t, d, analysis.View{}))
	for _, want := range []string{"1,000 msg/s, consumers 1", "1,000 msg/s, consumers 2", `<th scope="col">settings</th>`, "<td>consumers 2</td>", "p99, consumers 2"} {
		if !strings.Contains(html, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if strings.Contains(html, "middle of") || strings.Contains(html, "all repeats") {
		t.Error("variants were taken for repeats")
	}
}
