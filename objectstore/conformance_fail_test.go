package objectstore_test

import (
	"context"
	"strings"
	"testing"

	"queuebench/objectstore"
)

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
