// Package offset measures by how much the clock of a process on another host is
// ahead of ours: four stamps of an exchange of two packets, as NTP takes them
// (RFC 5905, section 8), many times, of which the one with the least round trip
// counts.
//
// The error that it tells is a bound and no estimate: whatever the two ways
// took, the true offset at that moment lies within it. The package refuses to
// guess what it did not measure, to set any clock, and to trust a packet: one
// that is no answer to a question of ours is passed over.
package offset

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"queuebench/clock"
)

// Clock is a *clock.Clock.
type Clock interface {
	Now() int64
	Identity() clock.Identity
}

// Measurement is what a number of exchanges said.
type Measurement struct {
	Peer clock.Identity
	AtNs int64 // own clock, in the middle of the exchange that counts
	// OffsetNs is what the peer's clock shows more than the own one, give or
	// take ErrorNs.
	OffsetNs int64
	ErrorNs  int64
	Samples  int // exchanges that were answered
}

const (
	// samples is how many exchanges a measurement tries, with a pause between
	// them that is random, so that nothing periodic on the way is met again and
	// again: some 50 ms in all where the peer is near.
	samples     = 24
	pause       = 2 * time.Millisecond
	answerLimit = 300 * time.Millisecond
	// givenUp is how many exchanges without an answer end a measurement that
	// has none yet.
	givenUp = 4
)

// ErrNoAnswer: the peer answered none of the exchanges.
var ErrNoAnswer = errors.New("no answer")

// Measure asks the peer at an address, host:port, by UDP. It takes at most two
// seconds where nobody answers. The error is ErrNoAnswer then.
func Measure(ctx context.Context, address string, c Clock) (Measurement, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return Measurement{}, fmt.Errorf("clock peer %s: %w", address, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var best Measurement
	var last error
	for i := range samples {
		if ctx.Err() != nil || best.Samples == 0 && i == givenUp {
			break
		}
		m, err := exchange(ctx, conn, c)
		if err != nil {
			last = err
			continue
		}
		if m.Peer != best.Peer && best.Samples > 0 {
			best = Measurement{} // another process answers since: begin anew
		}
		m.Samples = best.Samples + 1
		if best.Samples > 0 && best.ErrorNs <= m.ErrorNs {
			best.Samples = m.Samples
		} else {
			best = m
		}
		time.Sleep(pause/2 + time.Duration(random()%uint64(pause)))
	}
	if best.Samples == 0 {
		return best, fmt.Errorf("clock peer %s: %w within %v: is `bench clock serve` or a half with --clock-serve there, and UDP let through? (%v)", address, ErrNoAnswer, givenUp*answerLimit, last)
	}
	return best, nil
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// exchange asks once. With t1 and t4 of the own clock around t2 and t3 of the
// peer's, the two ways d1, d2 ≥ 0 and the offset o: t2 = t1 + d1 + o and
// t4 = t3 + d2 − o, so o lies between t3−t4 and t2−t1.
func exchange(ctx context.Context, conn net.Conn, c Clock) (Measurement, error) {
	nonce := random()
	question := appendPacket(make([]byte, 0, packetSize), packet{kind: kindQuestion, nonce: nonce})
	if ctx.Err() != nil {
		return Measurement{}, ctx.Err()
	}
	if err := conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return Measurement{}, err
	}
	t1 := c.Now()
	if _, err := conn.Write(question); err != nil {
		return Measurement{}, err
	}
	buffer := make([]byte, packetSize+1)
	for {
		n, err := conn.Read(buffer)
		t4 := c.Now()
		if err != nil {
			return Measurement{}, err
		}
		p, err := parsePacket(buffer[:n])
		if err != nil || p.kind != kindAnswer || p.nonce != nonce {
			continue // of an exchange that was given up, or of nobody we asked
		}
		low, high := p.sent-t4, p.received-t1
		if p.sent < p.received || high < low {
			return Measurement{}, errors.New("the peer's stamps contradict each other")
		}
		middle := low + (high-low)/2
		// One more, since halves of ns are lost.
		return Measurement{Peer: p.identity, AtNs: t1 + (t4-t1)/2, OffsetNs: middle, ErrorNs: (high-low)/2 + 1}, nil
	}
}
