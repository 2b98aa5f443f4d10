package browser

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// sheet is the width of what can be printed on, in CSS pixels: A4 within its
// margins.
const sheet = 702

// paper prints a page from a dark screen: in light colours, without controls,
// figures and tables whole and inside the sheet. With -pictures each is left as
// a PDF in artefacts.
func (b *tab) paper(name string) {
	b.t.Helper()
	b.see(screen{"paper", 1200, 900, true})
	b.do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll("details.slowest")) d.open = true; void 0`))
	b.do(chromedp.EmulateViewport(sheet, 1000))
	b.media("print", "prefers-color-scheme", "dark")
	for what, js := range map[string]string{
		"dark colours": `[...document.querySelectorAll("body, main, .finding, .tile a, .canvas, .verdict, .side")].filter(e => { const c = getComputedStyle(e).backgroundColor.match(/[\d.]+/g).map(Number); return c[3] !== 0 && Math.min(c[0], c[1], c[2]) < 200; }).map(e => e.className || e.tagName)`,
		"faint text":   `[...document.querySelectorAll("p, td, th, li, figcaption")].filter(e => e.getClientRects().length && Math.max(...getComputedStyle(e).color.match(/[\d.]+/g).slice(0, 3).map(Number)) > 190).map(e => e.textContent.slice(0, 30))`,
		"controls":     `[...document.querySelectorAll("button, input, select, progress, .handle, .read, summary")].filter(e => e.getClientRects().length && !e.closest("details[open]")).map(e => e.id || e.textContent.slice(0, 30))`,
		"what is cut":  `[...document.querySelectorAll(".scroll, .canvas")].filter(e => e.getClientRects().length && (getComputedStyle(e).overflowX !== "visible" || getComputedStyle(e).maxHeight !== "none")).map(e => e.className)`,
		"too wide":     `[...document.querySelectorAll("svg, table, p, li, dl")].filter(e => !e.closest(".unseen") && e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + " " + e.className + " " + Math.round(e.getBoundingClientRect().right) + " " + e.textContent.slice(0, 30))`,
	} {
		if found := eval[[]string](b, `[...new Set(`+js+`)].slice(0, 6)`); len(found) > 0 {
			b.t.Errorf("on paper there are %s: %s", what, strings.Join(found, " | "))
		}
	}
	if name != "report" && !*pictures {
		return
	}
	b.media("", "prefers-color-scheme", "dark")
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground()))
	if err != nil {
		b.t.Fatal(err)
	}
	if n := bytes.Count(pdf, []byte("/Type /Page\n")); n < 1 || n > 14 {
		b.t.Errorf("%d sheets", n)
	}
	if *pictures {
		if err := os.MkdirAll("artefacts", 0o777); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("artefacts", name+".pdf"), pdf, 0o666); err != nil {
			b.t.Fatal(err)
		}
	}
}
