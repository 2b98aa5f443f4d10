package objectstore_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
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
	testGetInto(t, s)
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

// testGetInto reads objects into memory of all sizes.
func testGetInto(t *testing.T, s objectstore.Store) {
	for _, s := range []objectstore.Store{s, objectstore.Unpooled(s)} {
		into, ok := s.(objectstore.IntoGetter)
		if !ok {
			t.Fatal("it cannot read into memory that is there")
		}
		for _, room := range []int{0, 3, 14, 100} {
			for key, want := range map[string]string{"a/b.json": "second, longer", "empty": ""} {
				buf := make([]byte, room)
				body, info, err := into.GetInto(t.Context(), key, buf[:0])
				if err != nil || string(body) != want || info.Size != int64(len(want)) {
					t.Fatalf("%q into %d bytes: %q %+v, %v", key, room, body, info, err)
				}
				if used := len(body) > 0 && room > 0 && &body[0] == &buf[0]; used != (len(want) > 0 && room >= len(want)) {
					t.Errorf("%q into %d bytes: the memory was used: %v", key, room, used)
				}
			}
		}
		if _, _, err := into.GetInto(t.Context(), "missing", nil); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("missing: %v", err)
		}
	}
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
