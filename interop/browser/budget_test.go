package browser

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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

// compressed is the size of some bytes by brotli and by gzip.
type compressed struct{ brotli, gzip int }

// packed compresses bytes; those that are gzip already are unpacked before.
func packed(t *testing.T, name string, data []byte) (c compressed, err error) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		c.gzip = len(data)
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return c, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return c, err
		}
	} else {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return c, err
		}
		if _, err := z.Write(data); err != nil {
			return c, err
		}
		if err := z.Close(); err != nil {
			return c, err
		}
		c.gzip = b.Len()
	}
	c.brotli, err = known(t, data, func() (int, error) {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return 0, err
		}
		return brotli(file)
	})
	return c, err
}

// known is the size of some bytes by brotli, which for one of the programs takes
// half a minute of a processor: it is kept beside the tools of make test, under
// the hash of what was compressed, for as long as that does not change.
func known(t *testing.T, data []byte, measure func() (int, error)) (int, error) {
	dir := filepath.Join("..", "..", ".tools", "brotli-11-24")
	file := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256(data)))
	if text, err := os.ReadFile(file); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 {
			return n, nil
		}
	}
	n, err := measure()
	if err != nil {
		return 0, err
	}
	// Where it cannot be kept it is measured again.
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Log(err)
	} else if err := os.WriteFile(file, fmt.Appendln(nil, n), 0o666); err != nil {
		t.Log(err)
	}
	return n, nil
}

// TestBudgets holds the built files to what people are asked to download, for
// what they do: see the table of docs/share.md, which has the numbers of this
// test. A reader who looks at the list gets the page, one who opens a published
// run the analyzer as well, and only one who opens a raw log or a file of another
// tool the second program.
func TestBudgets(t *testing.T) {
	t.Parallel()
	files, _, err := site.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, limit int) {
		t.Helper()
		t.Logf("%s: %d bytes, at most %d", what, got, limit)
		if got > limit {
			t.Errorf("%s: %d bytes, at most %d", what, got, limit)
		}
	}
	var page []byte
	programs := map[string]compressed{}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		stem, _, _ := strings.Cut(path.Base(name), "-")
		switch {
		case strings.HasSuffix(name, ".wasm.gz"):
			programs[stem] = compressed{}
			names = append(names, name)
		case path.Dir(name) == "static" || name == "index.html":
			page = append(page, files[name]...)
		}
	}
	if len(programs) != 2 {
		t.Fatalf("the programs of the page are %v", names)
	}
	// Each takes half a minute, so the rest is done meanwhile.
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, name := range names {
		wg.Go(func() {
			c, err := packed(t, "program.wasm", files[name])
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			stem, _, _ := strings.Cut(path.Base(name), "-")
			programs[stem] = c
		})
	}
	defer wg.Wait()

	small, err := packed(t, "page.txt", page)
	if err != nil {
		t.Fatal(err)
	}
	check("page without the analyzer, brotli", small.brotli, 60_000)

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
	wg.Wait()
	for name, c := range programs {
		check(name+", gzip", c.gzip, 2_100_000)
		check(name+", brotli", c.brotli, 1_500_000)
	}
	t.Logf("by gzip: the list %d, a published run %d and its digest, a raw log or a file of another tool %d more", small.gzip, small.gzip+programs["analyze"].gzip, programs["intake"].gzip)
}

// TestAnalyzerImports holds what the page's program must not link.
func TestAnalyzerImports(t *testing.T) {
	t.Parallel()
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
