// Package faultproxy stands between a program under test and an S3-compatible
// server, and does to requests what networks and stores do: it is late, loses
// answers, cuts connections, is overloaded, damages bytes.
//
// Which fault a request meets is decided by a seeded generator, in the order in
// which requests come, and each is counted by its kind. The package serves tests
// and refuses to change what a request says: a request that is passed on is
// passed on whole.
package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Kind is what is done to a request.
type Kind string

// The kinds. Those that are Lost were done by the server, and the client does not
// hear of it.
const (
	SlowDown    Kind = "503 with Retry-After, not passed on"
	ServerError Kind = "500, not passed on"
	LostByError Kind = "500 after it was done"
	LostByCut   Kind = "connection cut after it was done"
	CutBefore   Kind = "connection cut before it was passed on"
	HalfOpen    Kind = "no answer, the connection stays open"
	Truncated   Kind = "half of the body, then the connection is cut"
	Damaged     Kind = "a byte of the body is changed"
	Slow        Kind = "slow"
	ByPrefix    Kind = "503 by the rate of a prefix"
	passedOn    Kind = "passed on"
)

// Plan says how often what happens.
type Plan struct {
	Seed uint64
	// Chance of each kind, for each request; the rest is passed on.
	Chance map[Kind]float64
	// Latency is added to each request, with Jitter more at most.
	Latency, Jitter time.Duration
	// SlowFor is how long a slow request takes, and for how long a connection
	// stays half open.
	SlowFor time.Duration
	// Bandwidth of all bodies together, bytes per second; 0 for no limit.
	Bandwidth int64
	// PerPrefix is how many requests per second the keys below one folder may
	// have; 0 for no limit.
	PerPrefix int
	// Down tells whether the store is gone at a moment since the start; nil for
	// never.
	Down func(since time.Duration) bool
}

// Proxy is a running proxy.
type Proxy struct {
	Endpoint string // http://127.0.0.1:port

	to     string
	plan   Plan
	began  time.Time
	server *http.Server
	client *http.Client
	ended  sync.WaitGroup

	mu       sync.Mutex
	random   *rand.Rand
	counts   map[Kind]int64
	allowed  map[string]*bucket
	busyTill time.Time // of the bandwidth
}

// bucket is what a prefix has left of its second.
type bucket struct {
	second int64
	n      int
}

// Start serves in front of the server at to (http://host:port), on a free port
// of address, until ctx ends and Close has returned.
func Start(ctx context.Context, address, to string, p Plan) (*Proxy, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	x := &Proxy{
		Endpoint: "http://" + l.Addr().String(), to: strings.TrimPrefix(to, "http://"), plan: p, began: time.Now(),
		random: rand.New(rand.NewPCG(p.Seed, 1)), counts: map[Kind]int64{}, allowed: map[string]*bucket{},
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	x.server = &http.Server{Handler: http.HandlerFunc(x.serve), BaseContext: func(net.Listener) context.Context { return ctx }}
	x.ended.Go(func() { _ = x.server.Serve(l) }) // it ends with Close
	return x, nil
}

// Close ends it, and every connection.
func (x *Proxy) Close() {
	_ = x.server.Close()
	x.ended.Wait()
	x.client.CloseIdleConnections()
}

// Counts are the requests so far, by what was done to them.
func (x *Proxy) Counts() map[Kind]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := map[Kind]int64{}
	for k, n := range x.counts {
		out[k] = n
	}
	return out
}

// choose decides what is done to a request.
func (x *Proxy) choose(r *http.Request) (Kind, time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	late := x.plan.Latency
	if x.plan.Jitter > 0 {
		late += time.Duration(x.random.Int64N(int64(x.plan.Jitter)))
	}
	kind := x.kind(r)
	x.counts[kind]++
	return kind, late
}

func (x *Proxy) kind(r *http.Request) Kind {
	if x.plan.Down != nil && x.plan.Down(time.Since(x.began)) {
		return CutBefore
	}
	if x.plan.PerPrefix > 0 && !x.takes(folderOf(r.URL.Path)) {
		return ByPrefix
	}
	at := x.random.Float64()
	for _, k := range []Kind{SlowDown, ServerError, LostByError, LostByCut, CutBefore, HalfOpen, Truncated, Damaged, Slow} {
		if at -= x.plan.Chance[k]; at < 0 {
			return k
		}
	}
	return passedOn
}

func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// takes counts a request to a prefix in its second.
func (x *Proxy) takes(prefix string) bool {
	b := x.allowed[prefix]
	if b == nil {
		b = &bucket{}
		x.allowed[prefix] = b
	}
	if second := time.Now().Unix(); b.second != second {
		b.second, b.n = second, 0
	}
	b.n++
	return b.n <= x.plan.PerPrefix
}

func (x *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	kind, late := x.choose(r)
	if kind == Slow {
		late += x.plan.SlowFor
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if !wait(r.Context(), late+x.transfer(len(body))) {
		panic(http.ErrAbortHandler) // no answer, rather than an empty one
	}
	switch kind {
	case SlowDown, ByPrefix:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		return
	case ServerError:
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
	case CutBefore:
		cut(w)
		return
	case HalfOpen:
		wait(r.Context(), x.plan.SlowFor)
		cut(w)
		return
	}
	answer, content, err := x.pass(r, body)
	if err != nil {
		cut(w)
		return
	}
	switch kind {
	case LostByError:
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
	case LostByCut:
		cut(w)
		return
	case Damaged:
		content = bytes.Clone(content)
		if len(content) > 0 && answer.StatusCode < 300 {
			content[len(content)/2] ^= 0xff
		}
	}
	if !wait(r.Context(), x.transfer(len(content))) {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	if kind == Truncated && len(content) > 1 && r.Method != http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(content[:len(content)/2]) // the client may be gone
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // which cuts the connection
	}
	w.WriteHeader(answer.StatusCode)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// pass hands a request to the server as it is: its signature names the proxy's
// address as the host.
func (x *Proxy) pass(r *http.Request, body []byte) (*http.Response, []byte, error) {
	u := *r.URL
	u.Scheme, u.Host = "http", x.to
	to, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	to.URL.RawPath, to.URL.RawQuery = r.URL.RawPath, r.URL.RawQuery
	to.Header, to.Host, to.ContentLength = r.Header.Clone(), r.Host, int64(len(body))
	to.TransferEncoding = r.TransferEncoding
	answer, err := x.client.Do(to)
	if err != nil {
		return nil, nil, err
	}
	content, err := io.ReadAll(answer.Body)
	return answer, content, errors.Join(err, answer.Body.Close())
}

// transfer is how long so many bytes take, after those before them.
func (x *Proxy) transfer(n int) time.Duration {
	if x.plan.Bandwidth == 0 || n == 0 {
		return 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if x.busyTill.Before(now) {
		x.busyTill = now
	}
	x.busyTill = x.busyTill.Add(time.Duration(float64(n) / float64(x.plan.Bandwidth) * 1e9))
	return x.busyTill.Sub(now)
}

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>by the fault proxy</Message></Error>`, code)
}

// cut ends the connection in the middle of whatever it is in.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the answer has begun: the server cuts it itself
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an end
	}
	_ = conn.Close()
}
