package browser

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	sides "queuebench/analysis/compare"
	"queuebench/report/comparison"
	"queuebench/report/reporttest"
	"queuebench/site"
)

// faster and slower are two runs of the same rates, long enough to be told apart
// by their own variation: latencies of one are a third longer, and its settings
// have another commit interval.
var faster = sync.OnceValue(func() *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: "2026-11-29-faster", Rates: []float64{100, 300}, Duration: 90 * time.Second})
})

var slower = sync.OnceValue(func() *analysis.Digest {
	d := reporttest.Digest(reporttest.Spec{Run: "2026-11-30-slower", Rates: []float64{100, 300}, Duration: 90 * time.Second, Slower: 1.35})
	d.Manifest.Settings["commit-interval"] = "200ms"
	d.Manifest.StartedNs += 86_400e9
	return d
})

// results holds the page's tables against the native comparison.
func results(b *tab, base int, v analysis.View, ds ...*analysis.Digest) {
	b.t.Helper()
	labels := comparison.Labels(ds, nil)
	fitted := func(i int) []*analysis.Digest { return []*analysis.Digest{fit(b.t, ds[i])} }
	all := []sides.Side{{Label: labels[base], Runs: fitted(base)}}
	for i := range ds {
		if i != base {
			all = append(all, sides.Side{Label: labels[i], Runs: fitted(i)})
		}
	}
	r, err := sides.Compare(all, sides.Options{View: v})
	if err != nil {
		b.t.Fatal(err)
	}
	var want []string
	for i := range r.Pairs {
		t := r.Pairs[i].Table()
		load := ""
		for _, row := range t.Rows {
			if row[0] != "" {
				load = row[0]
			}
			want = append(want, load+"|"+strings.Join(row[1:], "|"))
		}
	}
	got := eval[[]string](b, `[...document.querySelectorAll("table.comparison tbody tr")].map(r => [...r.cells].map(c => c.textContent).join("|"))`)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.t.Errorf("the page shows\n%s\nand the comparison is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestComparison opens two runs beside each other, both ways, moves the cut,
// makes the other the base, looks at one of them, and goes back.
func TestComparison(t *testing.T) {
	t.Parallel()
	both := []*analysis.Digest{faster(), slower()}
	ways := map[string]func(t *testing.T) string{
		"file from disk": func(t *testing.T) string { return comparisonFile(t, site.Options{}, both...) },
		"site over HTTP": func(t *testing.T) string {
			address, _ := serve(t, both...)
			return address + "#log=runs%2F2026-11-29-faster.digest.gz&log=runs%2F2026-11-30-slower.digest.gz&view=compare"
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			b.open(way(t))
			results(b, 0, analysis.View{}, both...)
			if got := eval[string](b, `document.getElementById("verdict").textContent`); !strings.Contains(got, "slower in 4 of 4 tests") {
				t.Errorf("the verdict is %q", got)
			}
			b.change(func() { b.enter("warmup", "5") })
			results(b, 0, seconds(5), both...)
			b.change(func() { b.enter("percentiles", "50, 95") })
			v := seconds(5)
			v.Percentiles = []float64{50, 95}
			results(b, 0, v, both...)
			b.change(func() { b.do(chromedp.Click(`button[data-set="base=2"]`)) })
			results(b, 1, v, both...)
			if got := eval[string](b, `document.getElementById("verdict").textContent`); !strings.Contains(got, "faster in 4 of 4 tests") {
				t.Errorf("the verdict is %q", got)
			}

			link := eval[string](b, `location.href`)
			c := newTab(t)
			c.look(1200, 900, false)
			c.open(link)
			c.wait(`document.querySelector(".comparison th:nth-child(3)")?.textContent.includes("200ms")`)
			results(c, 1, v, both...)

			b.change(func() { b.do(chromedp.Click(`button[data-set="view=&run=2"]`)) })
			b.wait(`document.querySelector("#headline h1")?.textContent === "2026-11-30-slower"`)
			if eval[bool](b, `Boolean(document.querySelector("table.comparison"))`) {
				t.Error("the comparison's table stands beside the run")
			}
			if got := eval[string](b, `[...document.querySelectorAll("#main > [data-region]:not([hidden])")].map(e => e.id).slice(0, 4).join(" ")`); got != "headline findings per-rate accounting" {
				t.Errorf("the run's regions stand as %s", got)
			}
			b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.back()`)) })
			b.wait(`document.querySelector("table.comparison")`)
			results(b, 1, v, both...)
		})
	}
}

// TestComparisonWithoutScripts reads one in a browser that runs none.
func TestComparisonWithoutScripts(t *testing.T) {
	t.Parallel()
	both := []*analysis.Digest{faster(), slower()}
	for name, o := range map[string]site.Options{"full": {}, "light": {Light: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			b.do(chromedp.Navigate(comparisonFile(t, o, both...)), chromedp.WaitVisible("table.comparison"))
			results(b, 0, analysis.View{}, both...)
			if n := eval[int](b, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().height > 150).length`); n != 6 { // two per rate, and two for each of two loads
				t.Errorf("%d figures can be seen, want 6", n)
			}
			if eval[bool](b, `[...document.querySelectorAll("#controls-holder, .needs-script")].some(c => c.getBoundingClientRect().height > 0)`) {
				t.Error("controls that cannot work are shown")
			}
		})
	}
}

// TestHostileComparison names runs so that they would break out.
func TestHostileComparison(t *testing.T) {
	t.Parallel()
	evil := reporttest.Digest(reporttest.Spec{Run: reporttest.HostileName, Rates: []float64{1000}, Duration: 8 * time.Second})
	evil.Manifest.Settings[reporttest.HostileName] = reporttest.HostileName
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(comparisonFile(t, site.Options{Labels: []string{"", reporttest.HostileName}}, run(), evil))
	b.change(func() { b.enter("warmup", "3") })
	if n := eval[int](b, `document.querySelectorAll("main img, main script").length`); n > 0 {
		t.Errorf("%d elements were made from the name", n)
	}
	if !eval[bool](b, `document.querySelector("#headline h1").textContent.includes('"c" <img src=x')`) {
		t.Error("the name is not shown as it is")
	}
}

// TestListIsSearchedAndCompared finds runs in the list, ticks two and compares
// them; with scripts off the list is a list.
func TestListIsSearchedAndCompared(t *testing.T) {
	t.Parallel()
	third := reporttest.Digest(reporttest.Spec{Run: "third", Rates: []float64{1000}, Duration: 8 * time.Second})
	third.Manifest.Queue.Kind = "kafka"
	third.Manifest.StartedNs += 2 * 86_400e9
	address, _ := serve(t, faster(), slower(), third)
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(address))
	b.wait(`document.getElementById("main").dataset.routed === "true" && !document.getElementById("chooser").hidden`)
	listed := `[...document.querySelectorAll(".runs > li")].filter(li => !li.hidden).map(li => li.querySelector(".name").textContent).join(" ")`
	is := func(want string) {
		t.Helper()
		if got := eval[string](b, listed); got != want {
			t.Errorf("listed are %q, want %q", got, want)
		}
	}
	is("third 2026-11-30-slower 2026-11-29-faster")
	b.shot("list")
	b.do(chromedp.Focus("#find"), chromedp.KeyEvent("slow"))
	is("2026-11-30-slower")
	b.do(chromedp.Evaluate[chromedp.Void](`const f = document.getElementById("find"); f.value = ""; f.dispatchEvent(new Event("input"))`))
	b.do(chromedp.Focus("#queue"), chromedp.KeyEvent("d"))
	is("2026-11-30-slower 2026-11-29-faster")
	if got := eval[string](b, `document.getElementById("found").textContent`); got != "2 of 3 runs." {
		t.Errorf("the live region says %q", got)
	}
	if eval[int](b, `document.querySelectorAll(".runs .spark").length`) != 3 {
		t.Error("not every run has its sparkline")
	}
	// By keys: each box is reached by Tab and ticked by the space bar.
	for _, want := range []string{"Ticked is 2026-11-30-slower: tick another one", "Ticked are 2 runs, 2026-11-29-faster as the base."} {
		b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".runs > li:not([hidden]) .pick input")].find(i => !i.checked).focus()`), chromedp.KeyEvent(" "))
		if got := eval[string](b, `document.getElementById("found").textContent`); !strings.HasPrefix(got, "2 of 3 runs. "+want) {
			t.Errorf("the live region says %q, want %q", got, want)
		}
	}
	b.do(chromedp.Click("#compare"))
	b.wait(ready + ` && document.querySelector("table.comparison")`)
	results(b, 0, analysis.View{}, faster(), slower())
	if got := eval[string](b, `location.hash`); !regexp.MustCompile(`log=.*faster.*log=.*slower.*view=compare`).MatchString(got) {
		t.Errorf("the address is %s", got)
	}

	c := newTab(t)
	c.look(1200, 900, false)
	if _, err := chromedp.Call(c.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	c.do(chromedp.Navigate(address), chromedp.WaitVisible(".runs"))
	if eval[bool](c, `[...document.querySelectorAll("#chooser, .pick")].some(c => c.getBoundingClientRect().height > 0)`) {
		t.Error("controls that cannot work are shown")
	}
	c.do(chromedp.Click(`.runs li:nth-child(2) .more a`), chromedp.WaitVisible("#rates"))
	compare(c, slower(), analysis.View{})
}
