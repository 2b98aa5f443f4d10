package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/cors"

	"queuebench/internal/versitygw"
	"queuebench/report/reporttest"
)

// object is what a reader without keys gets of one, as it lies there: a client
// that undoes no encoding asks for it.
func object(t *testing.T, address string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Accept-Encoding": {"gzip"}}
	for k, v := range header {
		req.Header[k] = v
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

// corsRules reads what `aws s3api put-bucket-cors --cors-configuration` takes:
// the names are those of the API, and others are an error.
func corsRules(t *testing.T, text string) (out []cors.Rule) {
	t.Helper()
	var c struct {
		CORSRules []struct {
			ID                                                            string
			AllowedOrigins, AllowedMethods, AllowedHeaders, ExposeHeaders []string
			MaxAgeSeconds                                                 int
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil || len(c.CORSRules) == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, r := range c.CORSRules {
		for _, m := range r.AllowedMethods {
			if !slices.Contains([]string{"GET", "PUT", "POST", "DELETE", "HEAD"}, m) {
				t.Errorf("S3 knows no method %s in a rule", m)
			}
		}
		if len(r.AllowedOrigins) == 0 || len(r.AllowedMethods) == 0 {
			t.Errorf("S3 wants origins and methods: %+v", r)
		}
		out = append(out, cors.Rule{AllowedOrigin: r.AllowedOrigins, AllowedMethod: r.AllowedMethods, AllowedHeader: r.AllowedHeaders, ExposeHeader: r.ExposeHeaders, MaxAgeSeconds: r.MaxAgeSeconds})
	}
	return out
}

// A site is published twice to a server that is not ours, and read back by
// somebody without keys.
func TestPublishToAServer(t *testing.T) {
	gw := versitygw.Start(t)
	gw.MakePublic(t)
	t.Setenv("MINIO_S3_ACCESS_KEY", gw.AccessKey)
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", gw.SecretKey)
	dir := t.TempDir()
	site := filepath.Join(dir, "site")
	hostile := digestNamed(t, filepath.Join(dir, "hostile.gz"), reporttest.HostileName)
	if status, _, errs := analyze(t, "site", fixture, hostile, "--out", site); status != 0 {
		t.Fatal(errs)
	}
	// What others have in the bucket: beside the prefix, and below it.
	foreign := map[string]string{"my reports-old/index.html": "theirs", "my reports/notes.txt": "theirs", "my reports/runs/other.digest.gz": "theirs", "my reportsx": "theirs"}
	for name, body := range foreign {
		path := filepath.Join(gw.Dir, gw.Bucket, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	address := strings.Replace(gw.Address("my reports/"), "my ", "my%20", 1)
	publish := func(args ...string) (page, said string) {
		t.Helper()
		status, out, errs := analyze(t, append([]string{"publish", site, address}, args...)...)
		if status != 0 {
			t.Fatal(errs)
		}
		return strings.TrimSpace(out), errs
	}
	sent := regexp.MustCompile(`(?m)^(\S+): \d+ bytes, `)
	_, planned := publish("--dry-run")
	if res, _ := object(t, gw.Endpoint+"/"+gw.Bucket+"/my%20reports/index.html", nil); res.StatusCode != 404 {
		t.Errorf("a dry run sent something: %s", res.Status)
	}
	page, said := publish()
	if p, s := sent.FindAllString(planned, -1), sent.FindAllString(said, -1); len(s) < 10 || !slices.Equal(p, s) {
		t.Errorf("planned were %q, sent %q", p, s)
	}
	if all := sent.FindAllStringSubmatch(said, -1); all[len(all)-1][1] != "index.html" || all[len(all)-2][1] != "runs.json" {
		t.Errorf("sent are %q", all)
	}
	if _, again := publish(); sent.MatchString(again) || !strings.Contains(again, "files as they were") {
		t.Errorf("the second time it said %s", again)
	}

	// The address that was printed opens.
	res, body := object(t, page, nil)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/html; charset=utf-8" || res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%s: %s, %v", page, res.Status, res.Header)
	}
	if etag := res.Header.Get("ETag"); etag == "" {
		t.Error("no ETag to ask again with")
	} else if again, _ := object(t, page, http.Header{"If-None-Match": {etag}}); again.StatusCode != http.StatusNotModified {
		t.Errorf("asked again: %s", again.Status)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	html, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".gz": "application/gzip", ".html": "text/html; charset=utf-8"}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`(?:src|href|data-file|data-worker|data-analyze|data-intake)="((?:static|runs)/[^"]+)"`).FindAllStringSubmatch(string(html), -1) {
		u, err := base.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		res, body := object(t, u.String(), nil)
		kind := filepath.Ext(m[1])
		seen[kind]++
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != kinds[kind] {
			t.Errorf("%s: %s, %s", m[1], res.Status, res.Header.Get("Content-Type"))
		}
		// What the page itself unpacks is named as what it is and not as an encoding,
		// which the browser would undo; text is, and each is gzip.
		if encoding := res.Header.Get("Content-Encoding"); (encoding == "gzip") == (kind == ".gz") || encoding != "" && encoding != "gzip" || !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
			t.Errorf("%s has the encoding %q", m[1], encoding)
		}
		want := "public, max-age=31536000, immutable"
		if kind == ".html" {
			want = "no-cache"
		}
		if res.Header.Get("Cache-Control") != want {
			t.Errorf("%s: %s", m[1], res.Header.Get("Cache-Control"))
		}
	}
	if seen[".js"] < 8 || seen[".css"] != 1 || seen[".gz"] != 4 || seen[".html"] != 2 {
		t.Errorf("the page names %v", seen)
	}

	// A run more: what is new, and the two that name it. One that was changed by
	// hand is not kept for a year.
	if status, _, errs := analyze(t, "site", digestNamed(t, filepath.Join(dir, "more.gz"), "more"), "--out", site); status != 0 {
		t.Fatal(errs)
	}
	css, err := filepath.Glob(filepath.Join(site, "static", "*.css"))
	if err != nil || len(css) != 1 {
		t.Fatal(css, err)
	}
	rewrite(t, css[0], func(b []byte) []byte { return append(b, "\n.top { background: teal }\n"...) })
	_, said = publish()
	var names []string
	for _, m := range sent.FindAllStringSubmatch(said, -1) {
		names = append(names, m[1])
	}
	if len(names) != 5 || !strings.HasPrefix(names[0], "runs/more.") || names[1] != "runs/more.html" || !strings.HasPrefix(names[2], "static/page-") || names[4] != "index.html" {
		t.Errorf("of a run more were sent %q", names)
	}
	if !regexp.MustCompile(`static/page-[0-9a-f]+\.css: .*, no-cache`).MatchString(said) {
		t.Errorf("a file that was changed by hand: %s", said)
	}
	for name, body := range foreign {
		if b, err := os.ReadFile(filepath.Join(gw.Dir, gw.Bucket, filepath.FromSlash(name))); err != nil || string(b) != body {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}

	// The rule is S3's, the server takes it, and pages of this host alone may read.
	_, rule, _ := strings.Cut(said, "opens: ")
	gw.SetCORS(t, corsRules(t, strings.TrimSpace(rule)))
	origin := base.Scheme + "://" + base.Host
	for who, want := range map[string]string{origin: origin, "https://other.example": ""} {
		res, _ := object(t, page, http.Header{"Origin": {who}, "Range": {"bytes=0-9"}})
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want && !(want != "" && got == "*") {
			t.Errorf("a page of %s is allowed %q", who, got)
		}
	}
}

// What cannot be published is told in a line that names the object and the right
// that is missing.
func TestPublishWithoutRights(t *testing.T) {
	gw := versitygw.StartWith(t, versitygw.Options{Users: map[string]string{"reader": "secretsecret"}})
	site := filepath.Join(t.TempDir(), "site")
	if err := os.MkdirAll(site, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "index.html"), []byte("<p>"), 0o666); err != nil {
		t.Fatal(err)
	}
	missing := strings.Replace(gw.Address("x"), gw.Bucket, "no-such-bucket", 1)
	for _, c := range []struct {
		access, secret, dir, address string
		status                       int
		says                         []string
	}{
		{"reader", "secretsecret", site, gw.Address("x"), 1, []string{"access denied", "s3:"}},
		{"reader", "wrong", site, gw.Address("x"), 1, []string{"secret key"}},
		{gw.AccessKey, gw.SecretKey, site, missing, 1, []string{"no-such-bucket", "create the bucket"}},
		{gw.AccessKey, gw.SecretKey, filepath.Join(site, "..", "nowhere <img>"), gw.Address("x"), 1, []string{"nowhere <img>", "analyze site"}},
		{gw.AccessKey, gw.SecretKey, site, strings.Replace(gw.Address("x"), "/x?", "/../x?", 1), 2, []string{".."}},
	} {
		t.Setenv("MINIO_S3_ACCESS_KEY", c.access)
		t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", c.secret)
		status, out, errs := analyze(t, "publish", c.dir, c.address)
		if status != c.status || out != "" || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "secretsecret") {
			t.Errorf("%s as %s: status %d, %q, %q", c.address, c.access, status, out, errs)
		}
		for _, s := range c.says {
			if !strings.Contains(errs, s) {
				t.Errorf("%s as %s: %q lacks %q", c.address, c.access, errs, s)
			}
		}
	}
}
