package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/reporttest"
)

// An address names the step that is shown in depth, the first one where it does
// not.
func TestAddress(t *testing.T) {
	d := reporttest.Digest(reporttest.Spec{Run: "r", Rates: []float64{500, 1000}, Repeats: 2, Duration: 4 * time.Second})
	for fragment, want := range map[string]string{
		"": "0-0", "#warmup=1s": "0-0", "step=1": "1-0", "#log=a&step=1&repeat=1": "1-1", "repeat=1": "0-1",
		"step=2": "no step 2", "step=1&repeat=7": "repeat 7", "step=one": "step=one", "step=%zz": "fragment",
	} {
		var o report.Options
		err := o.Address(d, fragment)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", fragment, err, want)
			}
			continue
		}
		if o.Place.String() != want {
			t.Errorf("%q: %s, want %s", fragment, o.Place, want)
		}
	}
	var o report.Options
	if err := o.Address(&analysis.Digest{}, "step=3"); err != nil || o.Place != nil {
		t.Errorf("a run without a step: %v, %v", o.Place, err)
	}
}

// later are the intervals of percentiles, which only the whole page has.
var later = regexp.MustCompile(`<small>[^<]*</small></td>`)

// What is drawn while something is dragged is what the whole page has at these
// places, and nothing else.
func TestPartIsThatOfTheWhole(t *testing.T) {
	d := sweep()
	v := analysis.View{From: 3 * time.Second, To: 8 * time.Second}
	o := report.Options{Place: &report.Place{Step: 1}}
	whole, err := report.Build(d, v, o)
	if err != nil {
		t.Fatal(err)
	}
	html := all(whole)
	if strings.Contains(html, `id="step-0-0`) || !strings.Contains(html, "Of what was intended from 3 s to 8 s") {
		t.Error("not the one step under its window")
	}
	for _, want := range []string{`data-brush="3 8"`, `data-warmup="1"`, `data-windowed="true"`, `data-area="`, `data-line="slowest" checked`} {
		if !strings.Contains(html, want) {
			t.Errorf("the time line has no %s", want)
		}
	}
	o.Part = report.PartDepth
	part, err := report.Build(d, v, o)
	if err != nil || len(part.Regions) != 2 {
		t.Fatalf("%d regions, %v", len(part.Regions), err)
	}
	for _, r := range part.Regions {
		if len(r.HTML) < 500 || !strings.Contains(later.ReplaceAllString(html, "</td>"), `<div id="`+r.ID+`">`+later.ReplaceAllString(r.HTML, "</td>")+`</div>`) {
			t.Errorf("%s is not in the whole page: %.300s", r.ID, r.HTML)
		}
	}
	if !strings.Contains(part.Controls.Change, "Looked at from 3 s to 8 s.") {
		t.Error(part.Controls.Change)
	}
	d = settled()
	if part, err = report.Build(d, analysis.View{}, o); err != nil || !strings.Contains(all(part), "<small>…</small>") {
		t.Errorf("no place is kept for the intervals: %v", err)
	}
	o.Part = "else"
	if _, err := report.Build(d, v, o); err == nil {
		t.Error("a part that there is not")
	}
	if _, err := report.Build(d, analysis.View{From: time.Minute}, report.Options{}); err == nil || !strings.Contains(err.Error(), "--from") {
		t.Errorf("a window beyond the run: %v", err)
	}
}

// The lines that a view names are those of the time line, and their boxes say so.
func TestChosenLines(t *testing.T) {
	html := all(build(t, sweep(), analysis.View{Lines: []string{"85", "max"}}))
	for _, want := range []string{">p85</text>", ">max</text>", `data-line="85" checked`, `data-line="50">`, `data-line="band">`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(html, "A diamond is") || strings.Contains(html, "the darker a cell") {
		t.Error("what was switched off is told")
	}
}
