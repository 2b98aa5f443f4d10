package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"queuebench/analysis"
	"queuebench/report/reporttest"
)

// tools builds the programs of users and the writer of logs, once, and without
// what only debuggers read.
var tools = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", scratch+string(filepath.Separator), "./cmd/analyze", "./cmd/bench", "./internal/benchlog")
	build.Dir = filepath.Join("..", "..")
	build.Stderr = os.Stderr
	return build.Run()
})

func tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	if err := tools(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, name), args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
	}
	return string(out)
}

// rawLog writes a raw log, the folder of a run.
func rawLog(t testing.TB, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my run")
	tool(t, "benchlog", append([]string{"-out", dir}, args...)...)
	return dir
}

func nativeSummary(t *testing.T, args ...string) (sum analysis.Summary) {
	t.Helper()
	if err := json.Unmarshal([]byte(tool(t, "analyze", append([]string{"summary", "--json"}, args...)...)), &sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// emptySite opens the page of a site without a run.
func emptySite(t testing.TB) *tab {
	t.Helper()
	address, _ := serve(t)
	b := newTab(t)
	b.look(1200, 900, false)
	b.do(chromedp.Navigate(address))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	return b
}

// drop drops files and folders of the disk on the page, as a person does.
func (b *tab) drop(paths ...string) {
	b.t.Helper()
	for i, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			b.t.Fatal(err)
		}
		paths[i] = abs
	}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		_, err := chromedp.Call(b.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: 400, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *tab) opened() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll("#opened button")].map(b => b.textContent)`)
}

func (b *tab) error(parts ...string) {
	b.t.Helper()
	b.wait(`!document.getElementById("page-error").hidden`)
	text := eval[string](b, `document.getElementById("page-error").textContent`)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.t.Errorf("the page says %q, without %q", text, p)
		}
	}
	b.t.Log(text)
}

// TestDroppedLog gives a raw log to the page in each of the ways that there are,
// and holds every number against the command line's.
func TestDroppedLog(t *testing.T) {
	t.Parallel()
	dir := rawLog(t, "-n", "200000", "-rate", "50000")
	sum := nativeSummary(t, dir)
	var parts []string
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") || filepath.Base(path) == "run.json" {
			parts = append(parts, path)
		}
		return err
	}); err != nil || len(parts) != 3 {
		t.Fatal(parts, err)
	}
	for name, give := range map[string]func(b *tab){
		"folder":         func(b *tab) { b.drop(dir) },
		"three files":    func(b *tab) { b.drop(parts[2], parts[0], parts[1]) },
		"file chooser":   func(b *tab) { b.do(chromedp.SetUploadFiles("#files", parts)) },
		"folder chooser": func(b *tab) { b.do(chromedp.SetUploadFiles("#folder", []string{dir})) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := emptySite(t)
			if text := eval[string](b, `document.getElementById("opening").innerText`); !strings.Contains(text, "Nothing is uploaded") {
				t.Errorf("beside the drop zone stands %q", text)
			}
			give(b)
			b.wait(ready)
			compareSummary(b, sum, analysis.View{})
			if name != "folder" {
				return
			}
			b.change(func() { b.enter("warmup", "1") })
			compareSummary(b, nativeSummary(t, dir, "--warmup", "1s"), seconds(1))
			b.change(func() { b.drop(filepath.Join("..", "..", "importer", "testdata", "vegeta.csv")) })
			if got := strings.Join(b.opened(), "|"); got != "bench|vegeta.csv|Compare" {
				t.Errorf("open is %s", got)
			}
			b.wait(`document.querySelector("#headline h1")?.textContent === "vegeta.csv"`)
		})
	}
}

// TestDropOfManyKinds drops a part without its run.json, a digest, and a file of
// another tool together.
func TestDropOfManyKinds(t *testing.T) {
	t.Parallel()
	dir := rawLog(t, "-n", "20000", "-rate", "10000")
	_, site := serve(t, reporttest.Digest(reporttest.Spec{Run: "published", Rates: []float64{500}, Duration: 4e9}))
	b := emptySite(t)
	b.drop(filepath.Join(dir, "sent", "step=0", "repeat=0", "part-producer-0-0.parquet"), digestIn(t, site), filepath.Join("..", "..", "importer", "testdata", "wrk2.txt"))
	b.wait(ready)
	if got := strings.Join(b.opened(), "|"); got != "bench|published|wrk2.txt|Compare" {
		t.Errorf("open is %s", got)
	}
	if text := eval[string](b, `document.getElementById("main").textContent`); !strings.Contains(text, "run.json was not opened with it") || !strings.Contains(text, "opened without run.json") {
		t.Errorf("a part alone is shown as if it were whole: %s", text)
	}
	b.do(chromedp.Click(`#opened li:nth-child(2) button`))
	b.wait(`document.querySelector("#headline h1")?.textContent === "published"`)
}

// TestBrokenDrops gives what cannot be read.
func TestBrokenDrops(t *testing.T) {
	t.Parallel()
	dir := rawLog(t, "-n", "20000", "-rate", "10000")
	part := filepath.Join(dir, "sent", "step=0", "repeat=0", "part-producer-0-0.parquet")
	body, err := os.ReadFile(part)
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
	b := emptySite(t)
	for _, c := range []struct {
		path string
		says []string
	}{
		{write("empty.digest.gz", nil), []string{"empty.digest.gz", "empty", "`analyze report empty.digest.gz`"}},
		{write("letter.pdf", []byte("%PDF-1.7 something else")), []string{"letter.pdf", "no format that is known", "vegeta"}},
		{write("cut.parquet", body[:len(body)/2]), []string{"cut.parquet", "cut off"}},
		{write("other.parquet", append(append([]byte("PAR1"), make([]byte, 40)...), "PAR1"...)), []string{"other.parquet"}},
		{filepath.Join(dir, "run.json"), []string{"run.json", "missing", "whole folder"}},
	} {
		b.do(chromedp.Navigate(eval[string](b, `location.origin + "/?" + Math.random()`)))
		b.wait(`document.getElementById("main").dataset.routed === "true"`)
		b.drop(c.path)
		b.error(c.says...)
	}
	// A part that is damaged inside its run is told as natively.
	damaged := append([]byte{}, body...)
	for i := 1000; i < 1200; i++ {
		damaged[i] ^= 0x55
	}
	if err := os.WriteFile(part, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(eval[string](b, `location.origin + "/?" + Math.random()`)))
	b.wait(`document.getElementById("main").dataset.routed === "true"`)
	b.drop(dir)
	b.error("part-producer-0-0.parquet", "damaged", "copy it again")
}

// TestAddresses opens logs that lie on another host, several of them, one by a
// signed address, whose signature goes to nobody else and is not shown.
func TestAddresses(t *testing.T) {
	t.Parallel()
	dir := rawLog(t, "-n", "20000", "-rate", "10000")
	digest := filepath.Join(t.TempDir(), "bench.digest.gz")
	tool(t, "analyze", "digest", dir, "-o", digest)
	var mu sync.Mutex
	var asked []string
	files := http.FileServer(http.Dir(dir))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.RequestURI())
		if r.Referer() != "" {
			t.Errorf("the host sees the referrer %s", r.Referer())
		}
		mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		prefix, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch q := r.URL.Query(); {
		case prefix == "one" && q.Get("X-Amz-Signature") == "secret": // one object
			if path == "bench.digest.gz" {
				http.ServeFile(w, r, digest)
				return
			}
		case prefix == "sas" && q.Get("sig") == "secret": // a container
		case prefix == "open" && r.URL.RawQuery == "":
		default:
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		r.URL.Path = "/" + path
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	sum := nativeSummary(t, dir)
	signed := "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=secret"
	site, _ := serve(t)
	show := func(t *testing.T, logs ...string) *tab {
		t.Helper()
		b := newTab(t)
		b.ignore = []string{"403"}
		b.look(1200, 900, false)
		b.do(chromedp.Navigate(site + "#" + url.Values{"log": logs}.Encode()))
		return b
	}
	t.Run("a run.json, a container's signature, a signed digest", func(t *testing.T) {
		b := show(t, host.URL+"/open/run.json", host.URL+"/sas/run.json?sv=1&sr=c&sig=secret", host.URL+"/one/bench.digest.gz"+signed)
		b.wait(ready)
		compareSummary(b, sum, analysis.View{})
		if n := len(b.opened()); n != 4 {
			t.Errorf("%d buttons", n)
		}
		b.change(func() { b.do(chromedp.Click(`#opened li:nth-child(2) button`)) })
		compareSummary(b, sum, analysis.View{})
		b.change(func() { b.do(chromedp.Click(`#opened li:nth-child(3) button`)) })
		if text := eval[string](b, `document.title + document.body.outerHTML`); strings.Contains(text, "secret") {
			t.Error("the page shows the signature")
		}
	})
	t.Run("the run's own address", func(t *testing.T) {
		b := show(t, host.URL+"/open/")
		b.wait(ready)
		compareSummary(b, sum, analysis.View{})
	})
	t.Run("a run.json that is signed alone", func(t *testing.T) {
		b := show(t, host.URL+"/one/run.json"+signed)
		b.error("/one/run.json", "signatures of their own", "analyze digest")
	})
	t.Run("its parts signed too", func(t *testing.T) {
		b := show(t, host.URL+"/one/run.json"+signed, host.URL+"/one/sent/step=0/repeat=0/part-producer-0-0.parquet"+signed, host.URL+"/one/received/step=0/repeat=0/part-consumer-0-0.parquet"+signed)
		b.wait(ready)
		compareSummary(b, sum, analysis.View{})
	})
	t.Run("an expired signature", func(t *testing.T) {
		b := show(t, host.URL+"/one/run.json?X-Amz-Signature=old")
		b.error("/one/run.json", "403", "expired")
	})
	t.Run("a bucket's own address", func(t *testing.T) {
		b := show(t, "s3://bucket/run")
		b.error("s3://bucket/run", "no keys", "`analyze report s3://bucket/run`")
	})
	mu.Lock()
	defer mu.Unlock()
	for _, a := range asked {
		if strings.Contains(a, "secret") && strings.Contains(a, "/open/") || strings.Contains(a, "sent/") && strings.Contains(a, "/one/") && !strings.Contains(a, "secret") {
			t.Errorf("asked for %s", a)
		}
	}
}
