package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/site"
)

// press presses keys, one after the other; nothing else is done to the page.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// stop is where the focus is.
type stop struct {
	Name          string // for people
	Here          bool   // it is what was wanted
	Named         bool   // something reads it out
	Seen, Ringed  bool   // it is on the screen and not covered; it is seen to have the focus
	Hidden, Start bool   // it is taken out of what is read out; nothing has the focus
}

// lookAtFocus tells what has the focus, and whether a person can see that.
const lookAtFocus = `((wanted) => {
	const e = document.activeElement;
	if (!e || e === document.body) return { Name: "nothing", Start: true, Here: false, Named: true, Seen: true, Ringed: true, Hidden: false };
	const ring = (el, pseudo) => { const s = getComputedStyle(el, pseudo); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1; };
	const r = e.getBoundingClientRect(), face = e.matches("input[type=radio]") ? e.nextElementSibling : null;
	const x0 = Math.max(r.left, 0), x1 = Math.min(r.right, innerWidth), y0 = Math.max(r.top, 0), y1 = Math.min(r.bottom, innerHeight);
	const points = [.1, .5, .9].flatMap((a) => [.1, .5, .9].map((c) => [x0 + (x1 - x0) * a, y0 + (y1 - y0) * c]));
	const seen = x1 > x0 && y1 > y0 && points.some(([x, y]) => { const at = document.elementFromPoint(x, y); return at && (e.contains(at) || at === face || (at.contains(e) && at.matches("label"))); });
	const name = (e.getAttribute("aria-label") || e.textContent || (e.labels && e.labels[0] && e.labels[0].textContent) || e.value || "").trim();
	return {
		Name: e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + " " + name.slice(0, 60), Start: false, Here: e.matches(wanted), Named: name !== "",
		Seen: seen, Ringed: ring(e) || ring(e, "::after") || Boolean(face && ring(face)), Hidden: Boolean(e.closest("[aria-hidden=true]")),
	};
})`

// tabTo presses Tab until what is wanted has the focus, back or on. Each stop on
// the way can be seen, is seen to have the focus, and has a name.
func (b *tab) tabTo(wanted string, back ...chromedp.KeyOption) {
	b.t.Helper()
	var way []string
	for range 150 {
		b.do(chromedp.KeyEvent(kb.Tab, back...))
		s := eval[stop](b, lookAtFocus+fmt.Sprintf("(%q)", wanted))
		if !s.Seen || !s.Ringed || !s.Named || s.Hidden {
			b.t.Errorf("on the way to %s the focus is at %q, where it cannot be told: %+v", wanted, s.Name, s)
		}
		if s.Here {
			return
		}
		way = append(way, s.Name)
	}
	b.t.Fatalf("Tab does not lead to %s, but to %s", wanted, strings.Join(way[:min(len(way), 40)], " | "))
}

func (b *tab) backTo(wanted string) {
	b.t.Helper()
	b.tabTo(wanted, chromedp.KeyModifiers(chromedp.ModifierShift))
}

// at tells what has the focus.
func (b *tab) focusIsAt(wanted string) {
	b.t.Helper()
	if s := eval[stop](b, lookAtFocus+fmt.Sprintf("(%q)", wanted)); !s.Here {
		b.t.Errorf("the focus is at %q, not at %s", s.Name, wanted)
	}
}

// said holds that the live region below the controls told of a change.
func (b *tab) said(parts ...string) {
	b.t.Helper()
	text := eval[string](b, `(() => { const s = document.getElementById("status"); return s.closest("[hidden]") || s.getAttribute("aria-live") !== "polite" ? "no live region" : s.textContent; })()`)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.t.Errorf("the live region says %q, without %q", text, p)
		}
	}
}

// TestKeyboardInARun takes the whole way through a run with nothing but keys: to a
// step, over its time line, through all controls, to the tables and out again.
func TestKeyboardInARun(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	dir := b.downloads()

	b.tabTo(".skip")
	b.press(kb.Enter)
	b.focusIsAt("#headline")
	if got := eval[string](b, `location.hash`); got != "" {
		t.Errorf("the link to the numbers left %q in the address", got)
	}
	b.tabTo(`a[href="#step-2-0"]`)
	b.change(func() { b.press(kb.Enter) })
	b.wait(`document.activeElement.id === "step-2-0"`)
	b.said("In depth at 10,000 msg/s")

	// Values of the time line, one after the other.
	b.tabTo(`#step-2-0 figure[data-brush] .canvas`)
	b.press(kb.Home, kb.ArrowRight, kb.ArrowRight)
	d := fit(t, run())
	data := figure.LatencyOverTime(analysis.SeriesOf(&d.Steps[2], analysis.View{}), figure.Style{}).Data
	read := eval[string](b, timeLine+`.querySelector("[role=status]").textContent`)
	want := fmt.Sprintf("%s to %s s, ", data.Cells[2].Cells[0], data.Cells[2].Cells[1])
	for k, c := range data.Columns[2:] {
		if cell := data.Cells[2].Cells[k+2]; cell != "" {
			want += strings.TrimSpace(c.Name+" "+cell+" "+c.Unit) + ", "
		}
	}
	if want = strings.TrimSuffix(want, ", ") + "."; read != want {
		t.Errorf("by arrow keys it says %q, the digest has %q", read, want)
	}

	// The edge of the warm-up: three intervals of 400 ms further; then a part.
	b.tabTo(`[data-region]:not([hidden]) [data-handle="warmup"]`)
	for range 3 {
		b.change(func() { b.press(kb.ArrowRight) })
	}
	compare(b, run(), seconds(3.2))
	b.said("Warm-up 3.2 s cut", "At 10,000 msg/s p99 is ")
	b.focusIsAt(`[data-region]:not([hidden]) [data-handle="warmup"]`)
	b.tabTo(`[data-region]:not([hidden]) [data-handle="from"]`)
	b.change(func() { b.press(kb.PageUp) })
	b.change(func() { b.press(kb.ArrowRight) })
	b.tabTo(`[data-region]:not([hidden]) [data-handle="to"]`)
	b.change(func() { b.press(kb.ArrowLeft) })
	v := window(7.6, 19.6)
	v.Warmup = seconds(3.2).Warmup
	compare(b, run(), v)
	b.said("Looked at from 7.6 s to 19.6 s")
	b.change(func() { b.press(kb.Escape) })
	compare(b, run(), seconds(3.2))

	// Save it, look into the data behind it, and into the slow messages.
	b.tabTo(`figure[data-brush] .save button:last-of-type`)
	b.press(kb.Enter)
	saved(b, filepath.Join(dir, "2026-11-29-delta-sweep-latency-over-time-2-0.csv"))
	b.wait(`document.getElementById("status").textContent.startsWith("Saved ")`)
	b.tabTo(`#step-2-0 figure[data-brush] details.data > summary`)
	b.press(kb.Enter)
	b.tabTo(`#step-2-0 figure[data-brush] .scroll.tall`)
	b.press(kb.PageDown)
	b.wait(`document.activeElement.scrollTop > 0`)
	b.tabTo(`#step-2-0 [data-line="max"]`)
	b.change(func() { b.press(" ") })
	b.said("drawn: 50 99 99.9")
	b.focusIsAt(`#step-2-0 [data-line="max"]`)
	b.tabTo(`#step-2-0 details.slowest > summary`)
	b.press(kb.Enter)
	b.tabTo(`#step-2-0 details.slowest .save button`)
	b.tabTo(`#step-2-0 details.slowest .scroll.tall`)
	if n := eval[int](b, `document.activeElement.querySelectorAll("tbody tr").length`); n == 0 {
		t.Error("no slow message is listed")
	}

	// The controls.
	b.backTo("#percentiles")
	b.change(func() { b.press("50, 99", kb.Enter) })
	v = seconds(3.2)
	v.Percentiles = []float64{50, 99}
	compare(b, run(), v)
	b.tabTo("#latency")
	b.change(func() { b.press(kb.ArrowDown) })
	b.change(func() { b.press(kb.ArrowDown) })
	b.said("Publish")
	v.Kind = analysis.Publish
	compare(b, run(), v)
	b.tabTo("#interval")
	b.change(func() { b.press(kb.ArrowDown) })
	b.said("intervals of ")
	b.tabTo("#scale-linear")
	b.change(func() { b.press(kb.ArrowRight) })
	b.said("logarithmic axis")
	if got := eval[string](b, `decodeURIComponent(location.hash)`); !strings.Contains(got, "scale=log") || !strings.Contains(got, "latency=publish") || !strings.Contains(got, "interval=") {
		t.Errorf("the address is %s", got)
	}
	b.tabTo("#reset")
	b.change(func() { b.press(kb.Enter) })
	compare(b, run(), analysis.View{})
	b.focusIsAt("#reset")
}

// saved waits for a download.
func saved(b *tab, path string) {
	b.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s was not saved: %s", path, eval[string](b, `document.getElementById("status").textContent`))
		}
	}
}

// TestKeyboardFromTheList finds runs, compares them, changes the base, opens one
// and goes back to the list.
func TestKeyboardFromTheList(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, faster(), slower())
	both := []*analysis.Digest{faster(), slower()}
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(address))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	b.tabTo(".skip")
	b.press(kb.Enter)
	b.focusIsAt("#main")
	b.tabTo("#find")
	b.press("delta", kb.Enter)
	if got := eval[string](b, `document.getElementById("found").textContent`); got != "2 of 2 runs." {
		t.Errorf("the live region says %q", got)
	}
	b.tabTo(".listed:nth-child(1) .pick input")
	b.press(" ")
	b.tabTo(".listed:nth-child(2) .pick input")
	b.press(" ")
	b.backTo("#compare")
	b.press(kb.Enter)
	b.wait(ready + ` && document.querySelector("table.comparison")`)
	results(b, 0, analysis.View{}, both...)
	b.focusIsAt("#headline h1")

	b.tabTo("#warmup")
	b.change(func() { b.press("5", kb.Enter) })
	results(b, 0, seconds(5), both...)
	b.said("Warm-up 5 s cut")
	b.tabTo(`button[data-set="base=2"]`)
	b.change(func() { b.press(kb.Enter) })
	results(b, 1, seconds(5), both...)
	b.said("faster in 4 of 4 tests")
	b.focusIsAt("#sides *")
	b.tabTo(`button[data-set="view=&run=2"]`)
	b.change(func() { b.press(kb.Enter) })
	b.wait(`document.querySelector("#headline h1")?.textContent === "2026-11-30-slower"`)
	b.focusIsAt("#headline h1")
	b.backTo("#all-runs")
	b.press(kb.Enter)
	b.wait(`document.getElementById("run-list")?.hidden === false && !document.querySelector("#headline")`)
}

// TestKeyboardCancelsAnOpening opens an address that never comes to an end, and
// gives it up: by the button, and by Escape.
func TestKeyboardCancelsAnOpening(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Length", "1000000")
		w.Write([]byte("#["))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(host.Close)
	b := emptySite(t)
	for _, way := range []string{kb.Enter, kb.Escape} {
		b.tabTo("#address")
		b.press(host.URL+"/run.digest.gz", kb.Enter)
		b.wait(`!document.getElementById("loading").hidden`)
		b.wait(`document.activeElement.id === "loading" && document.getElementById("loading-said").textContent !== ""`)
		b.tabTo("#loading-cancel")
		b.press(way)
		b.wait(`document.getElementById("loading").hidden && document.getElementById("notes").textContent.includes("Cancelled")`)
		b.focusIsAt("#opening summary")
	}
}
