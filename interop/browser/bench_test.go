package browser

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	"queuebench/report/reporttest"
)

// long is a sweep whose steps have 600 intervals.
func long() *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: "long", Rates: []float64{200, 500, 1000}, Duration: 120 * time.Second, Stall: true})
}

func median(ms []float64) float64 {
	slices.Sort(ms)
	return ms[len(ms)/2]
}

// publish serves the run twice: as WriteSite has it, whose intervals are longer to
// keep a page small, and whole, which no list names.
func publish(b *testing.B) (published, whole string) {
	b.Helper()
	address, dir := serveOwn(b, long())
	var packed bytes.Buffer
	if err := analysis.PackDigest(&packed, long()); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", "whole.digest.gz"), packed.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	b.Logf("a digest of %d bytes", packed.Len())
	return address + "?%d#log=" + url.QueryEscape("runs/long.digest.gz"), address + "?%d#log=" + url.QueryEscape("runs/whole.digest.gz")
}

// BenchmarkPageFirstFigure opens a published digest in a new tab, until its first
// figure is there (median in ms, of what is to be at most 1,500), and until the
// analyzer has drawn the same; then a digest of 600 intervals that is not listed.
func BenchmarkPageFirstFigure(b *testing.B) {
	published, whole := publish(b)
	since := func(address string) (first, drawn float64) {
		var firsts, drawns []float64
		for i := range b.N {
			t := newTab(b)
			t.look(1200, 900, false)
			t.do(chromedp.Navigate(strings.Replace(address, "%d", fmt.Sprint(i), 1)))
			t.wait(ready)
			// Since the navigation began, as the browser has it.
			at := eval[[]float64](t, `["first-figure", "first-view"].map((n) => performance.getEntriesByName(n)[0]?.startTime ?? -1)`)
			firsts, drawns = append(firsts, at[0]), append(drawns, at[1])
		}
		return median(firsts), median(drawns)
	}
	first, drawn := since(published)
	_, whole600 := since(whole)
	b.ReportMetric(first, "ms/first-figure")
	b.ReportMetric(drawn, "ms/analyzed")
	b.ReportMetric(whole600, "ms/600-intervals")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPageZoom moves a window over a step of 600 intervals: until the
// spectrum and the tables below the time line are new (at most 100 ms), and until
// the whole page is.
func BenchmarkPageZoom(b *testing.B) {
	_, address := publish(b)
	t := newTab(b)
	t.look(1200, 900, false)
	t.open(strings.Replace(address, "%d", "0", 1) + "&step=1")
	b.Logf("%d intervals", eval[int](t, `document.querySelector("figure[data-brush] table").tBodies[0].rows.length`))
	b.ResetTimer()
	var zoom, whole []float64
	for i := range b.N {
		t.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.took = null; (async () => {
			const view = document.querySelector("figure[data-brush]").plot.view, main = document.getElementById("main");
			const start = performance.now(), parts = main.dataset.parts;
			let zoom = 0;
			const seen = new MutationObserver(() => { zoom ||= performance.now() - start; });
			seen.observe(main, { attributes: true, attributeFilter: ["data-parts"] });
			await view.set({ from: "%ds", to: "%ds" }, true, true);
			window.took = [zoom, performance.now() - start];
			seen.disconnect();
		})(), void 0`, 20+i%40, 70+i%40)))
		t.wait(`window.took`)
		took := eval[[]float64](t, `window.took`)
		zoom, whole = append(zoom, took[0]), append(whole, took[1])
	}
	b.ReportMetric(median(zoom), "ms/zoom")
	b.ReportMetric(median(whole), "ms/page")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPageRawLog drops a raw log of 10 million messages on the page, until
// the first figure of it is there: median in ms, of what is to be at most 6,000.
func BenchmarkPageRawLog(b *testing.B) {
	dir := rawLog(b, "-n", "10000000")
	var all []float64
	for range b.N {
		t := emptySite(b)
		t.do(chromedp.Evaluate[chromedp.Void](`document.addEventListener("drop", () => { window.dropped = performance.now(); }, true)`))
		t.drop(dir)
		t.waitLong(ready)
		if n := eval[string](t, `document.querySelector('td[data-count="records used"]').dataset.value`); n == "0" {
			b.Fatal("nothing was read")
		}
		all = append(all, eval[float64](t, `performance.getEntriesByName("first-figure")[0].startTime - window.dropped`))
	}
	b.ReportMetric(median(all), "ms/first-figure")
	b.ReportMetric(0, "ns/op")
}
