package objectstore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"queuebench/objectstore"
)

// testFolderKey: what a folder cannot hold is refused, and harms nothing.
func testFolderKey(t *testing.T, s objectstore.Store) {
	put(t, s, "a/b/c", "x")
	put(t, s, "f", "y")
	for _, key := range []string{"a", "a/b", "f/g", "f/g/h"} {
		for _, ifAbsent := range []bool{false, true} {
			err := s.Put(t.Context(), key, []byte("z"), objectstore.PutOptions{IfAbsent: ifAbsent})
			if _, ok := s.(*objectstore.Folder); ok && !errors.Is(err, objectstore.ErrFolderKey) {
				t.Errorf("put %q: %v", key, err)
			}
			if err == nil || errors.Is(err, objectstore.ErrExists) || errors.Is(err, objectstore.ErrNotFound) || !strings.Contains(err.Error(), "beginning of another") {
				t.Errorf("put %q (if absent: %v): %v", key, ifAbsent, err)
			}
		}
		_, _, err := s.Get(t.Context(), key)
		wantErr(t, err, objectstore.ErrNotFound)
	}
	wantList(t, s, objectstore.ListOptions{}, "a/b/c", "f")
	wantBody(t, s, "a/b/c", "x")
	wantBody(t, s, "f", "y")
}

func testOddKeys(t *testing.T, s objectstore.Store) {
	keys := []string{
		"with space/ and another", "plus+plus", "100%", "%2e%2e/x", "%41", "ünï/çødé", "日本語", "a=b&c=d", "q?x#y", "semi;colon,comma",
		"'quotes\"", "(round)[square]{curly}", "~tilde!", "$dollar@at", "back\\slash", "caret^", "tab\there", "...", "..a", "a..", ".hidden",
		"step=0/repeat=1/part-00000.parquet", "_delta_log/00000000000000000000.json", "emoji🙂", "<tag>&amp;", "trailing.", " ", "long/" + strings.Repeat("x", 200),
	}
	for i, key := range keys {
		put(t, s, key, fmt.Sprint(i))
	}
	for i, key := range keys {
		wantBody(t, s, key, fmt.Sprint(i))
		wantErr(t, s.Put(t.Context(), key, nil, objectstore.PutOptions{IfAbsent: true}), objectstore.ErrExists)
	}
	sorted := slices.Sorted(slices.Values(keys))
	wantList(t, s, objectstore.ListOptions{}, sorted...)
	wantList(t, s, objectstore.ListOptions{Prefix: "with space/"}, "with space/ and another")
	wantList(t, s, objectstore.ListOptions{Prefix: "100%"}, "100%")
	wantList(t, s, objectstore.ListOptions{After: "plus+plus"}, sorted[slices.Index(sorted, "plus+plus")+1:]...)
	for _, key := range keys {
		wantErr(t, s.Delete(t.Context(), key), nil)
	}
	wantList(t, s, objectstore.ListOptions{})
	for i, key := range keys {
		put(t, s.Sub("odd"), key, fmt.Sprint(i))
	}
	if n, err := objectstore.RemoveAll(t.Context(), s, "odd/"); err != nil || n != len(keys) {
		t.Errorf("removed %d of %d, %v", n, len(keys), err)
	}
	wantList(t, s, objectstore.ListOptions{})
}

func testRefusedKeys(t *testing.T, s objectstore.Store) {
	for _, key := range []string{"", "/abs", "a//b", "a/", "..", "../x", "a/../../x", "a/./b", ".", "nul\x00", "bad\xff", strings.Repeat("a/", 600) + "x"} {
		if err := s.Put(t.Context(), key, []byte("x"), objectstore.PutOptions{}); err == nil {
			t.Errorf("put takes %.40q", key)
		}
		if _, _, err := s.Get(t.Context(), key); err == nil {
			t.Errorf("get takes %.40q", key)
		}
	}
	if err := s.Sub("../up").Put(t.Context(), "x", nil, objectstore.PutOptions{}); err == nil {
		t.Error("a sub-store leaves its parent")
	}
	wantList(t, s, objectstore.ListOptions{})
}
