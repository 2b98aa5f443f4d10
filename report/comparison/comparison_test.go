//go:build !js

package comparison_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/analysis/compare"
	"queuebench/report"
	"queuebench/report/comparison"
	"queuebench/report/reporttest"
)

// a and b are two runs at two rates; b commits every 200 ms in its settings and
// is slower by half.
func pair(edit func(d *analysis.Digest)) []*analysis.Digest {
	a := reporttest.Digest(reporttest.Spec{Run: "20261129t101500z-aaaaaa", Rates: []float64{500, 1000}, Duration: 20 * time.Second})
	b := reporttest.Digest(reporttest.Spec{Run: "20261129t111500z-bbbbbb", Rates: []float64{500, 2000}, Duration: 20 * time.Second, Slower: 1.5})
	b.Manifest.Settings["commit-interval"] = "200ms"
	if edit != nil {
		edit(b)
	}
	return []*analysis.Digest{a, b}
}

func build(t *testing.T, ds []*analysis.Digest, v analysis.View, o report.Options) report.Document {
	t.Helper()
	doc, err := comparison.Build(ds, v, o)
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

var row = regexp.MustCompile(`(?s)<tr data-pair="(\d+)" data-load="([^"]*)" data-percentile="([\d.]+)" data-verdict="([^"]*)"[^>]*>(.*?)</tr>`)
var cell = regexp.MustCompile(`(?s)<t[dh][^>]*>(.*?)</t[dh]>`)

// Every row of the page says what the command line says.
func TestRowsEqualTheCommandLine(t *testing.T) {
	for _, o := range []report.Options{{}, {Base: 1}} {
		for _, v := range []analysis.View{{}, {Warmup: new(4 * time.Second), Percentiles: []float64{50, 75, 95, 99, 99.9}, Kind: analysis.Publish}} {
			ds := pair(nil)
			html := all(build(t, ds, v, o))
			labels := comparison.Labels(ds, nil)
			want, err := compare.Compare([]compare.Side{
				{Label: labels[o.Base], Runs: ds[o.Base : o.Base+1]}, {Label: labels[1-o.Base], Runs: ds[1-o.Base : 2-o.Base]},
			}, compare.Options{View: v})
			if err != nil {
				t.Fatal(err)
			}
			table := want.Pairs[0].Table()
			rows := row.FindAllStringSubmatch(html, -1)
			n := 0
			for i, c := range want.Pairs[0].Cells {
				for j, r := range c.Rows {
					if n >= len(rows) {
						t.Fatalf("%d rows, want more", len(rows))
					}
					got := rows[n]
					if got[2] != c.Name || got[3] != r.Percentile || got[4] != string(r.Verdict) {
						t.Errorf("row %d is %q, want %s p%s %s", n, got[2:5], c.Name, r.Percentile, r.Verdict)
					}
					cells := cell.FindAllStringSubmatch(got[5], -1)
					for k, text := range table.Rows[n+i][1:] { // after each load one row of its throughput
						shown := strings.ReplaceAll(strings.ReplaceAll(cells[k+1][1], "&gt;", ">"), "&lt;", "<")
						if shown != text {
							t.Errorf("%s p%s, %s: %q, want %q", c.Name, r.Percentile, table.Header[k+1], shown, text)
						}
					}
					n++
					_ = j
				}
			}
			if n == 0 || n != len(rows) {
				t.Errorf("%d rows, want %d", len(rows), n)
			}
		}
	}
}

func TestWhatAReaderNeeds(t *testing.T) {
	doc := build(t, pair(nil), analysis.View{}, report.Options{})
	var ids []string
	for _, r := range doc.Regions {
		ids = append(ids, r.ID)
		if !strings.Contains(r.HTML, "<h") {
			t.Errorf("%s has no heading", r.ID)
		}
	}
	if got := strings.Join(ids, " "); got != "headline changes sides per-rate results loads accounting facts" {
		t.Error(got)
	}
	if want := "Queuebench: commit-interval 200ms against commit-interval 100ms"; doc.Title != want {
		t.Errorf("the title is %q", doc.Title)
	}
	html := all(doc)
	for _, want := range []string{
		"single runs: within-run only", "is slower in 2 of 2 tests", `class="finding warning"`, "commit-interval: 100ms → 200ms",
		"Only commit-interval 100ms has: 1,000 msg/s", "An acknowledged message is in a committed version", "runs-per-rate-p99", "ratio-0", "spectra-0",
		`data-set="base=2"`, "One run on either side", "20261129t111500z-bbbbbb",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the comparison has no %q", want)
		}
	}
	if c := doc.Controls; c.Percentiles != "50, 99" || c.WarmupS != "2" || len(c.Edges) != 100 || c.Latency != "end_to_end" {
		t.Errorf("controls %+v", c)
	}
}

// A run's own lines have one class in all figures, whatever is the base.
func TestARunKeepsItsColour(t *testing.T) {
	for _, base := range []int{0, 1} {
		html := all(build(t, pair(nil), analysis.View{}, report.Options{Base: base}))
		for label, class := range map[string]string{"commit-interval 100ms": "s0", "commit-interval 200ms": "s1"} {
			swatches := regexp.MustCompile(`var\(--fig-(s\d)\)" stroke-width="2\.4"[^>]*/></svg> *`+label).FindAllStringSubmatch(html, -1)
			if len(swatches) < 4 {
				t.Fatalf("base %d: %d swatches of %s", base, len(swatches), label)
			}
			for _, s := range swatches {
				if s[1] != class {
					t.Errorf("base %d: %s is %s, want %s", base, label, s[1], class)
				}
			}
		}
		// The ratio is of the other: its colour.
		figure := html[strings.Index(html, `data-figure="ratio-0"`):]
		figure = figure[:strings.Index(figure, "</figure>")]
		if other := fmt.Sprintf("--fig-s%d", 1-base); !strings.Contains(figure, other) || strings.Contains(figure, fmt.Sprintf("--fig-s%d,", base)) {
			t.Errorf("base %d: the ratio is not drawn in %s", base, other)
		}
	}
}

// Several runs under one label are replicates, and tested by their ranks.
func TestLabelsMakeSides(t *testing.T) {
	var ds []*analysis.Digest
	var labels []string
	for i := range 4 {
		two := pair(func(d *analysis.Digest) { d.Manifest.Run = fmt.Sprintf("b%d", i) })
		two[0].Manifest.Run = fmt.Sprintf("a%d", i)
		ds, labels = append(ds, two...), append(labels, "before", "after")
	}
	html := all(build(t, ds, analysis.View{}, report.Options{Labels: labels, Width: 400}))
	for _, want := range []string{"after against before", "4+4 runs", "runs, replicates of each other", "Open run 3", "the middle one by p99"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(html, "within-run only") {
		t.Error("four runs on either side are called single")
	}
}

func TestLabels(t *testing.T) {
	run := func(name, kind string, settings map[string]string) *analysis.Digest {
		d := &analysis.Digest{}
		d.Manifest.Run, d.Manifest.Queue.Kind, d.Manifest.Settings = name, kind, settings
		return d
	}
	is := func(want string, given []string, ds ...*analysis.Digest) {
		t.Helper()
		if got := strings.Join(comparison.Labels(ds, given), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := func(v ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i+1 < len(v); i += 2 {
			m[v[i]] = v[i+1]
		}
		return m
	}
	is("delta|kafka", nil, run("a", "delta", nil), run("b", "kafka", nil))
	is("interval 1s|interval none", nil, run("a", "delta", s("interval", "1s")), run("b", "delta", nil))
	is("a|b", nil, run("a", "delta", s("x", "1", "y", "1")), run("b", "delta", s("x", "2", "y", "2")))
	is("a|a #2|run", nil, run("a", "m", nil), run("a", "m", nil), run("", "m", nil))
	is("old|b", []string{"old"}, run("a", "m", nil), run("b", "k", nil))
	is("x|x|y", []string{"x", "x", "y"}, run("a", "m", nil), run("b", "m", nil), run("c", "m", nil))
	is("…"+strings.Repeat("z", 31)+"|b", nil, run(strings.Repeat("z", 60), "m", nil), run("b", "m", nil))
}

func TestHostile(t *testing.T) {
	x := reporttest.HostileName + "\x00\x1b[31m\xff"
	ds := pair(func(d *analysis.Digest) {
		m := &d.Manifest
		m.Run, m.Reason, m.Complete = x, x, false
		m.Host.Name, m.Host.CPUModel, m.Program.Version, m.Queue.Kind, m.Queue.Durability, m.Store.Address = x, x, x, x, x, x
		m.Settings[x] = x
		d.Steps[1].Settings = map[string]string{x: x}
	})
	for _, labels := range [][]string{nil, {"a", x}, {x, x + "2"}} {
		html := all(build(t, ds, analysis.View{}, report.Options{Labels: labels}))
		for _, bad := range []string{"<img", "<script", `"c"`, "onerror=\""} {
			if strings.Contains(html, bad) {
				t.Errorf("%q came through", bad)
			}
		}
		if strings.ContainsAny(html, "\x00\x1b") || !strings.Contains(html, "&lt;img src=x") {
			at := strings.IndexAny(html, "\x00\x1b")
			t.Errorf("the name is not shown as text: %q", html[max(0, at-200):max(0, at)+20])
		}
	}
}

func TestWellFormed(t *testing.T) {
	ds := pair(func(d *analysis.Digest) { d.Manifest.Run = reporttest.HostileName })
	// The tables of values leave out the end tags that HTML lets out.
	values := regexp.MustCompile(`(?s)<details class="data[^>]*>.*?</details>`)
	for _, r := range build(t, ds, analysis.View{LogScale: true}, report.Options{Labels: []string{"a & b", "<c>"}}).Regions {
		d := xml.NewDecoder(strings.NewReader("<x>" + values.ReplaceAllString(r.HTML, "") + "</x>"))
		d.Entity = xml.HTMLEntity
		for {
			if _, err := d.Token(); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", r.ID, err)
				}
				break
			}
		}
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	a := reporttest.Digest(reporttest.Spec{Run: "a", Rates: []float64{500}, Duration: 4 * time.Second})
	b := reporttest.Digest(reporttest.Spec{Run: "b", Rates: []float64{800}, Duration: 4 * time.Second, Lost: 7})
	html := all(build(t, []*analysis.Digest{a, b}, analysis.View{}, report.Options{}))
	if !strings.Contains(html, "no load in common") || !strings.Contains(html, "spectra-1") {
		t.Error("runs without a common load have neither a word nor a figure")
	}
	if !strings.Contains(html, "lost 7 messages") {
		t.Error("the verdict does not name what was lost")
	}
	for _, c := range []struct {
		ds   []*analysis.Digest
		v    analysis.View
		o    report.Options
		says string
	}{
		{[]*analysis.Digest{a}, analysis.View{}, report.Options{}, "two runs"},
		{[]*analysis.Digest{a, b}, analysis.View{}, report.Options{Base: 2}, "base 3"},
		{[]*analysis.Digest{a, nil}, analysis.View{}, report.Options{}, "no digest"},
		{[]*analysis.Digest{a, b}, analysis.View{Warmup: new(time.Minute)}, report.Options{}, "warm-up"},
	} {
		if _, err := comparison.Build(c.ds, c.v, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want something about %q", err, c.says)
		}
	}
}
