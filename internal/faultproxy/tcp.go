package faultproxy

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// The kinds of a connection.
const (
	Cut     Kind = "connection cut in the middle of what it carried"
	Silent  Kind = "connection open, and nothing comes through"
	Refused Kind = "connection refused"
	Carried Kind = "connection"
)

// TCPPlan says what happens to connections.
type TCPPlan struct {
	Seed uint64
	// Latency is added to all bytes, each way, with Jitter more at most; their
	// order stays.
	Latency, Jitter time.Duration
	// Bandwidth of all connections together, both ways, bytes per second; 0 for no
	// limit.
	Bandwidth int64
	// CutAfter is the mean life of a connection, after which it is cut: lives are
	// distributed exponentially. 0 for never.
	CutAfter time.Duration
	// SilentAfter is the mean time after which a connection falls silent: what is
	// sent into it goes nowhere, and it is cut only after SilentFor. 0 for never.
	SilentAfter, SilentFor time.Duration
	// Down tells whether the server is gone at a moment since the start: what is
	// open is cut, what comes is refused. Nil for never.
	Down func(since time.Duration) bool
}

// TCP is a running proxy of connections.
type TCP struct {
	Address string // host:port

	plan     TCPPlan
	began    time.Time
	listener net.Listener
	line     line
	cancel   context.CancelFunc
	ended    sync.WaitGroup

	mu     sync.Mutex
	to     string
	n      uint64 // connections so far
	links  map[*link]bool
	counts map[Kind]int64
}

// StartTCP listens on a free port of address until ctx ends and Close has
// returned. It refuses connections until To has named the server, which may want to
// know this address before it starts.
func StartTCP(ctx context.Context, address string, p TCPPlan) (*TCP, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	x := &TCP{
		Address: l.Addr().String(), plan: p, began: time.Now(), listener: l, line: line{bandwidth: p.Bandwidth}, cancel: cancel,
		links: map[*link]bool{}, counts: map[Kind]int64{},
	}
	x.ended.Go(func() { x.accept(ctx) })
	if p.Down != nil {
		x.ended.Go(func() { x.watch(ctx) })
	}
	return x, nil
}

// To names the server, host:port. Connections that are open stay.
func (x *TCP) To(address string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.to = address
}

// Close ends it, and every connection.
func (x *TCP) Close() {
	x.cancel()
	_ = x.listener.Close()
	x.cutAll(false)
	x.ended.Wait()
}

// Counts are the connections so far, by what became of them.
func (x *TCP) Counts() map[Kind]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return maps.Clone(x.counts)
}

func (x *TCP) count(k Kind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts[k]++
}

func (x *TCP) isDown() bool { return x.plan.Down != nil && x.plan.Down(time.Since(x.began)) }

func (x *TCP) accept(ctx context.Context) {
	for {
		conn, err := x.listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // this connection is gone, others may come
		}
		client := conn.(*net.TCPConn)
		x.mu.Lock()
		to := x.to
		number := x.n
		x.n++
		x.mu.Unlock()
		if to == "" || x.isDown() {
			x.count(Refused)
			reset(client)
			continue
		}
		x.ended.Go(func() { x.serve(ctx, client, to, number) })
	}
}

// serve carries one connection to its end.
func (x *TCP) serve(ctx context.Context, client *net.TCPConn, to string, number uint64) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", to)
	if err != nil {
		x.count(Refused)
		reset(client)
		return
	}
	l := newLink(x, client, conn.(*net.TCPConn), rand.New(rand.NewPCG(x.plan.Seed, number)))
	x.mu.Lock()
	x.links[l] = true
	x.counts[Carried]++
	x.mu.Unlock()
	if ctx.Err() != nil { // Close has been here already
		l.end()
	}
	l.run(ctx)
	x.mu.Lock()
	delete(x.links, l)
	x.mu.Unlock()
}

// watch cuts what is open when the server goes.
func (x *TCP) watch(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if x.isDown() {
			x.cutAll(true)
		}
	}
}

func (x *TCP) cutAll(counted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for l := range x.links {
		if l.end() && counted {
			x.counts[Cut]++
		}
	}
}

// reset ends a connection so that the other side sees an error, and no end.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
