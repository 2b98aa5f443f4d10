package faultproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Each kind does to a request what it says, and tells the server of it or not.
func TestKinds(t *testing.T) {
	for kind, want := range map[Kind]struct {
		status int // 0 where there is no answer
		done   bool
		whole  bool
	}{
		SlowDown:    {503, false, false},
		ServerError: {500, false, false},
		LostByError: {500, true, false},
		LostByCut:   {0, true, false},
		CutBefore:   {0, false, false},
		HalfOpen:    {0, false, false},
		Truncated:   {200, true, false},
		Damaged:     {200, true, false},
		Misstated:   {200, true, true},
		Slow:        {200, true, true},
		passedOn:    {200, true, true},
	} {
		t.Run(string(kind), func(t *testing.T) {
			const content = "what the server has to say"
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				body, _ := io.ReadAll(r.Body)
				if string(body) != "a body" || r.URL.EscapedPath() != "/b/a%2Fb" || r.URL.RawQuery != "x=%20" || r.Header.Get("If-None-Match") != "*" || !strings.Contains(r.Host, "127.0.0.1") {
					t.Errorf("%s %s %q %q", r.Method, r.URL, body, r.Header)
				}
				w.Header().Set("ETag", `"1"`)
				w.Header().Set("X-Amz-Checksum-Crc32c", "AAAAAA==")
				io.WriteString(w, content)
			}))
			defer server.Close()
			p, err := Start(t.Context(), "127.0.0.1", server.URL, Plan{Chance: map[Kind]float64{kind: 1}, SlowFor: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.Endpoint+"/b/a%2Fb?x=%20", strings.NewReader("a body"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("If-None-Match", "*")
			began := time.Now()
			answer, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
			status, text := 0, ""
			if err == nil {
				body, rerr := io.ReadAll(answer.Body)
				answer.Body.Close()
				status, text, err = answer.StatusCode, string(body), rerr
			}
			if status != want.status || (asked.Load() == 1) != want.done || (text == content && err == nil) != want.whole {
				t.Errorf("status %d, asked %d times, %q, %v", status, asked.Load(), text, err)
			}
			if status == 200 && (answer.Header.Get("X-Amz-Checksum-Crc32c") == "AAAAAA==") == (kind == Misstated) {
				t.Errorf("the checksum is %s", answer.Header.Get("X-Amz-Checksum-Crc32c"))
			}
			if status == 503 && answer.Header.Get("Retry-After") == "" {
				t.Error("without Retry-After")
			}
			if (kind == Slow || kind == HalfOpen) && time.Since(began) < 20*time.Millisecond {
				t.Error("it was not slow")
			}
			if p.Counts()[kind] != 1 {
				t.Errorf("%v", p.Counts())
			}
		})
	}
}

func TestPrefixesAndOutages(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	down := atomic.Bool{}
	p, err := Start(t.Context(), "127.0.0.1", server.URL, Plan{PerPrefix: 3, Down: func(time.Duration) bool { return down.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	get := func(key string) int {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Endpoint+key, nil)
		answer, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	seen := map[int]int{}
	for range 20 {
		seen[get("/b/hot/x")]++
	}
	// At most two seconds are touched.
	if seen[503] < 20-2*3 || seen[404] < 3 {
		t.Errorf("%v", seen)
	}
	if got := get("/b/cold/x"); got != 404 {
		t.Errorf("another prefix: %d", got)
	}
	down.Store(true)
	if got := get("/b/cold/y"); got != 0 {
		t.Errorf("while it is gone: %d", got)
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, "127.0.0.1", "http://127.0.0.1:1", Plan{Latency: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := http.Get(p.Endpoint)
		failed <- err
	}()
	for p.Counts()[passedOn] == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	p.Close()
	if err := <-failed; err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDenied(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	p, err := Start(t.Context(), "127.0.0.1", server.URL, Plan{Denied: func(_ time.Duration, r *http.Request) string {
		if r.Header.Get("Authorization") == "old" {
			return "ExpiredToken"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for keys, want := range map[string]int{"old": 403, "new": 404} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Endpoint+"/b/k", nil)
		r.Header.Set("Authorization", keys)
		answer, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || strings.Contains(string(body), "ExpiredToken") != (want == 403) {
			t.Errorf("%s keys: %d %s", keys, answer.StatusCode, body)
		}
	}
	if c := p.Counts(); c[Forbidden] != 1 || c[passedOn] != 1 {
		t.Errorf("%v", c)
	}
}
