package browser

import (
	"encoding/csv"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/site"
)

// timeLine is the figure over time of the step that is shown.
const timeLine = `document.querySelector("[data-region]:not([hidden]) figure[data-brush]")`

// at is the place on the screen of a time in the time line, in the middle of its
// height.
func (b *tab) at(seconds float64) (x, y float64) {
	b.t.Helper()
	p := eval[[]float64](b, fmt.Sprintf(`(() => { const f = %s, r = f.querySelector("svg").getBoundingClientRect(), p = f.plot;
		return [r.left + p.px(%g), r.top + (p.area[1] + p.area[3]) / 2 * p.scale()]; })()`, timeLine, seconds))
	return p[0], p[1]
}

func (b *tab) mouse(kind input.DispatchMouseEventType, x, y float64, pressed bool) {
	b.t.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1}
	if pressed {
		p.Buttons = 1
	}
	if kind == input.DispatchMouseEventTypeMouseMoved && !pressed {
		p.Button = input.MouseButtonNone
	}
	if _, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, p); err != nil {
		b.t.Fatal(err)
	}
}

// brush drags from one time to another.
func (b *tab) brush(from, to float64) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](timeLine + `.scrollIntoView({block: "center"})`))
	x, y := b.at(from)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, false)
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, y, true)
	end, _ := b.at(to)
	for i := range 5 {
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x+(end-x)*float64(i+1)/5, y, true)
	}
	b.mouse(input.DispatchMouseEventTypeMouseReleased, end, y, false)
}

// choose shows a step in depth.
func (b *tab) choose(step int) {
	b.t.Helper()
	if eval[string](b, `document.getElementById("step").value`) == fmt.Sprintf("%d-0", step) {
		return
	}
	b.change(func() {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{const s = document.getElementById("step"); s.value = "%d-0"; s.dispatchEvent(new Event("change"))}`, step)))
	})
}

func window(from, to float64) analysis.View {
	s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return analysis.View{From: s(from), To: s(to)}
}

// TestBrush selects a part of a step by mouse and by keys, goes back and forward,
// and opens the link anew: every number is that of the analysis.
func TestBrush(t *testing.T) {
	t.Parallel()
	pages(t, func(t *testing.T, address string) {
		b := newTab(t)
		b.look(1200, 900, false)
		b.open(address)
		b.choose(2)
		b.change(func() { b.brush(6.1, 9.9) })
		compare(b, run(), window(6, 10))
		if got := eval[string](b, `location.hash`); !strings.Contains(got, "from=6s") || !strings.Contains(got, "to=10s") || !strings.Contains(got, "step=2") {
			t.Errorf("the address is %s", got)
		}
		if got := eval[string](b, `document.getElementById("status").textContent`); !strings.Contains(got, "Looked at from 6 s to 10 s") {
			t.Errorf("the live region says %q", got)
		}
		b.shot("brushed")

		// By keys: the end two intervals of 400 ms further, the beginning one back.
		b.change(func() { b.handle("to", kb.ArrowRight) })
		b.change(func() { b.handle("to", kb.ArrowRight) })
		b.change(func() { b.handle("from", kb.ArrowLeft) })
		compare(b, run(), window(5.6, 10.8))
		if got := eval[string](b, `document.activeElement.dataset.handle + " " + document.activeElement.getAttribute("aria-valuetext")`); got != "from 5.6 s" {
			t.Errorf("the focus is at %q", got)
		}
		b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.back()`)) })
		compare(b, run(), window(6, 10.8))
		b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.forward()`)) })
		compare(b, run(), window(5.6, 10.8))

		link := eval[string](b, `location.href`)
		c := newTab(t)
		c.look(1200, 900, false)
		c.open(link)
		c.wait(`location.hash.includes("from=5.6s") && document.querySelector("#step-2-0 .window")`)
		compare(c, run(), window(5.6, 10.8))

		b.change(func() { b.handle("to", kb.Escape) })
		compare(b, run(), analysis.View{})
		if got := eval[string](b, `location.hash`); strings.Contains(got, "from=") || strings.Contains(got, "to=") {
			t.Errorf("after Escape the address is %s", got)
		}
	})
}

// handle presses a key on a handle of the time line.
func (b *tab) handle(name, key string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](timeLine+`.querySelector('[data-handle="`+name+`"]').focus()`), chromedp.KeyEvent(key))
}

// TestWarmupOnThePlot drags the edge of the warm-up in the time line.
func TestWarmupOnThePlot(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	b.do(chromedp.Evaluate[chromedp.Void](timeLine + `.scrollIntoView({block: "center"})`))
	b.change(func() {
		x, y := b.at(2)
		end, _ := b.at(5.25)
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y, false)
		// The handles of the warm-up and of the begin lie on each other: the grip
		// below the axis is the warm-up's.
		r := eval[[]float64](b, timeLine+`.querySelector('[data-handle="warmup"]').getBoundingClientRect().toJSON() && (r => [r.left + 12, r.bottom + 3])(`+timeLine+`.querySelector('[data-handle="warmup"]').getBoundingClientRect())`)
		b.mouse(input.DispatchMouseEventTypeMousePressed, r[0], r[1], true)
		for i := range 4 {
			b.mouse(input.DispatchMouseEventTypeMouseMoved, x+(end-x)*float64(i+1)/4, y, true)
		}
		b.mouse(input.DispatchMouseEventTypeMouseReleased, end, y, false)
	})
	compare(b, run(), seconds(5.2))
	if got := eval[string](b, `document.getElementById("warmup").value + " " + location.hash`); got != "5.2 #warmup=5.2s" {
		t.Errorf("the control and the address say %q", got)
	}
	b.change(func() { b.handle("warmup", kb.ArrowRight) })
	compare(b, run(), seconds(5.6))
}

// TestSteps shows one step in depth at a time, from the control, the tiles and
// the address.
func TestSteps(t *testing.T) {
	t.Parallel()
	pages(t, func(t *testing.T, address string) {
		b := newTab(t)
		b.look(1200, 900, false)
		b.open(address)
		shown := func(want string) {
			t.Helper()
			if got := eval[[]string](b, `[...document.querySelectorAll('[data-region][id^="step-"]')].filter(e => e.getBoundingClientRect().height > 0).map(e => e.id)`); strings.Join(got, " ") != want {
				t.Errorf("steps %q are shown, want %s", got, want)
			}
		}
		shown("step-0-0")
		b.choose(1)
		shown("step-1-0")
		compare(b, run(), analysis.View{})
		b.change(func() {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('a[href="#step-2-0"]').click()`))
		})
		b.wait(`document.activeElement.id === "step-2-0"`)
		shown("step-2-0")
		compare(b, run(), analysis.View{})
		b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.back()`)) })
		shown("step-1-0")
		c := newTab(t)
		c.look(1200, 900, false)
		separator := "#"
		if strings.Contains(address, "#") {
			separator = "&"
		}
		c.do(chromedp.Navigate(address + separator + "step=9"))
		c.wait(`[...document.querySelectorAll("#view-error, #page-error")].some(e => !e.hidden && e.textContent.includes("no step 9"))`)
	})
}

// TestReadOut reads values by pointer and keys, and finds those of the digest.
func TestReadOut(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	d := fit(t, run())
	series := analysis.SeriesOf(&d.Steps[0], analysis.View{})
	data := figure.LatencyOverTime(series, figure.Style{}).Data
	want := func(i int) string {
		row, out := data.Cells[i], ""
		for k, c := range data.Columns[2:] {
			unit := ""
			if c.Unit != "" {
				unit = " " + c.Unit
			}
			out += c.Name + row.Cells[k+2] + unit
		}
		return row.Cells[0] + " to " + row.Cells[1] + " s" + out
	}
	read := func(of string) string { return eval[string](b, of+`.querySelector(".read").textContent`) }
	b.do(chromedp.Evaluate[chromedp.Void](timeLine + `.scrollIntoView({block: "center"})`))
	for _, at := range []float64{3.9, 11.3, 19.9} {
		x, y := b.at(at)
		b.mouse(input.DispatchMouseEventTypeMouseMoved, x, y+40, false)
		i := 0
		for data.Cells[i].To <= at {
			i++
		}
		if got := read(timeLine); got != want(i) {
			t.Errorf("at %g s the page reads %q, the digest says %q", at, got, want(i))
		}
	}
	b.do(chromedp.Evaluate[chromedp.Void](timeLine+`.querySelector(".canvas").focus()`), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if got := read(timeLine); got != want(2) {
		t.Errorf("by keys the page reads %q, the digest says %q", got, want(2))
	}
	// The spectrum at its last row: the maximum.
	const spectrum = `document.querySelector('[data-figure="percentile-spectrum-0-0"]')`
	b.do(chromedp.Evaluate[chromedp.Void](spectrum+`.querySelector(".canvas").focus()`), chromedp.KeyEvent(kb.End))
	dist := analysis.DistributionOf(d, &d.Steps[0], analysis.View{})
	rows := figure.PercentileSpectrum([]analysis.Distribution{dist}, figure.Style{}).Data.Cells
	if got, last := read(spectrum), rows[len(rows)-1]; !strings.HasPrefix(got, "max") || !strings.Contains(got, last.Cells[1]+" ms") {
		t.Errorf("the end of the spectrum reads %q, the digest says %q", got, last.Cells)
	}
	b.shot("read")
}

// TestLinesAndInterval chooses what the time line draws.
func TestLinesAndInterval(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	names := func() string {
		return strings.Join(eval[[]string](b, `[...`+timeLine+`.querySelectorAll("svg text")].map(t => t.textContent).filter(t => /^(p[0-9.]+|max)$/.test(t)).sort()`), " ")
	}
	if got := names(); got != "max p50 p99 p99.9" {
		t.Errorf("drawn are %s", got)
	}
	for _, line := range []string{"max", "85", "slowest"} {
		b.change(func() {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-region]:not([hidden]) [data-line="`+line+`"]').focus()`), chromedp.KeyEvent(" "))
		})
	}
	if got := names(); got != "p50 p85 p99 p99.9" {
		t.Errorf("drawn are %s", got)
	}
	if got := eval[string](b, `decodeURIComponent(location.hash)`); got != "#lines=50,85,99,99.9,band,density" {
		t.Errorf("the address is %s", got)
	}
	rows := `document.querySelector("[data-region]:not([hidden]) figure[data-brush] table").tBodies[0].rows.length`
	before := eval[int](b, rows)
	b.change(func() {
		b.do(chromedp.Evaluate[chromedp.Void](`{const s = document.getElementById("interval"); s.value = "2s"; s.dispatchEvent(new Event("change"))}`))
	})
	if after := eval[int](b, rows); after >= before || after < 10 {
		t.Errorf("%d rows of %d at an interval of 2 s", after, before)
	}
	compare(b, run(), analysis.View{})
}

// TestExports saves a figure in each form, and reads it again.
func TestExports(t *testing.T) {
	t.Parallel()
	for _, dark := range []bool{false, true} {
		b := newTab(t)
		b.look(1200, 900, dark)
		b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
		dir := b.downloads()
		save := func(format string) string {
			t.Helper()
			b.do(chromedp.Evaluate[chromedp.Void](`[...` + timeLine + `.querySelectorAll(".save button")].find(b => b.textContent === "` + format + `").click()`))
			path := filepath.Join(dir, "2026-11-29-delta-sweep-latency-over-time-0-0."+strings.ToLower(format))
			saved(b, path)
			return path
		}
		text, err := os.ReadFile(save("SVG"))
		if err != nil {
			t.Fatal(err)
		}
		ground := map[bool]string{false: "#ffffff", true: "#14191f"}[dark]
		if s := string(text); strings.Contains(s, "var(") || !strings.Contains(s, `fill="`+ground+`"`) || !strings.Contains(s, ">p99<") {
			t.Errorf("dark %t: an SVG without its own colours: %.300s", dark, s)
		}
		f, err := os.Open(save("PNG"))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if w := eval[int](b, timeLine+`.querySelector("svg").viewBox.baseVal.width`); picture.Bounds().Dx() != 2*w {
			t.Errorf("a picture %d wide of a figure of %d", picture.Bounds().Dx(), w)
		}
		f, err = os.Open(save("CSV"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		d := fit(t, run())
		points := analysis.SeriesOf(&d.Steps[0], analysis.View{}).Points
		if len(rows) != len(points)+1 || rows[0][0] != "from (s)" || rows[0][4] != "p50 (ms)" {
			t.Fatalf("%d rows, %q", len(rows), rows[0])
		}
		for i, p := range points {
			ms, err := strconv.ParseFloat(rows[i+1][4], 64)
			if n, _ := strconv.ParseInt(rows[i+1][2], 10, 64); err != nil || n != p.N || ms < float64(p.Ns[0])/1e6*0.99 || ms > float64(p.Ns[0])/1e6*1.01 {
				t.Fatalf("row %d is %q, the digest has %+v", i, rows[i+1], p.Ns)
			}
		}
	}
}

// TestSlowest opens the list of slow messages, and finds a mark in the time line.
func TestSlowest(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	b.choose(2)
	d := fit(t, run())
	want := analysis.SlowestOf(&d.Steps[2], analysis.View{})
	got := eval[[][]string](b, `[...document.querySelector('table[data-name="slowest-2-0"]').tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))`)
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d messages are listed, want %d", len(got), len(want))
	}
	header := analysis.SlowestHeader(want)
	for i := range want {
		if strings.Join(got[i], "|") != strings.Join(want[i].Cells(header), "|") {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i].Cells(header))
		}
	}
	// Those of a window only.
	b.change(func() { b.brush(8.1, 11.9) })
	in := analysis.SlowestOf(&d.Steps[2], window(8, 12))
	if n := eval[int](b, `document.querySelector('table[data-name="slowest-2-0"]').tBodies[0].rows.length`); n != len(in) || n >= len(want) {
		t.Errorf("%d in the window, want %d", n, len(in))
	}
	p := eval[[]float64](b, fmt.Sprintf(`(() => { const p = %s.plot, r = p.svg.getBoundingClientRect(); return [r.left + p.px(%g), r.top + p.py(%d)]; })()`,
		timeLine, time.Duration(in[0].Intended).Seconds(), in[0].Latency()))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, p[0], p[1], false)
	if text := eval[string](b, timeLine+`.querySelector(".read").textContent`); !strings.Contains(text, "Slow message") || !strings.Contains(text, fmt.Sprint(in[0].Seq)) {
		t.Errorf("over its mark the page reads %q", text)
	}
}
