package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"queuebench/analysis"
	"queuebench/report/reporttest"
	"queuebench/site"
)

// pages are the two ways to open the run.
func pages(t *testing.T, do func(t *testing.T, address string)) {
	t.Run("report from disk", func(t *testing.T) {
		t.Parallel()
		do(t, reportFile(t, run(), analysis.View{}, site.Options{}))
	})
	t.Run("site over HTTP", func(t *testing.T) {
		t.Parallel()
		address, _ := serve(t, run())
		do(t, address+"#log="+url.QueryEscape("runs/2026-11-29-delta-sweep.digest.gz"))
	})
}

const ready = `document.getElementById("main").dataset.ready === "true"`

func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.wait(ready)
}

// TestWarmup moves the cut by each of its controls and compares every number.
func TestWarmup(t *testing.T) {
	t.Parallel()
	pages(t, func(t *testing.T, address string) {
		b := newTab(t)
		b.look(1200, 900, false)
		b.open(address)
		compare(b, run(), analysis.View{})
		b.choose(2)
		first := eval[string](b, `document.querySelector('#step-2-0 td[data-kind="end_to_end"][data-percentile="99"]').dataset.ns`)

		b.change(func() { b.enter("warmup", "5") })
		compare(b, run(), seconds(5))
		if got := eval[string](b, `location.hash`); !strings.Contains(got, "warmup=5s") {
			t.Errorf("the address is %s", got)
		}
		if got := eval[string](b, `document.getElementById("status").textContent`); !strings.Contains(got, "Warm-up 5 s cut") {
			t.Errorf("the live region says %q", got)
		}
		if now := eval[string](b, `document.querySelector('#step-2-0 td[data-kind="end_to_end"][data-percentile="99"]').dataset.ns`); now == first {
			t.Error("the cut of 5 s changed nothing")
		}

		// The slider by its keys: two edges further, of the intervals of 400 ms that
		// the digest of a page has here.
		b.change(func() { b.key("warmup-slider", kb.ArrowRight, 1) })
		b.change(func() { b.key("warmup-slider", kb.ArrowRight, 1) })
		compare(b, run(), seconds(5.6))
		if got := eval[string](b, `document.getElementById("warmup").value`); got != "5.6" {
			t.Errorf("the number shows %s", got)
		}

		b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.back()`)) })
		b.wait(`location.hash.includes("warmup=5.2s")`)
		compare(b, run(), seconds(5.2))
		b.change(func() { b.do(chromedp.Click("#reset")) })
		compare(b, run(), analysis.View{})
		if got := eval[string](b, `location.hash`); strings.Contains(got, "warmup") {
			t.Errorf("after the reset the address is %s", got)
		}
	})
}

// TestOtherControls changes percentiles, latency and scale, opens the address
// anew, and finds the same view.
func TestOtherControls(t *testing.T) {
	t.Parallel()
	pages(t, func(t *testing.T, address string) {
		b := newTab(t)
		b.look(1200, 900, false)
		b.open(address)
		b.change(func() { b.enter("percentiles", "10, 50,99.9") })
		v := analysis.View{Percentiles: []float64{10, 50, 99.9}}
		compare(b, run(), v)

		b.change(func() {
			b.do(chromedp.Focus("#latency"))
			b.do(chromedp.KeyEvent(kb.ArrowDown))
			b.do(chromedp.KeyEvent(kb.ArrowDown))
		})
		b.wait(`document.querySelector("#per-rate h2").textContent.startsWith("Publish latency")`)
		v.Kind = analysis.Publish
		compare(b, run(), v)
		b.choose(1)
		linear := eval[string](b, `document.querySelector("#step-1-0 svg").outerHTML`)
		b.change(func() {
			b.do(chromedp.Focus("#scale-linear"))
			b.do(chromedp.KeyEvent(kb.ArrowRight))
		})
		v.LogScale = true
		compare(b, run(), v)
		if log := eval[string](b, `document.querySelector("#step-1-0 svg").outerHTML`); log == linear {
			t.Error("the figure did not become logarithmic")
		}

		link := eval[string](b, `location.href`)
		c := newTab(t)
		c.look(1200, 900, false)
		c.open(link)
		c.wait(`document.querySelector("#per-rate h2").textContent.startsWith("Publish latency")`)
		compare(c, run(), v)
		if got := eval[string](c, `document.getElementById("percentiles").value + " " + document.getElementById("latency").value + " " + document.getElementById("scale-log").checked`); got != "10, 50, 99.9 publish true" {
			t.Errorf("the controls show %s", got)
		}
	})
}

// TestBadInput asks for what cannot be: a readable word, and the numbers stay.
func TestBadInput(t *testing.T) {
	t.Parallel()
	pages(t, func(t *testing.T, address string) {
		b := newTab(t)
		b.look(1200, 900, false)
		b.open(address)
		for _, c := range []struct{ id, value, says string }{
			{"percentiles", "50, 101", "101"},
			{"percentiles", "fifty", "fifty"},
			{"warmup", "500", "warm-up"},
		} {
			b.enter(c.id, c.value)
			b.wait(`!document.getElementById("view-error").hidden && document.getElementById("view-error").textContent.includes("` + c.says + `")`)
			compare(b, run(), analysis.View{})
			if got := eval[string](b, `[...document.querySelectorAll("[aria-invalid=true]")].map(e => e.id).join()`); got != c.id {
				t.Errorf("after %s=%q the control marked as wrong is %q", c.id, c.value, got)
			}
		}
		b.change(func() { b.do(chromedp.Click("#reset")) })
		if !eval[bool](b, `document.getElementById("view-error").hidden`) {
			t.Error("the error stays after the reset")
		}
		compare(b, run(), analysis.View{})
	})
}

// TestCancel ends the worker in the middle, and the next change starts a new
// one.
func TestCancel(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	b.do(chromedp.Evaluate[chromedp.Void](`
		document.getElementById("warmup").value = "7";
		document.getElementById("warmup").dispatchEvent(new Event("change", {bubbles: true}));
		document.getElementById("cancel").click()`))
	b.wait(`document.getElementById("status").textContent === "Cancelled."`)
	compare(b, run(), analysis.View{})
	if got := eval[string](b, `document.getElementById("warmup").value`); got != "2" {
		t.Errorf("after the cancel the control shows %s", got)
	}
	b.change(func() { b.enter("warmup", "4") })
	compare(b, run(), seconds(4))
}

// TestWithoutScripts reads a report in a browser that runs none.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]site.Options{"full": {}, "light": {Light: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			b.do(chromedp.Navigate(reportFile(t, run(), seconds(3), o)), chromedp.WaitVisible("#rates"))
			compare(b, run(), seconds(3))
			if n := eval[int](b, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().height > 150).length`); n != 16 { // one per rate, and five of each of three steps
				t.Errorf("%d figures can be seen, want 16", n)
			}
			if eval[bool](b, `[...document.querySelectorAll("#controls-holder")].some(c => c.getBoundingClientRect().height > 0)`) {
				t.Error("controls that cannot work are shown")
			}
			b.shot(name)
		})
	}
}

// TestHostileName opens a run whose name tries to break out, both ways.
func TestHostileName(t *testing.T) {
	t.Parallel()
	d := reporttest.Digest(reporttest.Spec{Run: reporttest.HostileName, Rates: []float64{2000}, Duration: 6 * time.Second})
	check := func(b *tab) {
		t.Helper()
		if got := eval[string](b, `document.querySelector("#headline h1").textContent`); got != reporttest.HostileName {
			t.Errorf("the name became %q", got)
		}
		if n := eval[int](b, `document.querySelectorAll("main img, main script").length`); n > 0 {
			t.Errorf("%d elements were made from the name", n)
		}
		b.change(func() { b.enter("warmup", "2") })
		compare(b, d, seconds(2))
	}
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, d, analysis.View{}, site.Options{}))
	check(b)

	address, dir := serve(t, d)
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*.digest.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	c := newTab(t)
	c.look(1200, 900, false)
	c.do(chromedp.Navigate(address))
	c.wait(`document.getElementById("main").dataset.routed === "true"`)
	c.do(chromedp.Click(".runs .open"))
	c.wait(ready)
	check(c)
}

// TestSiteList opens the list, a run from it, another beside it, and goes back.
func TestSiteList(t *testing.T) {
	t.Parallel()
	second := reporttest.Digest(reporttest.Spec{Run: "second", Rates: []float64{500}, Duration: 8 * time.Second, Lost: 30})
	address, dir := serveOwn(t, run())
	if err := site.WriteSite(dir, []*analysis.Digest{second}); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(address))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	if n := eval[int](b, `document.querySelectorAll(".runs .open").length`); n != 2 {
		t.Fatalf("%d runs are listed", n)
	}
	b.shot("list")
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".runs .open")].find(a => a.textContent.includes("second")).click()`))
	b.wait(ready)
	compare(b, second, analysis.View{})

	both := address + "#log=" + url.QueryEscape("runs/2026-11-29-delta-sweep.digest.gz") + "&log=" + url.QueryEscape("runs/second.digest.gz") + "&warmup=3s"
	b.do(chromedp.Evaluate[chromedp.Void](`location.href = ` + fmt.Sprintf("%q", both)))
	b.wait(`document.querySelector("#headline h1")?.textContent === "2026-11-29-delta-sweep" && document.getElementById("warmup")?.value === "3"`)
	compare(b, run(), seconds(3))
	b.do(chromedp.Click("#opened li:nth-child(2) button"))
	b.wait(`document.querySelector("#headline h1")?.textContent === "second" && document.getElementById("warmup")?.value === "3"`)
	compare(b, second, seconds(3))
	b.do(chromedp.Click("#all-runs"))
	b.wait(`document.getElementById("run-list")?.hidden === false && !document.querySelector("#headline")`)
}

// TestBrokenFiles opens what is missing, cut short or something else.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	address, dir := serveOwn(t, run())
	whole, err := os.ReadFile(digestIn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"cut.digest.gz": whole[:len(whole)/2], "empty.digest.gz": {}, "foreign.digest.gz": []byte("%PDF-1.7 something else"),
	} {
		if err := os.WriteFile(filepath.Join(dir, "runs", name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"missing", "cut", "empty", "foreign"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.ignore = []string{"404"}
			b.look(1200, 900, false)
			b.do(chromedp.Navigate(address + "#log=runs/" + name + ".digest.gz"))
			b.wait(`!document.getElementById("page-error").hidden`)
			text := eval[string](b, `document.getElementById("page-error").textContent`)
			if !strings.Contains(text, name+".digest.gz") || len(text) < 40 {
				t.Errorf("the page says only %q", text)
			}
			t.Log(text)
		})
	}
}
