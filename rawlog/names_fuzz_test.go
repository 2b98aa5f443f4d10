package rawlog

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// The name of a part stays below its manifest in a folder and in an address.
func FuzzPartNames(f *testing.F) {
	for _, s := range []string{"sent/step=0/repeat=0/part-producer-0-0.parquet", "../x.parquet", "/x", "a/../../x", "a\\..\\x", "c:x", "http://h/x", "//h/x", "a?b", "a#b", "x\x00", ".", "", "a/./b", "%2e%2e/x", "a/%2E./x", "..0", "a/..0/b"} {
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
		if rel, err := filepath.Rel("/log", filepath.Join("/log", filepath.FromSlash(name))); err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			t.Errorf("%q is %q in a folder", name, rel)
		}
		at := base.ResolveReference(&url.URL{Path: name})
		below, ok := strings.CutPrefix(at.EscapedPath(), "/runs/one/")
		if at.Host != "host" || !ok {
			t.Errorf("%q is %s in an address", name, at)
		}
		for segment := range strings.SplitSeq(below, "/") {
			// To a browser an encoded dot is one.
			if dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); dots == "." || dots == ".." {
				t.Errorf("%q is %s in an address, which a browser resolves", name, at)
			}
		}
	})
}
