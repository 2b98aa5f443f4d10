package browser

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/report/reporttest"
	"queuebench/site"
)

// brotli compresses with Node's zlib at its best quality, as a host would that
// compresses beforehand, and returns the number of bytes.
func brotli(path string) (int, error) {
	const script = `const z = require("zlib"), b = require("fs").readFileSync(process.argv[1]), c = z.constants;
		console.log(z.brotliCompressSync(b, {params: {[c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_SIZE_HINT]: b.length, [c.BROTLI_PARAM_LGWIN]: 24}}).length)`
	out, err := exec.Command("node", "-e", script, path).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("this test needs node: %w\n%s", err, out)
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// TestBudgets holds the built files to what people are asked to download.
func TestBudgets(t *testing.T) {
	dir := t.TempDir()
	if err := site.WriteSite(dir, nil); err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, limit int) {
		t.Helper()
		t.Logf("%s: %d bytes, at most %d", what, got, limit)
		if got > limit {
			t.Errorf("%s: %d bytes, at most %d", what, got, limit)
		}
	}
	packed, err := os.ReadFile(filepath.Join(dir, "analyze.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	check("analyzer, gzip", len(packed), 2_100_000)
	// The other program, which reads what is no digest, is loaded only then.
	other, err := os.ReadFile(filepath.Join(dir, "intake.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	check("intake, gzip", len(other), 2_100_000)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "analyze.wasm")
	if err := os.WriteFile(path, raw.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	// It takes half a minute, so the rest is done meanwhile.
	var analyzer int
	var analyzerErr error
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { analyzer, analyzerErr = brotli(path) })

	var page bytes.Buffer
	for _, name := range []string{"index.html", "page.css", "wasm_exec.js", "worker.js", "analyzer.js", "texts.js", "export.js", "plot.js", "view.js", "opening.js", "site.js"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		page.Write(b)
	}
	text := filepath.Join(dir, "page.txt")
	if err := os.WriteFile(text, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	small, err := brotli(text)
	if err != nil {
		t.Fatal(err)
	}
	check("page without the analyzer, brotli", small, 60_000)

	// Ten rates of five minutes each, at an interval of a second.
	var rates []float64
	for i := range 10 {
		rates = append(rates, float64(100*(i+1)))
	}
	d := reporttest.Digest(reporttest.Spec{Run: "ten", Rates: rates, Duration: 300 * time.Second, Interval: time.Second})
	var light bytes.Buffer
	if err := site.WriteReport(&light, d, analysis.View{}, site.Options{Light: true}); err != nil {
		t.Fatal(err)
	}
	check("light report of ten rates", light.Len(), 1_000_000)
	// The digest in it is as large as that of any run can be: it is made to fit.
	var full bytes.Buffer
	if err := site.WriteReport(&full, d, analysis.View{}, site.Options{}); err != nil {
		t.Fatal(err)
	}
	check("full report of ten rates", full.Len(), 4_000_000)
	if wg.Wait(); analyzerErr != nil {
		t.Fatal(analyzerErr)
	}
	check("analyzer, brotli", analyzer, 1_500_000)
}

// TestAnalyzerImports holds what the page's program must not link.
func TestAnalyzerImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-tags", "minimal", "-deps", ".", "./intake")
	cmd.Dir = filepath.Join("..", "..", "wasm")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("only %d packages", len(packages))
	}
	for _, p := range packages {
		for _, bad := range []string{"github.com/minio", "queuebench/objectstore", "queuebench/queue/", "queuebench/runner", "gofakes3", "net/http", "text/template", "html/template", "gonum.org/v1/plot/vg/vgpdf", "gonum.org/v1/plot/vg/vgimg"} {
			if strings.HasPrefix(p, bad) || strings.Contains(p, "/"+bad) {
				t.Errorf("the analyzer of the page links %s", p)
			}
		}
		if p == "github.com/parquet-go/parquet-go" {
			t.Errorf("the analyzer of the page links %s, which writes Parquet and adds 8 MB", p)
		}
	}
}
