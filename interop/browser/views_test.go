package browser

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	"queuebench/site"
)

// shown is one of the pages that there are, as a reader comes to have it before
// them.
type shown struct {
	name    string
	scripts bool // it has controls
	open    func(t *testing.T, b *tab)
}

// everyView is one of each kind of page.
func everyView() []shown {
	sweep := "#log=" + url.QueryEscape("runs/2026-11-29-delta-sweep.digest.gz")
	routed := `document.getElementById("main").dataset.routed === "true"`
	return []shown{
		{"report", true, func(t *testing.T, b *tab) { b.open(reportFile(t, run(), analysis.View{}, site.Options{})) }},
		{"light-report", false, func(t *testing.T, b *tab) {
			b.do(chromedp.Navigate(reportFile(t, run(), analysis.View{}, site.Options{Light: true})), chromedp.WaitVisible("#rates"))
		}},
		{"list", false, func(t *testing.T, b *tab) {
			address, _ := serve(t, faster(), slower(), run())
			b.do(chromedp.Navigate(address))
			b.wait(routed)
		}},
		{"run", true, func(t *testing.T, b *tab) {
			address, _ := serve(t, run())
			b.open(address + sweep + "&from=8s&to=16s&step=2")
		}},
		{"plain-run", false, func(t *testing.T, b *tab) {
			address, _ := serve(t, run())
			b.do(chromedp.Navigate(address), chromedp.WaitVisible(".listed .more a"), chromedp.Click(".listed .more a"), chromedp.WaitVisible("#rates"))
		}},
		{"comparison", true, func(t *testing.T, b *tab) {
			address, _ := serve(t, faster(), slower())
			b.open(address + "#log=runs%2F2026-11-29-faster.digest.gz&log=runs%2F2026-11-30-slower.digest.gz&view=compare")
		}},
		{"comparison-file", true, func(t *testing.T, b *tab) { b.open(comparisonFile(t, site.Options{}, faster(), slower())) }},
		{"dropped-log", true, func(t *testing.T, b *tab) {
			dir := rawLog(t, "-n", "20000", "-rate", "10000")
			address, _ := serve(t)
			b.do(chromedp.Navigate(address))
			b.wait(routed)
			b.drop(dir, filepath.Join("..", "..", "importer", "testdata", "vegeta.csv"))
			b.wait(ready)
		}},
		{"error", false, func(t *testing.T, b *tab) {
			broken := filepath.Join(t.TempDir(), "letter.pdf")
			if err := os.WriteFile(broken, []byte("%PDF-1.7 something else"), 0o666); err != nil {
				t.Fatal(err)
			}
			address, _ := serve(t, run())
			b.do(chromedp.Navigate(address))
			b.wait(routed)
			b.drop(broken)
			b.error("letter.pdf")
		}},
		{"bad-control", true, func(t *testing.T, b *tab) {
			b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
			b.enter("percentiles", "50, 101")
			b.wait(`!document.getElementById("view-error").hidden`)
		}},
	}
}

// screen is what a reader's screen is like.
type screen struct {
	name          string
	width, height int64
	dark          bool
}

var screens = []screen{{"light", 1200, 900, false}, {"dark", 1200, 900, true}, {"narrow", 400, 800, false}, {"narrow-dark", 400, 800, true}}

// see gives the tab a screen, and waits until the page has drawn its figures for
// it.
func (b *tab) see(s screen) {
	b.t.Helper()
	b.look(s.width, s.height, s.dark)
	// Two frames: styles and observers of sizes have run.
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	b.wait(`((v) => !v || Math.abs(v.fit() - v.width) <= 40)(document.querySelector("main figure")?.plot?.view)`)
	b.wait(`!document.getElementById("main").dataset.computing`)
}

// TestViews looks at a page of each kind as each kind of reader has it: on wide
// and narrow screens, light and dark, with axe-core, on paper, and as one who
// got a script into it.
func TestViews(t *testing.T) {
	t.Parallel()
	for _, v := range everyView() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			v.open(t, b)
			for _, s := range screens {
				b.see(s)
				b.fits(s)
				if v.scripts {
					if h := eval[float64](b, `Math.min(99, ...[...document.querySelectorAll("figure svg text")].map(t => t.getBoundingClientRect().height).filter(h => h > 0))`); h < 9 {
						t.Errorf("%s: text of figures is %.1f px high", s.name, h)
					}
				}
				b.shot(s.name)
				b.accessible(s.name, false)
			}
			b.paper(v.name)
			b.see(screens[0])
			b.do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll("details")) d.open = true; void 0`))
			b.accessible("unfolded", true)
			b.policy()
		})
	}
}

// TestAWindowThatChangesWhileItIsDrawn: what was computed for a width that the window
// no longer has is drawn anew, without another event.
func TestAWindowThatChangesWhileItIsDrawn(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	b.see(screens[0])
	off := eval[float64](b, `(async (v) => {
		const fit = v.fit.bind(v);
		let asked = 0;
		v.fit = () => asked++ ? fit() : 777;
		await v.show(v.here);
		return Math.abs(v.width - fit());
	})(document.querySelector("main figure").plot.view)`)
	if off > 40 {
		t.Errorf("figures are drawn for a width that is %v px off", off)
	}
}

// fits holds a page inside its screen: what is wider scrolls within itself.
func (b *tab) fits(s screen) {
	b.t.Helper()
	if w := eval[int](b, `document.documentElement.scrollWidth`); int64(w) > s.width {
		b.t.Errorf("%s: the page is %d wide on a screen of %d: %s", s.name, w, s.width, eval[string](b, widest))
	}
	if out := eval[[]string](b, clipped); len(out) > 0 {
		b.t.Errorf("%s: clipped texts of figures: %q", s.name, out)
	}
}

// widest names what reaches out of the screen.
const widest = `[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, .canvas, .unseen") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className + "#" + e.id).slice(0, 5).join(" ")`

// clipped are the texts of figures that reach out of them.
const clipped = `[...document.querySelectorAll("figure svg")].flatMap(s => { const r = s.getBoundingClientRect(); return [...s.querySelectorAll("text")].filter(t => { const q = t.getBoundingClientRect(); return q.width > 0 && (q.left < r.left - 1 || q.right > r.right + 1 || q.top < r.top - 1 || q.bottom > r.bottom + 1); }).map(t => t.textContent); })`

// TestStillForThoseWhoAskForIt: nothing moves where the reader asked for less
// motion.
func TestStillForThoseWhoAskForIt(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.media("", "prefers-reduced-motion", "reduce")
	b.open(reportFile(t, run(), analysis.View{}, site.Options{}))
	moving := eval[[]string](b, `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e); return s.animationName !== "none" || s.scrollBehavior === "smooth" || s.transitionProperty !== "none" && s.transitionDuration.split(",").some(d => parseFloat(d) > 0); }).map(e => e.tagName + "." + e.className)`)
	if len(moving) > 0 {
		t.Errorf("these move: %s", strings.Join(moving, " "))
	}
}
