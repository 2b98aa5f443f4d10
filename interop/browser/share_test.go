package browser

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	"queuebench/internal/versitygw"
	"queuebench/report/reporttest"
	"queuebench/site"
)

// TestDownloads: what a reader downloads is what they do. The list takes no
// program, a published run the one that draws, and only a raw log or a file of
// another tool the other.
func TestDownloads(t *testing.T) {
	t.Parallel()
	_, dir := serve(t, run())
	var mu sync.Mutex
	asked := map[string]int{}
	files := site.Handler(dir)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		name, _, _ := strings.Cut(path.Base(r.URL.Path), "-")
		if path.Dir(r.URL.Path) == "/runs" {
			name = "digest"
			if path.Ext(r.URL.Path) == ".html" {
				name = "drawn"
			}
		}
		asked[name]++
		mu.Unlock()
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	check := func(when string, want map[string]int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		for _, name := range []string{"page", "site", "worker", "analyze", "digest", "drawn", "intake"} {
			if asked[name] != want[name] {
				t.Errorf("%s: %s was asked for %d times, want %d", when, name, asked[name], want[name])
			}
		}
	}
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(host.URL + "/"))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	check("the list", map[string]int{"page": 1, "site": 1})
	b.do(chromedp.Click(".listed .open"))
	b.wait(ready)
	check("a published run", map[string]int{"page": 1, "site": 1, "worker": 1, "analyze": 1, "digest": 1, "drawn": 1})
	b.change(func() { b.drop(filepath.Join("..", "..", "importer", "testdata", "vegeta.csv")) })
	check("a file of another tool", map[string]int{"page": 1, "site": 1, "worker": 2, "analyze": 1, "digest": 2, "drawn": 1, "intake": 1})
}

// TestReadBeforeTheAnalyzer: a published run is there as it was drawn when it was
// published, before the analyzer is, and even where that never comes.
func TestReadBeforeTheAnalyzer(t *testing.T) {
	t.Parallel()
	address, dir := serveOwn(t, run())
	programs, err := filepath.Glob(filepath.Join(dir, "static", "analyze-*"))
	if err != nil || len(programs) != 1 {
		t.Fatal(programs, err)
	}
	if err := os.Remove(programs[0]); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.ignore = []string{"404"}
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(address + "#log=" + url.QueryEscape("runs/2026-11-29-delta-sweep.digest.gz")))
	b.wait(`!document.getElementById("page-error").hidden && document.querySelector("#headline h1")?.textContent === "2026-11-29-delta-sweep"`)
	compare(b, run(), analysis.View{})
	if n := eval[int](b, `document.querySelectorAll("main figure svg").length`); n < 3 {
		t.Errorf("%d figures", n)
	}
	if text := eval[string](b, `document.getElementById("page-error").textContent`); !strings.Contains(text, filepath.Base(programs[0])) {
		t.Errorf("the page says %q", text)
	}
	// Another view was not drawn beforehand, and what stood there is not it.
	b.do(chromedp.Navigate(address + "?other#log=" + url.QueryEscape("runs/2026-11-29-delta-sweep.digest.gz") + "&warmup=3s"))
	b.wait(`!document.getElementById("page-error").hidden`)
	if n := eval[int](b, `document.querySelectorAll("main [data-region]").length`); n > 0 {
		t.Errorf("%d regions of a view that was not asked for", n)
	}
}

// TestHostThatNamesEncodings serves compressed files as some hosts do, with their
// compression as an encoding that the browser undoes.
func TestHostThatNamesEncodings(t *testing.T) {
	t.Parallel()
	_, dir := serve(t, run())
	files := http.FileServer(http.Dir(dir))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".gz") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(host.URL + "/#log=runs/2026-11-29-delta-sweep.digest.gz")
	compare(b, run(), analysis.View{})
	b.change(func() { b.drop(filepath.Join("..", "..", "importer", "testdata", "vegeta.csv")) })
	b.wait(`document.querySelector("#headline h1")?.textContent === "vegeta.csv"`)
}

// TestPublishedBucket opens a site where a bucket itself serves it: nothing there
// finds an index.html by its folder. A raw log that lies in the bucket is opened
// by its address.
func TestPublishedBucket(t *testing.T) {
	t.Parallel()
	gw := versitygw.Start(t)
	gw.MakePublic(t)
	_, dir := serve(t, run(), slower())
	log := rawLog(t, "-n", "20000", "-rate", "10000")
	if err := os.CopyFS(filepath.Join(gw.Dir, gw.Bucket, "logs", "my run"), os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	if err := tools(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, "analyze"), "publish", dir, gw.Address("re%20ports"))
	cmd.Env = append(os.Environ(), gw.Environ()...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	page := strings.TrimSpace(string(out))
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(page))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	b.do(chromedp.Click(`.listed a.open[href*="delta-sweep"]`))
	b.wait(ready)
	compare(b, run(), analysis.View{})
	b.do(chromedp.Click("#all-runs"))
	b.wait(`document.getElementById("main")?.dataset.routed === "true" && !document.getElementById("run-list").hidden`)
	b.do(chromedp.Click(`.more a[href$="delta-sweep.html"]`))
	b.wait(`document.querySelector('a[href*="index.html#log="]')`)
	b.do(chromedp.Click(`a[href*="index.html#log="]`))
	b.wait(`document.getElementById("main")?.dataset.ready === "true"`)
	compare(b, run(), analysis.View{})
	b.do(chromedp.Navigate(page + "#log=" + url.QueryEscape("../logs/my run/run.json")))
	b.wait(`document.querySelector("#headline h1")?.textContent === "bench" && ` + ready)
	compareSummary(b, nativeSummary(t, log), analysis.View{})
}

// TestServedRun opens what `analyze serve RUN` prints.
func TestServedRun(t *testing.T) {
	t.Parallel()
	log := rawLog(t, "-n", "20000", "-rate", "10000")
	if err := tools(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(scratch, "analyze"), "serve", log, "--warmup", "500ms")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after an interrupt: %v", err)
		}
	})
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(address)
	compareSummary(b, nativeSummary(t, log, "--warmup", "500ms"), seconds(0.5))
	// The raw log itself, cut exactly where the digest in the page has no edge.
	b.do(chromedp.Navigate(strings.Split(address, "#")[0] + "?again"))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	b.drop(log)
	b.wait(ready)
	compareSummary(b, nativeSummary(t, log), analysis.View{})
}

// digestIn is the one digest of a site's folder.
func digestIn(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "runs", "*.digest.gz"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// named writes a digest of a run for a test to drop.
func named(t *testing.T, file string, spec reporttest.Spec) string {
	t.Helper()
	var packed bytes.Buffer
	if err := analysis.PackDigest(&packed, fit(t, reporttest.Digest(spec))); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(to, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestDropOnReport gives files to the single file, from disk: digests open beside
// what is in it and are compared with it; all else is told by name, with what
// reads it, and changes nothing.
func TestDropOnReport(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(reportFile(t, faster(), analysis.View{}, site.Options{}))
	if !eval[bool](b, `document.getElementById("opened").hidden && !document.getElementById("opening").hidden`) {
		t.Error("the page does not say that it takes files, or lists what nobody gave to it")
	}
	whole := named(t, "slower.digest.gz", reporttest.Spec{Run: "slower", Rates: []float64{100, 300}, Duration: 90 * time.Second, Slower: 1.35})
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	log := rawLog(t, "-n", "20000", "-rate", "10000")
	for _, c := range []struct {
		path string
		says []string
	}{
		{log, []string{"my run/", " and 2 more are of a raw log", "digests only", "`analyze digest 'my run' -o run.digest.gz`", "`analyze serve 'my run'`"}},
		{filepath.Join(log, "run.json"), []string{"run.json is of a raw log", "`analyze serve RUN`"}},
		{filepath.Join(log, "sent", "step=0", "repeat=0", "part-producer-0-0.parquet"), []string{"part-producer-0-0.parquet is of a raw log"}},
		{filepath.Join("..", "..", "importer", "testdata", "vegeta.csv"), []string{"vegeta.csv is no digest", "`analyze serve vegeta.csv`"}},
		{write("empty.digest.gz", nil), []string{"empty.digest.gz is empty"}},
		{write("cut.digest.gz", data[:len(data)/2]), []string{"cut.digest.gz", "cut short", "analyze digest"}},
		{write(`a "b" <img src=x onerror=alert(1)>.pdf`, []byte("%PDF-1.7")), []string{`a "b" <img src=x onerror=alert(1)>.pdf is no digest`}},
	} {
		b.drop(c.path)
		b.wait(`document.getElementById("page-error").textContent.includes(` + fmt.Sprintf("%q", c.says[0]) + `)`)
		b.error(c.says...)
		compare(b, faster(), analysis.View{})
		if got := b.opened(); len(got) != 0 || eval[string](b, `location.hash`) != "" {
			t.Errorf("after %s %q are open, at %s", c.path, got, eval[string](b, `location.hash`))
		}
	}

	// One that can be read, with one that cannot.
	b.change(func() { b.drop(whole, filepath.Join("..", "..", "importer", "testdata", "vegeta.csv")) })
	b.wait(`document.querySelector("#headline h1")?.textContent === "slower"`)
	if got := strings.Join(b.opened(), "|"); got != "2026-11-29-faster|slower|vegeta.csv|Compare" {
		t.Errorf("open is %s", got)
	}
	if got := eval[string](b, `document.getElementById("notes").textContent`); !strings.Contains(got, "vegeta.csv is no digest") {
		t.Errorf("the notes are %q", got)
	}
	b.change(func() { b.do(chromedp.Evaluate[chromedp.Void](`history.back()`)) })
	b.wait(`document.querySelector("#headline h1")?.textContent === "2026-11-29-faster"`)

	// Anew, and compared.
	b.open(reportFile(t, faster(), analysis.View{}, site.Options{}))
	b.change(func() { b.do(chromedp.SetUploadFiles("#files", []string{whole})) })
	b.change(func() { b.do(chromedp.Click("#opened li:last-child button")) })
	results(b, 0, analysis.View{}, faster(), reporttest.Digest(reporttest.Spec{Run: "slower", Rates: []float64{100, 300}, Duration: 90 * time.Second, Slower: 1.35}))
	b.drop(whole)
	b.error("open already")
	b.change(func() { b.do(chromedp.Click("#opened li:first-child button")) })
	compare(b, faster(), analysis.View{})
	b.change(func() { b.enter("warmup", "5") })
	compare(b, faster(), seconds(5))

	// A reload has only what is in the file, and says so.
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = "run=2"`))
	b.wait(`document.querySelector("#headline h1")?.textContent === "slower"`)
	b.do(chromedp.Reload())
	b.wait(ready + ` && !document.getElementById("notes").hidden`)
	if got := eval[string](b, `document.getElementById("notes").textContent + document.querySelector("#headline h1").textContent`); !strings.Contains(got, "gone with a reload") || !strings.Contains(got, "faster") {
		t.Errorf("after a reload: %s", got)
	}
}

// TestDropOnComparison gives a third run to a comparison of two.
func TestDropOnComparison(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.look(1200, 900, false)
	b.open(comparisonFile(t, site.Options{Labels: []string{"before", "after"}}, faster(), slower()))
	third := named(t, "third.digest.gz", reporttest.Spec{Run: "third", Rates: []float64{100, 300}, Duration: 90 * time.Second})
	b.change(func() { b.drop(third) })
	b.wait(`document.querySelector("#headline h1")?.textContent === "third"`)
	b.change(func() { b.do(chromedp.Click("#opened li:last-child button")) })
	if got := eval[string](b, `document.querySelector("main").innerText`); !strings.Contains(got, "after against before") || !strings.Contains(got, "third against before") {
		t.Errorf("the comparison of three is of others: %.600s", got)
	}
}
