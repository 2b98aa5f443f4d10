package site

import (
	"bytes"
	"encoding/ascii85"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/report/reporttest"
)

func digest(name string) *analysis.Digest {
	return reporttest.Digest(reporttest.Spec{Run: name, Rates: []float64{500}, Duration: 5 * time.Second})
}

// needAnalyzer fails with what to run: the page is part of the product.
func needAnalyzer(t *testing.T) {
	t.Helper()
	if _, err := loadAnalyzer(); err != nil {
		t.Fatal(err)
	}
}

func TestLightReport(t *testing.T) {
	var b bytes.Buffer
	if err := WriteReport(&b, digest("r"), analysis.View{}, Options{Light: true}); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, bad := range []string{"<script", "controls-holder\" class", "http-equiv=\"refresh\""} {
		if strings.Contains(html, bad) {
			t.Errorf("a light report has %s", bad)
		}
	}
	if len(html) > 200_000 || !strings.Contains(html, "<svg") || !strings.Contains(html, "default-src &#39;none&#39;") {
		t.Errorf("%d bytes", len(html))
	}
}

func TestFullReport(t *testing.T) {
	needAnalyzer(t)
	var a, b bytes.Buffer
	for _, w := range []io.Writer{&a, &b} {
		if err := WriteReport(w, digest(reporttest.HostileName), analysis.View{}, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same run gives two reports")
	}
	if a.Len() > 4_000_000 {
		t.Errorf("%d bytes, the budget is 4 MB", a.Len())
	}
	html := a.String()
	if strings.Contains(html, "<img") || strings.Contains(html, "alert(2)</script>") {
		t.Error("the run's name became markup")
	}
	if strings.Count(html, "<script") != 4 || strings.Contains(html, "import {") {
		t.Error("the scripts are not as expected")
	}
}

func TestInlineRefusesOtherForms(t *testing.T) {
	if s, err := inline("report.js"); err != nil || !strings.Contains(s, "\nclass View") {
		t.Error(err)
	}
	// worker.js is no module and passes; a default export would not.
	if _, err := inline("worker.js"); err != nil {
		t.Error(err)
	}
}

func TestSiteGrows(t *testing.T) {
	needAnalyzer(t)
	dir := t.TempDir()
	for _, names := range [][]string{{"one"}, {"two", reporttest.HostileName}, {"one"}} {
		var ds []*analysis.Digest
		for _, n := range names {
			ds = append(ds, digest(n))
		}
		if err := WriteSite(dir, ds); err != nil {
			t.Fatal(err)
		}
	}
	var list List
	b, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Runs) != 3 {
		t.Errorf("%d runs, want one, two and the hostile one", len(list.Runs))
	}
	for _, e := range list.Runs {
		f, err := os.Stat(filepath.Join(dir, filepath.FromSlash(e.File)))
		if err != nil || f.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v", e.File, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".new-*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	// Those that compare two runs name a second one.
	if n := len(regexp.MustCompile(`href="#log=runs%2F[^"&]*"`).FindAll(html, -1)); n != 3 || strings.Contains(string(html), "<img") {
		t.Errorf("%d links", n)
	}
}

func TestForeignListIsLeftAlone(t *testing.T) {
	needAnalyzer(t)
	for _, text := range []string{"not json", `{"schema":"else/1"}`} {
		dir := t.TempDir()
		path := filepath.Join(dir, "runs.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := WriteSite(dir, nil); err == nil || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("%s: %v", text, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%s was overwritten", text)
		}
	}
}

func TestSafeID(t *testing.T) {
	seen := map[string]string{}
	for _, run := range []string{"2026-11-29T10.00_a", reporttest.HostileName, "a/b", "a-b", "a b", "..", ".", "", strings.Repeat("x", 300), strings.Repeat("x", 301), "ü", "-"} {
		id := SafeID(run)
		if id == "" || id[0] == '.' || id[0] == '-' || strings.ContainsAny(id, `/\ "<>'&%#?`) || len(id) > 90 {
			t.Errorf("%q becomes %q", run, id)
		}
		if was, ok := seen[id]; ok {
			t.Errorf("%q and %q both become %q", was, run, id)
		}
		seen[id] = run
	}
}

func TestHandler(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.json")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	write("index.html", "index")
	write("report.html", "report")
	write("analyze.wasm.gz", "\x1f\x8b")
	write("runs/a.digest.gz", "\x1f\x8b")
	write(".git/config.json", "hidden")
	write("key.pem", "secret")
	if err := os.Symlink(outside, filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "folderlink")); err != nil {
		t.Fatal(err)
	}
	h := Handler(dir)
	get := func(method, host, target string) *http.Response {
		r := httptest.NewRequest(method, "/", nil)
		r.URL.Path, r.Host = target, host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for _, c := range []struct {
		method, host, path string
		status             int
		kind               string
	}{
		{"GET", "127.0.0.1:8080", "/", 200, "text/html; charset=utf-8"},
		{"HEAD", "localhost", "/index.html", 200, "text/html; charset=utf-8"},
		{"GET", "[::1]:80", "/analyze.wasm.gz", 200, "application/gzip"},
		{"GET", "localhost:1", "/runs/a.digest.gz", 200, "application/gzip"},
		{"GET", "localhost:1", "/runs/", 404, ""},
		{"GET", "localhost:1", "/runs", 404, ""},
		{"GET", "localhost:1", "/.git/config.json", 404, ""},
		{"GET", "localhost:1", "/key.pem", 404, ""},
		{"GET", "localhost:1", "/link.json", 404, ""},
		{"GET", "localhost:1", "/../secret.json", 404, ""},
		{"GET", "localhost:1", "/runs/../../secret.json", 404, ""},
		{"POST", "localhost:1", "/", 405, ""},
		{"GET", "queuebench.example", "/", 421, ""},
		{"GET", "127.0.0.1.example:80", "/", 421, ""},
		{"GET", "10.0.0.1", "/", 421, ""},
	} {
		r := get(c.method, c.host, c.path)
		if r.StatusCode != c.status {
			t.Errorf("%s %s%s: status %d, want %d", c.method, c.host, c.path, r.StatusCode, c.status)
		}
		if c.kind != "" && r.Header.Get("Content-Type") != c.kind {
			t.Errorf("%s is %s", c.path, r.Header.Get("Content-Type"))
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: headers %v", c.path, r.Header)
		}
	}
	// As they come from a socket: encoded, absolute, and with what only some
	// systems take for a separator.
	server := httptest.NewServer(h)
	defer server.Close()
	for _, target := range []string{
		"/%2e%2e/secret.json", "/runs/%2e%2e%2f%2e%2e%2fsecret.json", "/..%5csecret.json", "/%2fetc/hosts.json", "//" + outside, outside,
		"/link.json", "/runs/..;/..;/secret.json", "/index.html%00.json", "/.git/config.json", "/%2egit/config.json", "/runs%2f..%2f..%2f" + filepath.Base(filepath.Dir(outside)) + "/secret.json", "/folderlink/secret.json",
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target)
		answer, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || strings.Contains(string(answer), "\r\n\r\nsecret") || !strings.HasPrefix(string(answer), "HTTP/1.1 404") && !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
			t.Errorf("%s: %.200q, %v", target, answer, err)
		}
	}
	if csp := get("GET", "localhost", "/").Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Error(csp)
	}
	if csp := get("GET", "localhost", "/report.html").Header.Get("Content-Security-Policy"); csp != otherCSP {
		t.Errorf("a report under another policy: %s", csp)
	}
}

// TestStylesHaveAllColours reads each variable of the figures from the sheet.
func TestStylesHaveAllColours(t *testing.T) {
	css := styles()
	if strings.Count(css, "--fig-ink:") != 2 || strings.Count(css, "--fig-s6:") != 2 || strings.Contains(css, "/*figure") {
		t.Error("the figures' colours are not in the style sheet for light and dark")
	}
}

// Data of any length and content stand in a page and come out again, and nothing
// in them is markup.
func TestBlocksComeOutAgain(t *testing.T) {
	for n := range 40 {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i * i * n)
		}
		text := block("data-x", data)
		text = strings.TrimSuffix(text[strings.IndexByte(text, '>')+1:], "</script>\n")
		if strings.Contains(text, "<") {
			t.Fatalf("%d bytes: %q", n, text)
		}
		out := make([]byte, 4*len(text)+4)
		m, _, err := ascii85.Decode(out, []byte(strings.ReplaceAll(text, "v", "<")), true)
		if err != nil || !bytes.Equal(out[:m], data) {
			t.Errorf("%d bytes: %x, %v", n, out[:m], err)
		}
	}
}
