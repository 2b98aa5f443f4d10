package browser

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"queuebench/analysis"
	"queuebench/site"
)

// made keeps what takes half a second to make and is asked for by many tests, by
// what it is made of.
type made[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]func() (V, error)
}

func (m *made[K, V]) get(t testing.TB, key K, do func() (V, error)) V {
	t.Helper()
	m.mu.Lock()
	f := m.all[key]
	if f == nil {
		if m.all == nil {
			m.all = map[K]func() (V, error){}
		}
		f = sync.OnceValues(do)
		m.all[key] = f
	}
	m.mu.Unlock()
	v, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// parts are what a file or a site is made of: runs, at most four, and for a file
// its view and options.
type parts struct {
	runs             [4]*analysis.Digest
	view, options    string
	comparison, site bool
}

var (
	fits  made[*analysis.Digest, *analysis.Digest]
	files made[parts, string]
)

// fit is a run as a page has it.
func fit(t testing.TB, d *analysis.Digest) *analysis.Digest {
	t.Helper()
	return fits.get(t, d, func() (*analysis.Digest, error) { return d.Fit(analysis.PageBytes) })
}

// written writes an HTML file once, and returns its address on disk.
func written(t testing.TB, key parts, name string, write func(*bytes.Buffer) error) string {
	t.Helper()
	return files.get(t, key, func() (string, error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(scratch, "file-")
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, name)
		return (&url.URL{Scheme: "file", Path: path}).String(), os.WriteFile(path, b.Bytes(), 0o444)
	})
}

// reportFile writes a report and returns its address on disk.
func reportFile(t testing.TB, d *analysis.Digest, v analysis.View, o site.Options) string {
	t.Helper()
	key := parts{runs: [4]*analysis.Digest{d}, view: v.Fragment(), options: fmt.Sprintf("%+v", o)}
	return written(t, key, "report.html", func(b *bytes.Buffer) error { return site.WriteReport(b, d, v, o) })
}

// comparisonFile writes a comparison and returns its address on disk.
func comparisonFile(t testing.TB, o site.Options, ds ...*analysis.Digest) string {
	t.Helper()
	key := parts{comparison: true, options: fmt.Sprintf("%+v", o)}
	copy(key.runs[:], ds)
	return written(t, key, "comparison.html", func(b *bytes.Buffer) error { return site.WriteComparison(b, ds, analysis.View{}, o) })
}

// folder is a site that nobody changes.
func folder(t testing.TB, digests ...*analysis.Digest) string {
	t.Helper()
	key := parts{site: true}
	copy(key.runs[:], digests)
	return files.get(t, key, func() (string, error) {
		dir, err := os.MkdirTemp(scratch, "site-")
		if err != nil {
			return "", err
		}
		return dir, site.WriteSite(dir, digests)
	})
}

// serve serves a site of some runs, which no test changes; the address ends in a
// slash.
func serve(t testing.TB, digests ...*analysis.Digest) (address, dir string) {
	t.Helper()
	dir = folder(t, digests...)
	s := httptest.NewServer(site.Handler(dir))
	t.Cleanup(s.Close)
	return s.URL + "/", dir
}

// serveOwn serves one that is the test's own.
func serveOwn(t testing.TB, digests ...*analysis.Digest) (address, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder(t, digests...))); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(site.Handler(dir))
	t.Cleanup(s.Close)
	return s.URL + "/", dir
}
