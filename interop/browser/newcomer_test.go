package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	"queuebench/site"
)

// TestNewcomer follows docs/exploring.md, "From a question to a link", on a run
// that stood still once: what is the p99 at 10,000 messages per second after a
// warm-up of 3 s, why is its tail long, and a link that shows it.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))

	// The warm-up, and the tile.
	b.change(func() { b.enter("warmup", "3") })
	d := fit(t, run())
	p99 := analysis.Summarize(d, seconds(3)).Steps[2].Latencies["end_to_end"].Percentiles["99"].Text()
	const tile = `document.querySelector('.tile a[href="#step-2-0"]')`
	if got := eval[string](b, tile+`.textContent`); !strings.HasPrefix(got, "10,000 msg/s") || !strings.HasSuffix(got, "p99 "+p99) {
		t.Errorf("the tile says %q, and p99 is %s", got, p99)
	}
	// Its step, and what was found there.
	b.change(func() { b.do(chromedp.Click(`.tile a[href="#step-2-0"]`)) })
	found := eval[string](b, `document.querySelector('[data-finding="tail-from-stalls"]')?.textContent || ""`)
	if !strings.Contains(found, "10,000 msg/s") || !strings.Contains(found, "at 13.") {
		t.Fatalf("found is %q", found)
	}
	// The moment itself: spectrum, findings and slow messages are of it.
	b.change(func() { b.brush(13.0, 14.3) })
	v := window(12.8, 14.4)
	v.Warmup = seconds(3).Warmup
	compare(b, run(), v)
	b.do(chromedp.Click(`#step-2-0 details.slowest > summary`))
	slow := eval[[][]string](b, `[...document.querySelectorAll("#step-2-0 details.slowest tbody tr")].map(r => [...r.cells].map(c => c.textContent))`)
	if len(slow) == 0 || !strings.Contains(strings.Join(slow[0], "|"), "sent to acknowledged") {
		t.Errorf("the slowest messages of the moment are %q", slow)
	}
	if worst := analysis.SlowestOf(&d.Steps[2], v)[0]; worst.Latency() < int64(500*time.Millisecond) {
		t.Errorf("the slowest of the moment took %s", time.Duration(worst.Latency()))
	}
	b.shot("path")

	// The link.
	link := eval[string](b, `location.href`)
	c := newTab(t)
	c.look(1200, 900, false)
	c.open(link)
	c.wait(`document.querySelector("#step-2-0 .window")`)
	compare(c, run(), v)
	if got := eval[string](c, `document.getElementById("warmup").value + " " + document.getElementById("step").value`); got != "3 2-0" {
		t.Errorf("the link shows %q", got)
	}
}
