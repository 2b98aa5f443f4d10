// Package faultproxy stands between a program under test and its server, and does
// what networks and servers do: it is late, loses answers, cuts connections, is
// overloaded, damages bytes. A Proxy knows the requests of an S3-compatible store,
// a TCP knows nothing but bytes, and stands in front of any server.
//
// Which fault a request or a connection meets is decided by a seeded generator, in
// the order in which they come, and each is counted by its kind. The package
// serves tests and refuses to change what a request says: a request that is passed
// on is passed on whole, and of a connection bytes are lost only at its end.
package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Proxy is a running proxy.
type Proxy struct {
	Endpoint string // http://127.0.0.1:port

	to     string
	plan   Plan
	began  time.Time
	server *http.Server
	client *http.Client
	ended  sync.WaitGroup

	line line

	mu      sync.Mutex
	random  *rand.Rand
	counts  map[Kind]int64
	allowed map[string]*bucket
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
		Endpoint: "http://" + l.Addr().String(), to: strings.TrimPrefix(to, "http://"), plan: p, began: time.Now(), line: line{bandwidth: p.Bandwidth},
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
	return maps.Clone(x.counts)
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
	for _, k := range []Kind{SlowDown, ServerError, LostByError, LostByCut, CutBefore, HalfOpen, Truncated, Damaged, Misstated, Slow} {
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
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if x.plan.Denied != nil {
		if code := x.plan.Denied(time.Since(x.began), r); code != "" {
			x.mu.Lock()
			x.counts[Forbidden]++
			x.mu.Unlock()
			refuse(w, http.StatusForbidden, code)
			return
		}
	}
	kind, late := x.choose(r)
	if kind == Slow {
		late += x.plan.SlowFor
	}
	if !wait(r.Context(), late+x.line.transfer(len(body))) {
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
	case Misstated:
		misstate(answer.Header)
	}
	if !wait(r.Context(), x.line.transfer(len(content))) {
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
