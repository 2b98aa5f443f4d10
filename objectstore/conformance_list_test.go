package objectstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"queuebench/objectstore"
)

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
