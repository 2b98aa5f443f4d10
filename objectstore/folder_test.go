package objectstore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func newFolder(t *testing.T) (*Folder, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := FolderOptions{NoSync: true}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func keysOf(t *testing.T, s Store) string {
	t.Helper()
	var keys []string
	if err := s.List(t.Context(), ListOptions{}, func(i Info) error { keys = append(keys, i.Key); return nil }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(keys, " ")
}

func TestFolderIsNotLeftThroughALink(t *testing.T) {
	f, dir := newFolder(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, key := range []string{"link/secret", "file"} {
		if body, _, err := f.Get(ctx, key); err == nil {
			t.Errorf("get %s: %q", key, body)
		}
		if _, err := f.Head(ctx, key); err == nil {
			t.Errorf("head %s", key)
		}
	}
	if err := f.Put(ctx, "link/new", nil, PutOptions{}); err == nil {
		t.Error("writes through a link")
	}
	if err := f.Put(ctx, "file", nil, PutOptions{IfAbsent: true}); !errors.Is(err, ErrExists) {
		t.Errorf("a link in the way: %v", err)
	}
	if err := f.Delete(ctx, "link/secret"); err == nil {
		t.Error("deletes through a link")
	}
	if _, err := RemoveAll(ctx, f, "link/"); err == nil {
		t.Error("clears away through a link")
	}
	if got := keysOf(t, f); got != "" {
		t.Errorf("lists %q", got)
	}
	// A put takes the link's place; what it led to stays as it is.
	if err := f.Put(ctx, "file", []byte("mine"), PutOptions{}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(b) != "secret" {
		t.Errorf("outside: %q, %v", b, err)
	}
}

// failing gives some bytes and then an error.
type failing struct {
	left int
	err  error
}

func (r *failing) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, r.err
	}
	n := min(len(p), r.left)
	r.left -= n
	return n, nil
}

func TestInterruptedPutLeavesNothing(t *testing.T) {
	f, dir := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	broken := errors.New("broken")
	for name, r := range map[string]io.Reader{
		"fails":  &failing{10, broken},
		"short":  strings.NewReader("short"),
		"long":   strings.NewReader(strings.Repeat("x", 101)),
		"silent": &failing{0, io.ErrUnexpectedEOF},
	} {
		if _, err := f.PutReader(ctx, "a/"+name, r, 100, PutOptions{}); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
	cancel()
	if err := f.PutFile(ctx, "a/cancelled", strings.NewReader("x"), 1, PutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "a"))
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestLeftoversAreNeverListedAndAreClearedAway(t *testing.T) {
	f, dir := newFolder(t)
	ctx := t.Context()
	for _, key := range []string{"run/1/a", "run/10/a"} {
		if err := f.Put(ctx, key, []byte("x"), PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"run/1/" + tempPrefix + "X", "run/1/deep/er/" + tempPrefix + "Y", "run/10/" + tempPrefix + "Z"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), []byte("partial"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := keysOf(t, f); got != "run/1/a run/10/a" {
		t.Errorf("lists %q", got)
	}
	for _, key := range []string{"run/1/" + tempPrefix + "X", tempPrefix + "new/x"} {
		if _, _, err := f.Get(ctx, key); !errors.Is(err, ErrInvalidKey) {
			t.Errorf("get %s: %v", key, err)
		}
	}
	if n, err := RemoveAll(ctx, f, "run/1/"); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run/1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run/10/"+tempPrefix+"Z")); err != nil {
		t.Errorf("a neighbour was touched: %v", err)
	}
}

// Puts survive a RemoveAll of their own prefix that goes on all the time: each
// is there afterwards, or was taken away whole.
func TestPutsUnderARemoveAll(t *testing.T) {
	f, dir := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	var remover, writers sync.WaitGroup
	remover.Go(func() {
		for ctx.Err() == nil {
			if _, err := RemoveAll(ctx, f, "p/"); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	for range 3 {
		writers.Go(func() {
			for range 200 {
				if err := f.Put(ctx, "p/q/r", []byte("body"), PutOptions{}); err != nil {
					t.Error(err)
				}
				if body, _, err := f.Get(ctx, "p/q/r"); err == nil && string(body) != "body" {
					t.Errorf("reads %q", body)
				}
			}
		})
	}
	writers.Wait()
	cancel()
	remover.Wait()
	if _, err := RemoveAll(t.Context(), f, "p/"); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestDeleteRemovesEmptyFoldersButNotTheRoot(t *testing.T) {
	f, dir := newFolder(t)
	ctx := t.Context()
	for _, key := range []string{"a/b/c/d", "a/x", "top"} {
		if err := f.Put(ctx, key, nil, PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"a/b/c/d", "top"} {
		if err := f.Sub("").Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "a"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "x" {
		t.Errorf("left in a: %v, %v", entries, err)
	}
	if err := f.Delete(ctx, "a/x"); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left in the root: %v, %v", entries, err)
	}
	if err := f.Put(ctx, "again/x", nil, PutOptions{}); err != nil {
		t.Error(err)
	}
}

// An empty folder is no object: it does not keep one from having its name.
func TestEmptyFolderMakesWay(t *testing.T) {
	f, dir := newFolder(t)
	for _, ifAbsent := range []bool{false, true} {
		if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := keysOf(t, f); got != "" {
			t.Errorf("lists %q", got)
		}
		if err := f.Put(t.Context(), "a/b", []byte("x"), PutOptions{IfAbsent: ifAbsent}); err != nil {
			t.Error(err)
		}
		if err := f.Delete(t.Context(), "a/b"); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "nul\x00", filepath.Join(dir, "file")} {
		if _, err := OpenFolder(bad); err == nil {
			t.Errorf("opens %q", bad)
		}
	}
	// One that is not there is empty, and is not made by reading.
	s, err := OpenFolder(filepath.Join(dir, "later"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if err := errors.Join(s.Delete(t.Context(), "x"), CheckBucket(t.Context(), s)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "later")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made the folder: %v", err)
	}
	t.Chdir(dir)
	rel, err := Open(t.Context(), "./later", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "later"); rel.Address() != want {
		t.Errorf("address %s, want %s", rel.Address(), want)
	}
}

func TestPipeInTheFolderDoesNotHang(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has none in folders
	}
	f, dir := newFolder(t)
	if err := makePipe(filepath.Join(dir, "pipe")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Get(t.Context(), "pipe"); !errors.Is(err, ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if got := keysOf(t, f); got != "" {
		t.Errorf("lists %q", got)
	}
}

func FuzzFolderKey(f *testing.F) {
	for _, key := range []string{"a/b", "../x", "a/../../x", "/x", "a//b", "link/x", "ü", tempPrefix, "a/", "x\x00", strings.Repeat("a", 300)} {
		f.Add(key)
	}
	outer := f.TempDir()
	dir := filepath.Join(outer, "in", "ner")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink(outer, filepath.Join(dir, "link")); err != nil {
		f.Fatal(err)
	}
	s, err := FolderOptions{NoSync: true}.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if key == "link" { // a put takes a link's place, which TestFolderIsNotLeftThroughALink has
			return
		}
		if err := s.Put(t.Context(), key, []byte(key), PutOptions{}); err != nil {
			return
		}
		if body, _, err := s.Get(t.Context(), key); err != nil || string(body) != key {
			t.Errorf("%q: %q, %v", key, body, err)
		}
		if got := keysOf(t, s); got != key {
			t.Errorf("%q is listed as %q", key, got)
		}
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
		for at, want := range map[string]int{outer: 1, filepath.Dir(dir): 1, dir: 1} {
			if entries, err := os.ReadDir(at); err != nil || len(entries) != want {
				t.Fatalf("%q left %v in %s (%v)", key, entries, at, err)
			}
		}
	})
}
