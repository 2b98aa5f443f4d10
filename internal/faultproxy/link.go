package faultproxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is a client's connection and the one to the server behind it.
type link struct {
	x              *TCP
	client, server *net.TCPConn
	// silentIn and cutIn are when it falls silent and is cut, 0 for never.
	silentIn, cutIn time.Duration

	silent, cutting atomic.Bool
	over            chan struct{} // closed by end
	ending          sync.Once

	mu     sync.Mutex
	random *rand.Rand // of jitter
}

const (
	// chunkBytes is what is read at once, and chunksKept how many chunks are on
	// their way at most: what latency and bandwidth keep back.
	chunkBytes = 32 << 10
	chunksKept = 256
	// idleCut is how long a connection that is to be cut may carry nothing, before
	// it is cut all the same.
	idleCut = 50 * time.Millisecond
)

func newLink(x *TCP, client, server *net.TCPConn, random *rand.Rand) *link {
	l := &link{x: x, client: client, server: server, random: random, over: make(chan struct{})}
	life := func(mean time.Duration) time.Duration {
		if mean == 0 {
			return 0
		}
		return max(1, time.Duration(random.ExpFloat64()*float64(mean)))
	}
	l.cutIn, l.silentIn = life(x.plan.CutAfter), life(x.plan.SilentAfter)
	return l
}

// end cuts both connections, and says whether they were open until now.
func (l *link) end() (first bool) {
	l.ending.Do(func() {
		first = true
		close(l.over)
		reset(l.client)
		reset(l.server)
	})
	return first
}

// run carries bytes both ways until both sides have ended, or it is cut.
func (l *link) run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { l.carry(l.server, l.client) })
	both.Go(func() { l.carry(l.client, l.server) })
	done := make(chan struct{})
	go func() {
		both.Wait()
		close(done)
	}()
	if l.live(ctx, done) {
		// What was written last may still be on its way: no reset.
		l.ending.Do(func() { close(l.over) })
		_ = l.client.Close()
		_ = l.server.Close()
		return
	}
	l.end()
	<-done
}

// live is the fate of the connection; it returns when that is fulfilled, with true
// where both sides had ended it.
func (l *link) live(ctx context.Context, done <-chan struct{}) bool {
	after := func(d time.Duration) <-chan time.Time {
		if d == 0 {
			return nil
		}
		return time.After(d)
	}
	silent, cut := after(l.silentIn), after(l.cutIn)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-done:
			return true
		case <-l.over:
			return false
		case <-silent:
			l.silent.Store(true)
			l.x.count(Silent)
			silent, cut = nil, after(max(1, l.x.plan.SilentFor))
		case <-cut:
			if !l.silent.Load() {
				l.x.count(Cut)
				l.cutting.Store(true)
				select {
				case <-l.over: // in the middle of a chunk
				case <-done:
				case <-time.After(idleCut):
				}
			}
			return false
		}
	}
}

// chunk is bytes on their way.
type chunk struct {
	bytes []byte
	due   time.Time
}

// carry passes on what comes from src, in its time, until src ends.
func (l *link) carry(dst, src *net.TCPConn) {
	chunks := make(chan chunk, chunksKept)
	var writing sync.WaitGroup
	writing.Go(func() { l.write(dst, chunks) })
	var last time.Time
	for {
		b := make([]byte, chunkBytes)
		n, err := src.Read(b)
		if n > 0 {
			due := time.Now().Add(l.late() + l.x.line.transfer(n))
			if due.Before(last) {
				due = last
			}
			last = due
			chunks <- chunk{b[:n], due} // write takes all, also when it is over
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.end()
			}
			break
		}
	}
	close(chunks)
	writing.Wait()
}

// write writes chunks when they are due. Of the one in which the connection is
// cut, half comes through.
func (l *link) write(dst *net.TCPConn, chunks <-chan chunk) {
	for c := range chunks {
		if d := time.Until(c.due); d > 0 {
			select {
			case <-time.After(d):
			case <-l.over:
			}
		}
		switch {
		case l.silent.Load():
			continue
		case l.cutting.Load():
			_, _ = dst.Write(c.bytes[:len(c.bytes)/2]) // it is being cut
			l.end()
			continue
		}
		if _, err := dst.Write(c.bytes); err != nil {
			l.end()
		}
	}
	if !l.silent.Load() {
		_ = dst.CloseWrite() // fails where it is over
	}
}

func (l *link) late() time.Duration {
	p := &l.x.plan
	if p.Jitter == 0 {
		return p.Latency
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.Latency + time.Duration(l.random.Int64N(int64(p.Jitter)))
}
