package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestMarkupForReaders holds the pages, with scripts off, to what a screen reader
// needs of tables and figures.
func TestMarkupForReaders(t *testing.T) {
	t.Parallel()
	for _, v := range everyView() {
		switch v.name {
		case "light-report", "list", "comparison-file":
		default:
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			v.open(t, b)
			address := eval[string](b, `location.href`)
			if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			b.do(chromedp.Navigate(address))
			for what, js := range map[string]string{
				"tables without a caption":          `[...document.querySelectorAll("table")].filter(t => !t.caption || !t.caption.textContent.trim())`,
				"heads of columns without a scope":  `[...document.querySelectorAll("thead th")].filter(h => h.scope !== "col" || !h.textContent.trim())`,
				"heads of rows without a scope":     `[...document.querySelectorAll("tbody th")].filter(h => h.scope !== "row" || !h.textContent.trim())`,
				"figures without a name":            `[...document.querySelectorAll("main figure svg")].filter(s => s.getAttribute("role") !== "img" || !s.getAttribute("aria-labelledby").split(" ").every(i => document.getElementById(i)?.textContent))`,
				"figures without a caption":         `[...document.querySelectorAll("main figure")].filter(f => !f.querySelector("figcaption")?.textContent)`,
				"captions behind their table":       `[...document.querySelectorAll("main figure")].filter(f => f.querySelector("table") && !(f.querySelector("figcaption").compareDocumentPosition(f.querySelector("table")) & Node.DOCUMENT_POSITION_FOLLOWING))`,
				"IDs that there are twice":          `[...document.querySelectorAll("[id]")].filter((e, i, all) => all.findIndex(o => o.id === e.id) !== i)`,
				"headings that leave a level out":   `[...document.querySelectorAll("h1, h2, h3, h4")].filter(h => h.getClientRects().length).filter((h, i, all) => i > 0 && Number(h.tagName[1]) > Number(all[i - 1].tagName[1]) + 1)`,
				"what scrolls and no key can reach": `[...document.querySelectorAll(".scroll, .canvas")].filter(e => e.tabIndex !== 0 || !e.getAttribute("aria-label"))`,
			} {
				if found := eval[[]string](b, js+`.slice(0, 4).map(e => e.outerHTML.slice(0, 160))`); len(found) > 0 {
					t.Errorf("%s:\n%s", what, strings.Join(found, "\n"))
				}
			}
			if v.name == "comparison-file" || v.name == "list" {
				if text := eval[string](b, `document.querySelector("noscript")?.innerText || ""`); !strings.Contains(text, "scripts") && !strings.Contains(text, "Scripts") {
					t.Errorf("with scripts off the page says %q", text)
				}
			}
		})
	}
}
