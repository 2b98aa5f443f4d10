package rawlog

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// The name of a part stays below its manifest in a folder and in an address.
func FuzzPartNames(f *testing.F) {
	for _, s := range []string{"sent/step=0/repeat=0/part-producer-0-0.parquet", "../x.parquet", "/x", "a/../../x", "a\\..\\x", "c:x", "http://h/x", "//h/x", "a?b", "a#b", "x\x00", ".", "", "a/./b", "%2e%2e/x"} {
		f.Add(s)
	}
	base, err := url.Parse("https://host/runs/one/run.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !safeName(name) {
			return
		}
		if rel, err := filepath.Rel("/log", filepath.Join("/log", filepath.FromSlash(name))); err != nil || rel == "." || strings.HasPrefix(rel, "..") {
			t.Errorf("%q is %q in a folder", name, rel)
		}
		if ref, err := url.Parse(name); err == nil {
			if at := base.ResolveReference(ref); at.Host != "host" || !strings.HasPrefix(at.Path, "/runs/one/") {
				// A browser resolves an encoded ".." as one, too: safeName must refuse it.
				t.Errorf("%q is %s in an address", name, at)
			}
		}
	})
}
