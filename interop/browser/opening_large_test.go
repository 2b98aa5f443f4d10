package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"queuebench/analysis"
)

// TestLargeLog opens a log of 300 MB, is cancelled in the middle, and opens it
// again within the memory that a page may have.
func TestLargeLog(t *testing.T) {
	t.Parallel()
	dir := rawLog(t, "-n", "13000000", "-noise")
	var size int64
	if err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return err
	}); err != nil || size < 300e6 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	b := emptySite(t)
	b.drop(dir)
	b.wait(`/ of 25,9\d\d,\d\d\d records/.test(document.getElementById("loading-text").textContent) && document.getElementById("loading-bar").value > 0.1`)
	t.Log(eval[string](b, `document.getElementById("loading-text").textContent`))
	b.do(chromedp.Click("#loading-cancel"))
	b.wait(`document.getElementById("loading").hidden && document.getElementById("notes").textContent.includes("Cancelled")`)
	b.drop(dir)
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = ""`))
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = "run=1"`))
	b.waitLong(ready)
	sum := nativeSummary(t, dir)
	compareSummary(b, sum, analysis.View{})
	for _, name := range []string{"memory", "intakeMemory"} {
		n := eval[int](b, `Number(document.getElementById("main").dataset.`+name+`)`)
		t.Logf("%s of %d MB: %.0f MB", name, size/1e6, float64(n)/1e6)
		if n == 0 || n > 150_000_000 {
			t.Errorf("%s is %d bytes, at most 150 MB", name, n)
		}
	}
}
