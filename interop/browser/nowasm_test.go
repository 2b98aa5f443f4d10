package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"queuebench/site"
)

// TestWithoutWebAssembly opens a report and a site in a browser that has scripts
// and no WebAssembly, as some modes of protection make it: what was written stays,
// all of it, and the page says what to do.
func TestWithoutWebAssembly(t *testing.T) {
	t.Parallel()
	browser, quit, err := launch(chromedp.Flag("js-flags", "--jitless"))
	if err != nil {
		t.Fatal(err)
	}
	defer quit()
	for _, v := range everyView() {
		if v.name != "report" && v.name != "run" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			b := tabOf(t, browser)
			b.look(1200, 900, false)
			if v.name == "run" {
				address, _ := serve(t, run())
				b.do(chromedp.Navigate(address + "#log=runs%2F2026-11-29-delta-sweep.digest.gz"))
				b.error("no WebAssembly", "plain page", "`analyze`")
				b.do(chromedp.Click("#all-runs"), chromedp.WaitVisible(".listed .more a"), chromedp.Click(".listed .more a"), chromedp.WaitVisible("#rates"))
			} else {
				b.do(chromedp.Navigate(reportFile(t, run(), seconds(3), site.Options{})))
				b.wait(`!document.getElementById("view-error").hidden`)
				if text := eval[string](b, `document.getElementById("view-error").textContent`); !strings.Contains(text, "no WebAssembly") || !strings.Contains(text, "`analyze`") || !strings.Contains(text, "as they were written") {
					t.Errorf("the page says %q", text)
				}
				compare(b, run(), seconds(3))
			}
			if n := eval[int](b, `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().height > 150).length`); n < 7 { // one per rate, and two of each of three steps
				t.Errorf("%d figures can be seen", n)
			}
			if found := eval[[]string](b, `[...document.querySelectorAll("#controls-holder :is(input, select, button)")].filter(e => e.getClientRects().length).map(e => e.id)`); len(found) > 0 {
				t.Errorf("controls that cannot work are shown: %s", found)
			}
			b.shot("page")
		})
	}
}
