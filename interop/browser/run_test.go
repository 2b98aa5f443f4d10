package browser

import (
	"fmt"
	"sync"
	"time"

	"queuebench/analysis"
	"queuebench/report/reporttest"
)

// run is the run that most tests look at.
var run = sync.OnceValue(func() *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: "2026-11-29-delta-sweep", Rates: []float64{1000, 5000, 10000}, Stall: true})
})

// cell is a percentile as the page shows it.
type cell struct {
	Step, Repeat     string
	Kind, Percentile string
	Ns, Supported    string
	Beyond, Text     string
	Interval         string // the 95 % interval below it
}

const readCells = `[...document.querySelectorAll("[data-region]:not([hidden]) td[data-percentile]")].map(t => ({
	Step: t.dataset.step, Repeat: t.dataset.repeat, Kind: t.dataset.kind, Percentile: t.dataset.percentile,
	Ns: t.dataset.ns, Supported: t.dataset.supported || "true", Beyond: t.dataset.beyond || "", Text: t.firstChild.data,
	Interval: (t.querySelector("small")?.textContent || "").replace(/^–$/, "") }))`

// compare holds the page against the native analysis under the same view.
func compare(b *tab, d *analysis.Digest, v analysis.View) {
	b.t.Helper()
	compareSummary(b, analysis.Summarize(fit(b.t, d), v), v)
}

// compareSummary reads every percentile, extreme and count on the page and
// holds it against a summary made under the view v: of each step the latency of
// the figures, and all of them of the steps that are shown in depth.
func compareSummary(b *tab, sum analysis.Summary, v analysis.View) {
	b.t.Helper()
	want, inDepth := map[string]cell{}, map[string]bool{}
	for _, id := range eval[[]string](b, `[...document.querySelectorAll('[data-region][id^="step-"]:not([hidden])')].map(e => e.id)`) {
		inDepth[id] = true
	}
	if len(inDepth) == 0 {
		b.t.Fatal("no step is shown in depth")
	}
	shows := func(s analysis.StepSummary, kind string) bool {
		return kind == v.Kind.String() || inDepth[fmt.Sprintf("step-%d-%d", s.Step, s.Repeat)]
	}
	for _, s := range sum.Steps {
		for kind, l := range s.Latencies {
			if !shows(s, kind) {
				continue
			}
			for p, x := range l.Percentiles {
				c := cell{fmt.Sprint(s.Step), fmt.Sprint(s.Repeat), kind, p, fmt.Sprint(x.Ns), fmt.Sprint(x.Supported), "", x.Text(), x.IntervalCell()}
				if x.Beyond {
					c.Beyond = "true"
				}
				want[c.Step+" "+c.Repeat+" "+c.Kind+" "+c.Percentile] = c
			}
		}
	}
	if len(want) == 0 {
		b.t.Fatal("the analysis has no percentile to compare")
	}
	seen := map[string]bool{}
	wrong := 0
	for _, c := range eval[[]cell](b, readCells) {
		key := c.Step + " " + c.Repeat + " " + c.Kind + " " + c.Percentile
		if c != want[key] {
			if wrong++; wrong <= 3 {
				b.t.Errorf("the page shows %+v, the analysis says %+v", c, want[key])
			}
		}
		seen[key] = true
	}
	missing := 0
	for key := range want {
		if !seen[key] {
			missing++
		}
	}
	if wrong+missing > 0 {
		b.t.Fatalf("under %q the page shows %d wrong percentiles of %d and lacks %d; its address is %q, its view %q", v.Fragment(), wrong, len(want), missing,
			eval[string](b, `location.hash`), eval[string](b, `document.getElementById("main").dataset.view || ""`))
	}
	for _, s := range sum.Steps {
		at := fmt.Sprintf(`[data-step="%d"][data-repeat="%d"]`, s.Step, s.Repeat)
		check := func(selector, attribute string, want int64) {
			b.t.Helper()
			got := eval[string](b, `(document.querySelector('td`+at+selector+`') || {dataset: {}}).dataset.`+attribute+` || "nothing"`)
			if got != fmt.Sprint(want) {
				b.t.Errorf("%s%s is %s, the analysis says %d", at, selector, got, want)
			}
		}
		check(`[data-value="warmup"]`, "ns", s.WarmupNs)
		check(`[data-count="records used"]`, "value", s.Accounting.RecordsUsed)
		check(`[data-count="records trimmed"]`, "value", s.Accounting.RecordsTrimmed)
		for kind, l := range s.Latencies {
			if !inDepth[fmt.Sprintf("step-%d-%d", s.Step, s.Repeat)] {
				continue
			}
			check(`[data-kind="`+kind+`"][data-value="max"]`, "ns", l.MaxNs)
			check(`[data-kind="`+kind+`"][data-value="min"]`, "ns", l.MinNs)
			check(`[data-kind="`+kind+`"][data-value="mean"]`, "ns", l.MeanNs)
		}
	}
	findings := 0
	for _, s := range sum.Steps {
		findings += len(s.Findings)
	}
	if n := eval[int](b, `document.querySelectorAll("#findings .finding").length`); findings+len(sum.Findings) > 0 && n == 0 {
		b.t.Errorf("%d findings, none on the page", findings+len(sum.Findings))
	}
}

func seconds(s float64) analysis.View {
	d := time.Duration(s * float64(time.Second))
	return analysis.View{Warmup: &d}
}
