package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/versitygw"
	"queuebench/report/reporttest"
)

// serving runs `analyze serve` until the test ends, and returns the address that
// it printed. The command has to end with status 0 and to leave nothing behind.
func serving(t *testing.T, args ...string) *url.URL {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var errs bytes.Buffer
	status := make(chan int, 1)
	go func() {
		s := command.Main(ctx, newApp(), append([]string{"analyze", "serve"}, args...), w, &errs)
		w.Close()
		status <- s
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	ended := func() int { stop(); return <-status }
	if err != nil {
		t.Fatalf("serve %q: status %d: %s", args, ended(), errs.String())
	}
	t.Cleanup(func() {
		if s := ended(); s != 0 {
			t.Errorf("serve %q: status %d: %s", args, s, errs.String())
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("serve %q leaves %v, %v", args, left, err)
		}
	})
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("serve %q printed %q, %v", args, line, err)
	}
	return u
}

// fetch is what lies at a path of a served page.
func fetch(t *testing.T, base *url.URL, path string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	u := *base
	u.Fragment = ""
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.JoinPath(path).String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if h := header.Get("Host"); h != "" {
		req.Host = h
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// digestNamed writes the digest of a synthetic run.
func digestNamed(t *testing.T, path, run string) string {
	t.Helper()
	var b bytes.Buffer
	if err := analysis.PackDigest(&b, reporttest.Digest(reporttest.Spec{Run: run, Rates: []float64{500}, Duration: 4e9})); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run is shown from the address that bench printed: a folder, or a bucket.
func TestServeARun(t *testing.T) {
	gw := versitygw.Start(t)
	t.Setenv("MINIO_S3_ACCESS_KEY", gw.AccessKey)
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", gw.SecretKey)
	if err := os.CopyFS(filepath.Join(gw.Dir, gw.Bucket, "run"), os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{fixture, gw.Address("run")} {
		u := serving(t, address, "--warmup", "100ms", "--scale", "log")
		q, err := url.ParseQuery(u.Fragment)
		if err != nil || len(q["log"]) != 1 || q.Get("warmup") != "100ms" || q.Get("scale") != "log" || q.Has("view") || q.Has("percentiles") {
			t.Fatalf("%s is shown at %s, %v", address, u, err)
		}
		res, index := fetch(t, u, "/", nil)
		if res.StatusCode != 200 || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'self'") || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v", res.Header)
		}
		// Its name in addresses leads to what lies there.
		_, file, found := strings.Cut(string(index), `data-log="`+q.Get("log")+`" data-file="`)
		file, _, _ = strings.Cut(file, `"`)
		res, body := fetch(t, u, file, nil)
		d, err := analysis.ReadDigest(bytes.NewReader(body))
		if !found || err != nil || len(d.Steps) == 0 || res.Header.Get("Content-Type") != "application/gzip" || res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v, %v", file, res.Header, err)
		}
		if res, body := fetch(t, u, file, http.Header{"Range": {"bytes=0-1"}}); res.StatusCode != 206 || string(body) != "\x1f\x8b" {
			t.Errorf("a part of it: %s, %q", res.Status, body)
		}
		if res, _ := fetch(t, u, "/", http.Header{"Host": {"rebound.example"}}); res.StatusCode != 421 {
			t.Errorf("another host's page gets %s", res.Status)
		}
	}
}

// Several are held against each other, under labels and names that are hostile.
func TestServeSeveral(t *testing.T) {
	dir := t.TempDir()
	a, b := digestNamed(t, filepath.Join(dir, "a.gz"), reporttest.HostileName), digestNamed(t, filepath.Join(dir, "b.gz"), "b")
	u := serving(t, "before="+a, b)
	q, err := url.ParseQuery(u.Fragment)
	if err != nil || len(q["log"]) != 2 || q.Get("view") != "compare" || strings.Join(q["label"], "|") != "before|" {
		t.Errorf("%s, %v", u, err)
	}
	if _, index := fetch(t, u, "/", nil); strings.Contains(string(index), "<img") || strings.Contains(string(index), "alert(2)</script>") {
		t.Error("the run's name is markup")
	}
	u = serving(t, dir) // all that lie there
	if u.Fragment != "" {
		t.Errorf("a folder is shown at %s", u)
	}
	if _, index := fetch(t, u, "/", nil); strings.Count(string(index), `<li class="listed"`) != 2 {
		t.Error("the list is not of both runs")
	}
}

// A report is served as it lies there, a site with the kinds of files that a raw
// log beside it has.
func TestServeReportAndSite(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, `a "b" <img>.html`)
	if status, _, errs := analyze(t, "report", fixture, "--light", "-o", report); status != 0 {
		t.Fatal(errs)
	}
	want, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	u := serving(t, report, "--warmup", "1s")
	res, body := fetch(t, u, "/", nil)
	if !bytes.Equal(body, want) || u.Fragment != "warmup=1s" || strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src") {
		t.Errorf("%s: %d bytes of %d, %v", u, len(body), len(want), res.Header)
	}
	if res, _ := fetch(t, u, "/runs.json", nil); res.StatusCode != 404 {
		t.Errorf("beside it lies something: %s", res.Status)
	}

	site := filepath.Join(dir, "site")
	if status, _, errs := analyze(t, "site", fixture, "--out", site); status != 0 {
		t.Fatal(errs)
	}
	if err := os.CopyFS(filepath.Join(site, "raw"), os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "a.hlog"), []byte("#[x]"), 0o666); err != nil {
		t.Fatal(err)
	}
	part, err := filepath.Rel(site, onePart(t, filepath.Join(site, "raw"), "sent"))
	if err != nil {
		t.Fatal(err)
	}
	u = serving(t, site)
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "raw/run.json": "application/json", filepath.ToSlash(part): "application/vnd.apache.parquet", "a.hlog": "text/plain; charset=utf-8",
	} {
		if res, _ := fetch(t, u, path, nil); res.StatusCode != 200 || res.Header.Get("Content-Type") != kind || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s, %s", path, res.Status, res.Header.Get("Content-Type"))
		}
	}
	if res, body := fetch(t, u, filepath.ToSlash(part), http.Header{"Range": {"bytes=-4"}}); res.StatusCode != 206 || string(body) != "PAR1" {
		t.Errorf("the end of a part: %s, %q", res.Status, body)
	}
}

// What cannot be served is told in a line, before anything listens.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	whole := digestNamed(t, filepath.Join(dir, "whole.gz"), "r")
	body, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, `cut "x" <img>.gz`)
	if err := os.WriteFile(cut, body[:len(body)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		args   []string
		status int
		says   []string
	}{
		{nil, 2, []string{"analyze site"}},
		{[]string{whole, "--port", "70000"}, 2, []string{"70000", "65535"}},
		{[]string{whole, "--warmup", "soon"}, 2, []string{"--warmup"}},
		{[]string{empty}, 1, []string{empty, "index.html", "analyze site"}},
		{[]string{filepath.Join(empty, "nowhere")}, 1, []string{"nowhere", "run.json"}},
		{[]string{cut}, 1, []string{cut, "cut"}},
		{[]string{filepath.Join(dir, "..", "..", "no.html")}, 1, []string{"no.html"}},
	} {
		status, out, errs := analyze(t, append([]string{"serve"}, append(c.args, "--for", "1ms")...)...)
		if status != c.status || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q", c.args, status, out, errs)
		}
		for _, s := range c.says {
			if !strings.Contains(errs, s) {
				t.Errorf("%v: %q lacks %q", c.args, errs, s)
			}
		}
	}
	taken := serving(t, whole)
	if status, _, errs := analyze(t, "serve", whole, "--port", taken.Port()); status != 1 || !strings.Contains(errs, fmt.Sprintf("port %s", taken.Port())) || !strings.Contains(errs, "--port") {
		t.Errorf("a port that is taken: status %d, %q", status, errs)
	}
}
