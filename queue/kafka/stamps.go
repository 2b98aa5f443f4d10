package kafka

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// stamps keep when the broker appended the batches of a producer, on a topic with
// LogAppendTime. A produce response tells it, and the client passes it on to
// nobody, so its connections are listened to: what a response says is here before
// the client reads it, and so before it tells the fate of a message.
type stamps struct {
	some atomic.Bool // there are any: with CreateTime there are none

	mu      sync.Mutex
	batches map[int32][]batchStamp // by partition, in the order of the responses
}

// batchStamp is of the messages from an offset on, to the next batch.
type batchStamp struct{ base, ms int64 }

// maxStamps bounds the batches of a partition whose fates were not told yet.
const maxStamps = 1 << 16

func (s *stamps) add(partition int32, base, ms int64) {
	s.some.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.batches == nil {
		s.batches = map[int32][]batchStamp{}
	}
	all := append(s.batches[partition], batchStamp{base, ms})
	if len(all) > maxStamps { // nobody asks for them
		all = append(all[:0], all[len(all)/2:]...)
	}
	s.batches[partition] = all
}

// of is the stamp of a message, ns since the epoch; 0 for none. Offsets of a
// partition are asked for in ascending order: what lies before is forgotten.
func (s *stamps) of(partition int32, offset int64) int64 {
	if !s.some.Load() {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.batches[partition]
	for len(all) > 1 && all[1].base <= offset {
		all = all[1:]
	}
	if len(all) == 0 || all[0].base > offset || offset < 0 {
		return 0
	}
	s.batches[partition] = all
	return all[0].ms * int64(time.Millisecond)
}

// dialer connects as the client would, and listens.
func (s *stamps) dialer(timeout time.Duration, c *tls.Config) kgo.Opt {
	plain := &net.Dialer{Timeout: timeout}
	return kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		dial := plain.DialContext
		if c != nil {
			own := c.Clone()
			if own.ServerName == "" {
				host, _, err := net.SplitHostPort(address)
				if err != nil {
					return nil, fmt.Errorf("unable to split host:port for dialing: %w", err)
				}
				own.ServerName = host
			}
			dial = (&tls.Dialer{NetDialer: plain, Config: own}).DialContext
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &listener{Conn: conn, stamps: s, asked: map[int32]int16{}}, nil
	})
}

// listener is a connection whose produce responses are read along. What it does
// not understand it passes over: the client is the one who complains.
type listener struct {
	net.Conn
	stamps *stamps

	mu    sync.Mutex
	asked map[int32]int16 // versions of produce requests by correlation id

	frame []byte // of the response that is on its way, without its size
	size  []byte // as far as it has come
	left  int    // bytes of the response to come
	keep  bool   // they are worth keeping
}

// maxResponse bounds what is kept of a response, bytes: one of 10,000 partitions
// has half of it.
const maxResponse = 1 << 20

// Write notes produce requests: the client writes each in one call.
func (l *listener) Write(b []byte) (int, error) {
	if len(b) >= 12 && binary.BigEndian.Uint16(b[4:]) == uint16(kmsg.Produce) {
		l.mu.Lock()
		l.asked[int32(binary.BigEndian.Uint32(b[8:]))] = int16(binary.BigEndian.Uint16(b[6:]))
		l.mu.Unlock()
	}
	return l.Conn.Write(b)
}

// Read follows the responses.
func (l *listener) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if l.left == 0 {
			k := min(4-len(l.size), len(rest))
			l.size = append(l.size, rest[:k]...)
			if rest = rest[k:]; len(l.size) < 4 {
				break
			}
			l.left, l.size, l.frame = int(binary.BigEndian.Uint32(l.size)), l.size[:0], l.frame[:0]
			l.keep = l.left <= maxResponse
			continue
		}
		k := min(l.left, len(rest))
		if l.keep {
			l.frame = append(l.frame, rest[:k]...)
			if len(l.frame) >= 4 && !l.awaited() {
				l.keep = false
			}
		}
		rest = rest[k:]
		if l.left -= k; l.left == 0 && l.keep {
			l.response()
		}
	}
	return n, err
}

// awaited tells whether the frame answers a produce request.
func (l *listener) awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.asked[int32(binary.BigEndian.Uint32(l.frame))]
	return ok
}

// response takes a produce response.
func (l *listener) response() {
	if len(l.frame) < 4 {
		return
	}
	id := int32(binary.BigEndian.Uint32(l.frame))
	l.mu.Lock()
	version, ok := l.asked[id]
	delete(l.asked, id)
	l.mu.Unlock()
	if !ok {
		return
	}
	response := kmsg.NewPtrProduceResponse()
	response.SetVersion(version)
	body := l.frame[4:]
	if response.IsFlexible() {
		if body, ok = withoutTags(body); !ok {
			return
		}
	}
	if response.ReadFrom(body) != nil {
		return
	}
	for i := range response.Topics {
		for _, p := range response.Topics[i].Partitions {
			if p.ErrorCode == 0 && p.LogAppendTime >= 0 && p.BaseOffset >= 0 {
				l.stamps.add(p.Partition, p.BaseOffset, p.LogAppendTime)
			}
		}
	}
}

// withoutTags passes over the tagged fields of a response's header: a number of
// fields, each with a tag, a size and its bytes.
func withoutTags(b []byte) (rest []byte, ok bool) {
	number := func() (v uint64) {
		n := 0
		if v, n = binary.Uvarint(b); n <= 0 {
			b, ok = nil, false
			return 0
		}
		b = b[n:]
		return v
	}
	ok = true
	for fields := number(); ok && fields > 0; fields-- {
		number()
		size := number()
		if !ok || size > uint64(len(b)) {
			return nil, false
		}
		b = b[size:]
	}
	return b, ok
}
