package publish_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
	"queuebench/site/publish"
)

// A folder has no MD5 as its ETag, so all is sent to one.
func TestPlanSendsTheListLastAndOnlyWhatIsOfASite(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"index.html": "<p>", "runs.json": "{}", "page.css": "a{}", "site.js": "1", "analyze.wasm.gz": "\x1f\x8b", "runs/a.digest.gz": "\x1f\x8b", "runs/a.html": "<p>",
		".new-1": "x", "notes.txt": "x", ".git/config.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	store, err := objectstore.Open(t.Context(), t.TempDir(), objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), "foreign.txt", []byte("mine"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	objects, err := publish.Plan(t.Context(), dir, store)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Key)
		encoded := o.Options.ContentEncoding == "gzip"
		if encoded == strings.HasSuffix(o.Key, ".gz") || o.Options.ContentType == "" || o.Options.CacheControl != "no-cache" || !o.Changed {
			t.Errorf("%s: %+v", o.Key, o.Options)
		}
	}
	if n := len(keys); n != 7 || !slices.Equal(keys[n-2:], []string{"runs.json", "index.html"}) {
		t.Errorf("sent are %v", keys)
	}
	if err := publish.Upload(t.Context(), store, objects, func(publish.Object) {}); err != nil {
		t.Fatal(err)
	}
	if b, _, err := store.Get(t.Context(), "foreign.txt"); err != nil || string(b) != "mine" {
		t.Errorf("what was there is %q, %v", b, err)
	}
	if _, err := publish.Plan(t.Context(), t.TempDir(), store); err == nil || !strings.Contains(err.Error(), "no site") {
		t.Errorf("a folder without a site gives %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"s3://b/p/q?endpoint=http://127.0.0.1:9000":                     "http://127.0.0.1:9000/b/p/q/index.html",
		"s3://b?endpoint=https://s.example&path-style=false":            "https://b.s.example/index.html",
		"s3://b/p?region=eu-central-1":                                  "https://b.s3.eu-central-1.amazonaws.com/p/index.html",
		"s3://b/p?endpoint=http://h:1&region=us-east-1&path-style=true": "http://h:1/b/p/index.html",
	} {
		a, err := objectstore.ParseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := publish.PageAddress(a); got != want {
			t.Errorf("%s is shown at %s, want %s", address, got, want)
		}
	}
	if got := publish.Origin("http://h:1/b/p/index.html"); got != "http://h:1" {
		t.Error(got)
	}
}

// Against a server: the second time nothing is sent, and what changed alone the
// third; each object has its type and its encoding.
func TestOnlyWhatChangedIsSent(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if err := server.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	store, err := server.Open(t.Context(), "pages", "reports")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, body string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("index.html", "<p>one</p>")
	write("runs.json", "{}")
	write("page.css", "a{}")
	sent := func() (keys []string) {
		objects, err := publish.Plan(t.Context(), dir, store)
		if err == nil {
			err = publish.Upload(t.Context(), store, objects, func(o publish.Object) { keys = append(keys, o.Key) })
		}
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	for i, want := range []string{"page.css runs.json index.html", "", "index.html"} {
		if i == 2 {
			write("index.html", "<p>two</p>")
		}
		if got := strings.Join(sent(), " "); got != want {
			t.Errorf("time %d: %q was sent, want %q", i+1, got, want)
		}
	}
}
