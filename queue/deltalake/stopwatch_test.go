//go:build unix

package deltalake

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// stopwatch takes the times of requests, from the first byte sent to the last
// received.
type stopwatch struct {
	next http.RoundTripper
	mu   sync.Mutex
	took [requestKinds][]time.Duration
}

func (s *stopwatch) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	resp, err := s.next.RoundTrip(r)
	if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
		return resp, err
	}
	kind := -1
	switch version := strings.HasSuffix(r.URL.Path, ".json"); {
	case r.URL.Query().Has("list-type"):
	case r.Method == http.MethodPut && version:
		kind = commitPut
	case r.Method == http.MethodPut:
		kind = dataPut
	case r.Method == http.MethodGet && resp.StatusCode == http.StatusNotFound:
		kind = missGet
	case r.Method == http.MethodGet && version:
		kind = commitGet
	case r.Method == http.MethodGet:
		kind = dataGet
	}
	if kind >= 0 {
		resp.Body = &timedBody{ReadCloser: resp.Body, s: s, kind: kind, begun: begun}
	}
	return resp, nil
}

type timedBody struct {
	io.ReadCloser
	s     *stopwatch
	kind  int
	begun time.Time
	done  bool
}

func (b *timedBody) end() {
	if !b.done {
		b.done = true
		b.s.mu.Lock()
		b.s.took[b.kind] = append(b.s.took[b.kind], time.Since(b.begun))
		b.s.mu.Unlock()
	}
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

func (b *timedBody) Close() error { b.end(); return b.ReadCloser.Close() }
