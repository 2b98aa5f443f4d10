package logstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
	"queuebench/rawlog"
)

// Runs and digests are found below a folder and below a prefix of a bucket alike,
// with as few LISTs as there are folders that are no run.
func TestBelow(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, "bucket", "nightly")
	writeRun(t, filepath.Join(base, "run-1"))
	writeRun(t, filepath.Join(base, "deep", "run-2"))
	for name, body := range map[string]string{
		"old/3.gz": "\x1f\x8b" + strings.Repeat("x", 30), "old/4": "#[" + strings.Repeat("x", 30), "old/notes": strings.Repeat("n", 30), "old/short": "#[",
		"old/page.html": "#[" + strings.Repeat("x", 30), "half/run-produce.json": "{}", "half/sent/1.parquet": "x",
	} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := "[old/3.gz! old/4! run-1 deep/run-2 half]"
	names := func(found []Found, place string) string {
		var out []string
		for _, f := range found {
			name, _, _ := strings.Cut(f.Address, "?")
			_, name, _ = strings.Cut(name, place+"/")
			if f.Object {
				name += "!"
			}
			out = append(out, filepath.ToSlash(name))
		}
		return fmt.Sprint(out)
	}
	same := func(got string) bool {
		a, b := strings.Fields(strings.Trim(got, "[]")), strings.Fields(strings.Trim(want, "[]"))
		seen := map[string]int{}
		for _, x := range a {
			seen[x]++
		}
		for _, x := range b {
			seen[x]--
		}
		for _, n := range seen {
			if n != 0 {
				return false
			}
		}
		return true
	}
	found, err := Below(t.Context(), base, objectstore.Options{})
	if err != nil || !same(names(found, "nightly")) {
		t.Errorf("below the folder: %s, %v", names(found, "nightly"), err)
	}
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	opt := objectstore.Options{Credentials: server.Credentials()}
	address := func(prefix string) string { return server.Address("bucket", prefix).String() }
	copyTo(t, base, address("nightly"), opt)
	if found, err = Below(t.Context(), address("nightly"), opt); err != nil || !same(names(found, "nightly")) {
		t.Fatalf("below the prefix: %s, %v", names(found, "nightly"), err)
	}
	for _, f := range found {
		if f.Object {
			if b, err := Object(t.Context(), f.Address, opt); err != nil || !IsDigest(b[:2]) {
				t.Errorf("%s: %v", f.Address, err)
			}
		} else if _, err := Open(t.Context(), f.Address, opt); err != nil {
			t.Errorf("%s: %v", f.Address, err)
		}
	}
	store, err := objectstore.Open(t.Context(), address("nightly"), opt)
	if err != nil {
		t.Fatal(err)
	}
	w := walk{}
	if err := w.into(t.Context(), store, ""); err != nil {
		t.Fatal(err)
	}
	// nightly, deep, half, old
	if n := store.Requests().List; n != 4 {
		t.Errorf("%d LISTs", n)
	}
	for _, place := range []string{address("nothing"), filepath.Join(root, "bucket", "nightly", "old", "absent")} {
		if _, err := Below(t.Context(), place, opt); !errors.Is(err, rawlog.ErrNotARun) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if found, err := Below(t.Context(), address("nightly/old/3.gz"), opt); err != nil || len(found) != 1 || !found[0].Object {
		t.Errorf("one digest: %+v, %v", found, err)
	}
}

// copyTo puts the files of a folder into a store.
func copyTo(t *testing.T, dir, address string, opt objectstore.Options) {
	t.Helper()
	store, err := objectstore.Open(t.Context(), address, opt)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return store.Put(t.Context(), filepath.ToSlash(name), body, objectstore.PutOptions{})
	})
	if err != nil {
		t.Fatal(err)
	}
}
