package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"queuebench/objectstore"
)

// backend is a kind of store under the suite.
type backend struct {
	name string
	// open gives a store that is empty.
	open func(t *testing.T) objectstore.Store
	// wrongKeys and noBucket open stores that cannot work; nil where there is
	// no such thing.
	wrongKeys, noBucket func(t *testing.T) objectstore.Store
	// theirs is a server that is not ours to repair: versitygw answers 409
	// when a neighbour's deletion takes the folder away under a PUT.
	theirs bool
}

func TestConformance(t *testing.T) {
	for _, b := range backends(t) {
		t.Run(b.name, func(t *testing.T) {
			for _, c := range []struct {
				name string
				run  func(*testing.T, objectstore.Store)
			}{
				{"put and get", testPutGet},
				{"missing", testMissing},
				{"range", testRange},
				{"list", testList},
				{"list against a model", testListModel},
				{"list many", testListMany},
				{"delete", testDelete},
				{"conditional race", testConditionalRace},
				{"odd keys", testOddKeys},
				{"refused keys", testRefusedKeys},
				{"put file", testPutFile},
				{"sub", testSub},
				{"remove all", testRemoveAll},
				{"counts", testCounts},
				{"cancelled", testCancelled},
				{"probe", testProbe},
				{"address", testAddress},
			} {
				t.Run(c.name, func(t *testing.T) { c.run(t, b.open(t)) })
			}
			if !b.theirs {
				t.Run("put and delete race", func(t *testing.T) { testPutDeleteRace(t, b.open(t)) })
				t.Run("key is a folder", func(t *testing.T) { testFolderKey(t, b.open(t)) })
			}
			if b.wrongKeys != nil {
				t.Run("denied", func(t *testing.T) { testDenied(t, b.wrongKeys(t)) })
			}
			if b.noBucket != nil {
				t.Run("no bucket", func(t *testing.T) { testNoBucket(t, b.noBucket(t)) })
			}
		})
	}
}

func put(t *testing.T, s objectstore.Store, key, body string) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(body), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

func wantBody(t *testing.T, s objectstore.Store, key, want string) {
	t.Helper()
	body, info, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != want || info.Size != int64(len(want)) || info.Key != key || info.Modified.IsZero() || info.ETag == "" {
		t.Fatalf("get %q: %.60q %+v, want %.60q", key, body, info, want)
	}
}

func wantErr(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error is %v, want %v", err, kind)
	}
	if err != nil && strings.ContainsRune(err.Error(), '\n') {
		t.Fatalf("error has several lines: %v", err)
	}
}

func list(t *testing.T, s objectstore.Store, opt objectstore.ListOptions) []string {
	t.Helper()
	keys := []string{}
	err := s.List(t.Context(), opt, func(i objectstore.Info) error {
		keys = append(keys, i.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func wantList(t *testing.T, s objectstore.Store, opt objectstore.ListOptions, want ...string) {
	t.Helper()
	if got := list(t, s, opt); !slices.Equal(got, append([]string{}, want...)) {
		t.Errorf("list %+v: %q, want %q", opt, got, want)
	}
}

func testPutGet(t *testing.T, s objectstore.Store) {
	put(t, s, "a/b.json", "first")
	wantBody(t, s, "a/b.json", "first")
	put(t, s, "a/b.json", "second, longer")
	wantBody(t, s, "a/b.json", "second, longer")
	put(t, s, "empty", "")
	wantBody(t, s, "empty", "")
	big := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{1}).Read(big)
	put(t, s, "big", string(big))
	wantBody(t, s, "big", string(big))
	info, err := s.Head(t.Context(), "big")
	if err != nil || info.Size != 8<<20 || info.Key != "big" {
		t.Errorf("head: %+v, %v", info, err)
	}
	opt := objectstore.PutOptions{ContentType: "text/html; charset=utf-8", ContentEncoding: "gzip", CacheControl: "max-age=60"}
	if err := s.Put(t.Context(), "page", []byte("\x1f\x8bnot gzip"), opt); err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, "page", "\x1f\x8bnot gzip") // never decoded on the way
	if s.Durability() == "" {
		t.Error("says nothing about durability")
	}
}

func testMissing(t *testing.T, s objectstore.Store) {
	ctx := t.Context()
	for _, key := range []string{"missing", "a/missing", "file/below"} {
		put(t, s, "file", "x")
		_, _, err := s.Get(ctx, key)
		wantErr(t, err, objectstore.ErrNotFound)
		_, _, err = s.GetRange(ctx, key, 0, 1)
		wantErr(t, err, objectstore.ErrNotFound)
		_, err = s.Head(ctx, key)
		wantErr(t, err, objectstore.ErrNotFound)
		wantErr(t, s.Delete(ctx, key), nil)
	}
	wantList(t, s, objectstore.ListOptions{Prefix: "missing/"})
	wantList(t, s, objectstore.ListOptions{Prefix: "file/"})
}

func testRange(t *testing.T, s objectstore.Store) {
	put(t, s, "r", "0123456789")
	check := func(offset, length int64, want string) {
		t.Helper()
		body, info, err := s.GetRange(t.Context(), "r", offset, length)
		if err != nil || string(body) != want {
			t.Errorf("range %d+%d: %q, %v; want %q", offset, length, body, err, want)
		}
		if want != "" && (info.Size != 10 || info.Key != "r") {
			t.Errorf("range %d+%d tells the object as %+v", offset, length, info)
		}
	}
	check(0, 10, "0123456789")
	check(3, 4, "3456")
	check(8, 100, "89")
	check(9, 1, "9")
	check(10, 5, "")
	check(50, 5, "")
	check(4, 0, "")
	for _, bad := range [][2]int64{{-1, 1}, {0, -1}} {
		if _, _, err := s.GetRange(t.Context(), "r", bad[0], bad[1]); err == nil {
			t.Errorf("range %v is taken", bad)
		}
	}
}

func testList(t *testing.T, s objectstore.Store) {
	for _, key := range []string{"log/2.json", "log/10.json", "log/1.json", "log/sub/x", "log-1/x", "log0", "other"} {
		put(t, s, key, key)
	}
	type opt = objectstore.ListOptions
	// "-" < "/" < "0": the order of whole keys, not of path elements.
	wantList(t, s, opt{}, "log-1/x", "log/1.json", "log/10.json", "log/2.json", "log/sub/x", "log0", "other")
	wantList(t, s, opt{Prefix: "log/"}, "log/1.json", "log/10.json", "log/2.json", "log/sub/x")
	wantList(t, s, opt{Prefix: "log/1"}, "log/1.json", "log/10.json")
	wantList(t, s, opt{Prefix: "log/", Delimiter: "/"}, "log/1.json", "log/10.json", "log/2.json", "log/sub/")
	wantList(t, s, opt{Delimiter: "/"}, "log-1/", "log/", "log0", "other")
	wantList(t, s, opt{Prefix: "lo", Delimiter: "/"}, "log-1/", "log/", "log0")
	wantList(t, s, opt{Prefix: "log/", After: "log/10.json"}, "log/2.json", "log/sub/x")
	wantList(t, s, opt{Prefix: "log/", After: "log/15.json"}, "log/2.json", "log/sub/x")
	wantList(t, s, opt{After: "log/zzz"}, "log0", "other")
	wantList(t, s, opt{Limit: 2}, "log-1/x", "log/1.json")
	wantList(t, s, opt{Limit: 2, Delimiter: "/"}, "log-1/", "log/")
	wantList(t, s, opt{Prefix: "log/", Limit: 1, After: "log/1.json"}, "log/10.json")
	wantList(t, s, opt{Prefix: "nothing"})

	stop := errors.New("stop")
	n := 0
	err := s.List(t.Context(), opt{}, func(i objectstore.Info) error {
		if i.Size != int64(len(i.Key)) || i.Modified.IsZero() {
			t.Errorf("lists %+v", i)
		}
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("yield's error: %v after %d", err, n)
	}
	if err := s.List(t.Context(), opt{Delimiter: ","}, func(objectstore.Info) error { return nil }); err == nil {
		t.Error("takes a delimiter that is no slash")
	}
}

// testListModel compares listings with what a sorted set of keys says.
func testListModel(t *testing.T, s objectstore.Store) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "a-", "a0", "b.x", "c"}
	var keys []string
	for range 25 {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		key := strings.Join(parts, "/") + ".o" // never another one's folder
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
			put(t, s, key, "x")
		}
	}
	slices.Sort(keys)
	for range 60 {
		opt := objectstore.ListOptions{Limit: r.IntN(4)}
		if from := keys[r.IntN(len(keys))]; r.IntN(3) > 0 {
			opt.Prefix = from[:r.IntN(len(from))]
		}
		if r.IntN(2) == 0 {
			opt.Delimiter = "/"
		} else if r.IntN(2) == 0 { // stores differ on After inside a group
			opt.After = keys[r.IntN(len(keys))]
		}
		var want []string
		for _, key := range keys {
			if !strings.HasPrefix(key, opt.Prefix) || key <= opt.After {
				continue
			}
			if i := strings.IndexByte(key[len(opt.Prefix):], '/'); i >= 0 && opt.Delimiter != "" {
				key = key[:len(opt.Prefix)+i+1]
			}
			if !slices.Contains(want, key) {
				want = append(want, key)
			}
		}
		if opt.Limit > 0 {
			want = want[:min(len(want), opt.Limit)]
		}
		wantList(t, s, opt, want...)
	}
}

func testListMany(t *testing.T, s objectstore.Store) {
	const n = 1003 // more than a page
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("m/%05d", i))
	}
	each(t, 16, n, func(i int) error {
		return s.Put(t.Context(), want[i], nil, objectstore.PutOptions{})
	})
	put(t, s, "m/00100x/y", "")
	put(t, s, "m/00900x/y", "")
	wantList(t, s, objectstore.ListOptions{Prefix: "m/0", Limit: 850, After: "m/00100x/z"}, append(slices.Clone(want[101:901]), append([]string{"m/00900x/y"}, want[901:950]...)...)...)
	wantList(t, s, objectstore.ListOptions{Prefix: "m/0", Limit: 1002}, slices.Insert(slices.Insert(slices.Clone(want), 901, "m/00900x/y"), 101, "m/00100x/y")[:1002]...)
	withGroups := slices.Insert(slices.Clone(want), 901, "m/00900x/")
	withGroups = slices.Insert(withGroups, 101, "m/00100x/")
	wantList(t, s, objectstore.ListOptions{Prefix: "m/", Delimiter: "/"}, withGroups...)
	wantList(t, s, objectstore.ListOptions{Prefix: "m/", Delimiter: "/", Limit: 1002}, withGroups[:1002]...)
	if removed, err := objectstore.RemoveAll(t.Context(), s, "m/"); err != nil || removed != n+2 {
		t.Errorf("removed %d, %v", removed, err)
	}
	wantList(t, s, objectstore.ListOptions{})
}

// each runs f(0) to f(n-1) on some goroutines.
func each(t *testing.T, workers, n int, f func(int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				if err := f(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func testDelete(t *testing.T, s objectstore.Store) {
	put(t, s, "d/e/f", "x")
	put(t, s, "d/g", "x")
	wantErr(t, s.Delete(t.Context(), "d/e/f"), nil)
	wantErr(t, s.Delete(t.Context(), "d/e/f"), nil)
	wantList(t, s, objectstore.ListOptions{Delimiter: "/", Prefix: "d/"}, "d/g")
	wantErr(t, s.Delete(t.Context(), "d"), nil) // no object
	wantBody(t, s, "d/g", "x")
	put(t, s, "d/e", "a file now")
	wantBody(t, s, "d/e", "a file now")
}

func testConditionalRace(t *testing.T, s objectstore.Store) {
	for round := range 20 {
		key := fmt.Sprintf("race/%02d", round)
		won := make([]bool, 8)
		each(t, 8, 8, func(i int) error {
			for {
				body := bytes.Repeat([]byte{byte('a' + i)}, 1000+i)
				err := s.Put(t.Context(), key, body, objectstore.PutOptions{IfAbsent: true})
				won[i] = err == nil
				if errors.Is(err, objectstore.ErrConflict) {
					continue // the same key may be tried again
				}
				if errors.Is(err, objectstore.ErrExists) {
					return nil
				}
				return err
			}
		})
		winner := slices.Index(won, true)
		if winner < 0 || slices.Contains(won[winner+1:], true) {
			t.Fatalf("round %d: winners %v", round, won)
		}
		wantBody(t, s, key, strings.Repeat(string(rune('a'+winner)), 1000+winner))
	}
}

// testPutDeleteRace: what is stored survives the deletion of its neighbours,
// which may take the folder away while it is being used.
func testPutDeleteRace(t *testing.T, s objectstore.Store) {
	const workers = 6
	each(t, workers, workers, func(i int) error {
		for n := range 30 {
			key := fmt.Sprintf("r/%d/%d", n%2, i)
			if err := s.Put(t.Context(), key, []byte(key), objectstore.PutOptions{IfAbsent: n%3 == 0}); err != nil {
				return err
			}
			if body, _, err := s.Get(t.Context(), key); err != nil || string(body) != key {
				return fmt.Errorf("%q: %q, %w", key, body, err)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				return err
			}
		}
		return nil
	})
	wantList(t, s, objectstore.ListOptions{})
}

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

func testPutFile(t *testing.T, s objectstore.Store) {
	body := make([]byte, 20<<20+17) // beyond minio-go's limit for a single PUT by default
	rand.NewChaCha8([32]byte{2}).Read(body)
	before := s.Requests()
	if err := s.PutFile(t.Context(), "f", bytes.NewReader(body), int64(len(body)), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := s.Requests().Minus(before); n.Put != 1 || n.Total() != 1 {
		t.Errorf("took %+v", n)
	}
	wantBody(t, s, "f", string(body))
	if err := s.PutFile(t.Context(), "short", bytes.NewReader(body[:10]), 11, objectstore.PutOptions{}); err == nil {
		t.Error("takes a file that is shorter than its size")
	}
	if err := s.PutFile(t.Context(), "f", bytes.NewReader(body), 1, objectstore.PutOptions{IfAbsent: true}); err == nil {
		t.Error("takes a condition that it does not keep")
	}
	wantList(t, s, objectstore.ListOptions{}, "f")
}

func testSub(t *testing.T, s objectstore.Store) {
	sub := s.Sub("run/1000")
	put(t, sub, "a", "1")
	put(t, s, "run/10000/a", "2")
	put(t, sub.Sub("/deep/"), "b", "3")
	wantBody(t, s, "run/1000/a", "1")
	wantBody(t, s, "run/1000/deep/b", "3")
	wantList(t, sub, objectstore.ListOptions{}, "a", "deep/b")
	wantList(t, sub, objectstore.ListOptions{After: "a", Delimiter: "/"}, "deep/")
	wantBody(t, sub.Sub(""), "a", "1")
	if want := strings.Split(s.Address(), "?")[0] + "/run/1000"; strings.Split(sub.Address(), "?")[0] != want {
		t.Errorf("address is %s, want %s…", sub.Address(), want)
	}
	if s.Requests() != sub.Requests() {
		t.Error("a sub-store counts apart")
	}
}

func testRemoveAll(t *testing.T, s objectstore.Store) {
	for i := range 40 {
		put(t, s, fmt.Sprintf("rates/1000/%d/x", i), "x")
	}
	put(t, s, "rates/10000/x", "x")
	put(t, s, "rates/1000x", "x")
	for _, bad := range []string{"", "/", "//", "rates/1000"} {
		if n, err := objectstore.RemoveAll(t.Context(), s, bad); err == nil || n != 0 {
			t.Errorf("RemoveAll(%q) = %d, %v", bad, n, err)
		}
	}
	if n, err := objectstore.RemoveAll(t.Context(), s, "rates/1000/"); err != nil || n != 40 {
		t.Errorf("removed %d, %v", n, err)
	}
	wantList(t, s, objectstore.ListOptions{}, "rates/10000/x", "rates/1000x")
	if n, err := objectstore.RemoveAll(t.Context(), s, "rates/1000/"); err != nil || n != 0 {
		t.Errorf("removed %d of nothing, %v", n, err)
	}
}

func testCounts(t *testing.T, s objectstore.Store) {
	ctx := t.Context()
	before := s.Requests()
	put(t, s, "c", "x")
	wantErr(t, s.Put(ctx, "d", nil, objectstore.PutOptions{IfAbsent: true}), nil)
	wantErr(t, s.Put(ctx, "d", nil, objectstore.PutOptions{IfAbsent: true}), objectstore.ErrExists)
	wantBody(t, s, "c", "x")
	_, _, err := s.GetRange(ctx, "c", 0, 1)
	wantErr(t, err, nil)
	for range 3 {
		_, _, err = s.Get(ctx, "e")
		wantErr(t, err, objectstore.ErrNotFound)
	}
	wantList(t, s, objectstore.ListOptions{}, "c", "d")
	_, err = s.Head(ctx, "c")
	wantErr(t, err, nil)
	wantErr(t, s.Delete(ctx, "c"), nil)
	got := s.Requests().Minus(before)
	got.Open = 0
	want := objectstore.Counts{Put: 1, PutIfAbsent: 2, Get: 2, Miss: 3, List: 1, Head: 1, Delete: 1}
	if got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func testCancelled(t *testing.T, s objectstore.Store) {
	put(t, s, "a", "x")
	put(t, s, "b", "x")
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.List(ctx, objectstore.ListOptions{Limit: 0}, func(objectstore.Info) error { n++; cancel(); return ctx.Err() })
	wantErr(t, err, context.Canceled)
	if n != 1 {
		t.Errorf("a listing went on to %d", n)
	}
	_, _, err = s.Get(ctx, "a")
	wantErr(t, err, context.Canceled)
	_, err = s.Head(ctx, "a")
	wantErr(t, err, context.Canceled)
	wantErr(t, s.Put(ctx, "c", nil, objectstore.PutOptions{}), context.Canceled)
	wantErr(t, s.PutFile(ctx, "c", strings.NewReader("x"), 1, objectstore.PutOptions{}), context.Canceled)
	wantErr(t, s.Delete(ctx, "a"), context.Canceled)
	wantErr(t, s.List(ctx, objectstore.ListOptions{}, func(objectstore.Info) error { return nil }), context.Canceled)
	_, err = objectstore.RemoveAll(ctx, s, "a/")
	wantErr(t, err, context.Canceled)
	wantList(t, s, objectstore.ListOptions{}, "a", "b")
}

func testProbe(t *testing.T, s objectstore.Store) {
	wantErr(t, objectstore.Probe(t.Context(), s, "queue/probe"), nil)
	wantList(t, s, objectstore.ListOptions{})
}

func testAddress(t *testing.T, s objectstore.Store) {
	a, err := objectstore.ParseAddress(s.Address())
	if err != nil || a.String() != s.Address() {
		t.Errorf("address %q is read as %+v, %v", s.Address(), a, err)
	}
}

func testDenied(t *testing.T, s objectstore.Store) {
	ctx := t.Context()
	_, _, err := s.Get(ctx, "x")
	wantErr(t, err, objectstore.ErrDenied)
	wantErr(t, s.Put(ctx, "x", nil, objectstore.PutOptions{}), objectstore.ErrDenied)
	wantErr(t, s.Delete(ctx, "x"), objectstore.ErrDenied)
	wantErr(t, objectstore.CheckBucket(ctx, s), objectstore.ErrDenied)
	err = objectstore.Probe(ctx, s, "probe")
	wantErr(t, err, objectstore.ErrDenied)
	if !strings.Contains(err.Error(), "credentials") {
		t.Errorf("does not say what to check: %v", err)
	}
}

func testNoBucket(t *testing.T, s objectstore.Store) {
	ctx := t.Context()
	_, _, err := s.Get(ctx, "x")
	wantErr(t, err, objectstore.ErrNoBucket)
	wantErr(t, s.Put(ctx, "x", nil, objectstore.PutOptions{IfAbsent: true}), objectstore.ErrNoBucket)
	err = objectstore.CheckBucket(ctx, s)
	wantErr(t, err, objectstore.ErrNoBucket)
	if !strings.Contains(err.Error(), "create the bucket") {
		t.Errorf("does not say what to do: %v", err)
	}
}
