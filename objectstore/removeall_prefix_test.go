package objectstore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// bag is a store of names alone. A lying one lists everything, whatever is asked.
type bag struct {
	Store
	lies bool

	mu   sync.Mutex
	keys map[string]bool
}

func newBag(keys ...string) *bag {
	b := &bag{keys: map[string]bool{}}
	for _, k := range keys {
		b.keys[k] = true
	}
	return b
}

func (b *bag) Address() string { return "a bag" }

func (b *bag) List(_ context.Context, opt ListOptions, yield func(Info) error) error {
	b.mu.Lock()
	keys := slices.Collect(maps.Keys(b.keys))
	b.mu.Unlock()
	for _, k := range keys {
		if b.lies || strings.HasPrefix(k, opt.Prefix) {
			if err := yield(Info{Key: k}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bag) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.keys, key)
	return nil
}

// checkRemoval holds one removal against what it may do: nothing where it is
// refused, and else exactly what lies below the prefix.
func checkRemoval(t *testing.T, keys []string, prefix string, lies bool) {
	t.Helper()
	b := newBag(keys...)
	b.lies = lies
	before := maps.Clone(b.keys)
	n, err := RemoveAll(t.Context(), b, prefix)
	mayRemove := strings.Trim(prefix, "/") != "" && strings.HasSuffix(prefix, "/") && checkKey(strings.TrimSuffix(prefix, "/")) == nil
	if err == nil && !mayRemove {
		t.Errorf("the prefix %q was not refused", prefix)
	}
	gone := 0
	for k := range before {
		below := strings.HasPrefix(k, prefix) && mayRemove && err == nil
		if b.keys[k] == below {
			t.Errorf("prefix %q, lies %v: key %q is there: %v", prefix, lies, k, b.keys[k])
		}
		if !b.keys[k] {
			gone++
		}
	}
	if n != gone {
		t.Errorf("prefix %q: %d are gone, it says %d", prefix, gone, n)
	}
}

// Trap 11: a clean-up takes what lies below its own prefix and nothing else,
// whatever the prefix, the names beside it, and what the store lists.
func TestTrap11RemoveAllStaysBelowItsPrefix(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	parts := []string{"run", "run-1", "run-10", "1", "10", "100", "tables", "a", "", ".", "..", "é", " ", "%2f", "*", "\\"}
	path := func(n int) string {
		var out []string
		for range n {
			out = append(out, parts[r.IntN(len(parts))])
		}
		return strings.Join(out, "/")
	}
	for range 20_000 {
		var keys []string
		for range r.IntN(8) {
			keys = append(keys, path(1+r.IntN(4)))
		}
		prefix := path(r.IntN(4))
		if r.IntN(4) > 0 {
			prefix += "/"
		}
		checkRemoval(t, keys, prefix, r.IntN(4) == 0)
	}
	for _, prefix := range []string{"", "/", "//", ".", "./", "../", "../x/", "a/../", "a/./", "/a/", "a//", "a//b/", "a", "run/1000", "\x00/", "a/\xff/"} {
		b := newBag("a", "a/b", "x", "run/1000", "run/10000/y", "../x/y")
		if _, err := RemoveAll(t.Context(), b, prefix); err == nil || len(b.keys) != 6 {
			t.Errorf("%q: %v, %d keys are left", prefix, err, len(b.keys))
		}
	}
}

// In a folder, what lies beside it and what its links lead to stays.
func TestRemoveAllNeverLeavesItsFolder(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"store/run/1/a", "store/run/10/a", "store/run/1x", "beside/run/1/a", "store/run/1/deep/b"} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "beside"), filepath.Join(base, "store/run/1/link")); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(filepath.Join(base, "store"))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"../beside/", "run/../../beside/", "run/1", "", filepath.Join(base, "beside") + "/"} {
		if _, err := RemoveAll(t.Context(), f, prefix); err == nil {
			t.Errorf("%q is not refused", prefix)
		}
	}
	_, err = RemoveAll(t.Context(), f, "run/1/")
	for name, stays := range map[string]bool{"store/run/1/a": false, "store/run/1/deep/b": false, "store/run/10/a": true, "store/run/1x": true, "beside/run/1/a": true} {
		if _, serr := os.Stat(filepath.Join(base, name)); (serr == nil) != stays {
			t.Errorf("%s is there: %v; the removal said %v", name, serr == nil, err)
		}
	}
}

func FuzzRemoveAll(f *testing.F) {
	f.Add("run/1/", "run/1/a", "run/10/a", "run/1", false)
	f.Add("", "a", "b", "c", false)
	f.Add("../", "../a", "a", "b", true)
	f.Add("a//", "a//b", "a/b", "a", false)
	f.Add("tables/x/", "tables/x/y", "tables/xy", "other", true)
	f.Fuzz(func(t *testing.T, prefix, one, two, three string, lies bool) {
		checkRemoval(t, []string{one, two, three, fmt.Sprintf("%sx", prefix)}, prefix, lies)
	})
}
