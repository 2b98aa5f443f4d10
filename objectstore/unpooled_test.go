package objectstore_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"queuebench/objectstore"
)

func TestUnpooledOpensAConnectionForEachRequest(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
		if r.Method == http.MethodGet {
			w.Write([]byte("body"))
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	store, err := objectstore.Open(t.Context(), "s3://bucket/p?region=us-east-1&endpoint="+server.URL, objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", "")})
	if err != nil {
		t.Fatal(err)
	}
	defer objectstore.Close(store)
	const each = 10
	connections := func(s objectstore.Store) int64 {
		before := opened.Load()
		for range each {
			if err := s.Put(t.Context(), "k", []byte("body"), objectstore.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			if body, _, err := s.Get(t.Context(), "k"); err != nil || string(body) != "body" {
				t.Fatalf("%q, %v", body, err)
			}
		}
		return opened.Load() - before
	}
	if n := connections(store); n > 2 {
		t.Errorf("the pool opened %d connections for %d requests", n, 2*each)
	}
	// The first request may find a connection of the pool, and closes it.
	if n := connections(objectstore.Unpooled(store)); n < 2*each-2 {
		t.Errorf("without the pool %d connections for %d requests", n, 2*each)
	}
	if n := connections(objectstore.Unpooled(store).Sub("further")); n != 2*each {
		t.Errorf("below a prefix %d connections for %d requests", n, 2*each)
	}
	if c := objectstore.Unpooled(store).Requests(); c.Put != 3*each || c.Get != 3*each {
		t.Errorf("counts %+v", c)
	}
}
