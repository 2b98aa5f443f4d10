package offset

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
)

// serve serves a clock on a free port until the test ends.
func serve(t testing.TB, c Clock) (address string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, conn, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return conn.LocalAddr().String()
}

// truth is by how much peer is ahead of own, and how well that is known.
func truth(own, peer *clock.Clock) (offset, errorNs int64) {
	a, b := own.Identity(), peer.Identity()
	return (b.AnchorNs - b.MonotonicNs) - (a.AnchorNs - a.MonotonicNs), a.MonotonicErrorNs + b.MonotonicErrorNs
}

// within fails unless the true offset lies within what was measured.
func within(t *testing.T, what string, m Measurement, own, peer *clock.Clock) {
	t.Helper()
	want, slack := truth(own, peer)
	if wrong := m.OffsetNs - want; wrong > m.ErrorNs+slack || -wrong > m.ErrorNs+slack {
		t.Errorf("%s: %d ± %d ns, in truth %d (± %d)", what, m.OffsetNs, m.ErrorNs, want, slack)
	}
	if m.Peer != peer.Identity() {
		t.Errorf("%s: the peer is %+v, not %+v", what, m.Peer, peer.Identity())
	}
}

// proxy stands between a measurement and a server, and does to each packet what
// disturb says: pass it on after a time, so often.
type proxy struct {
	conn    net.PacketConn
	wg      sync.WaitGroup
	disturb func(toServer bool, packet []byte) (delay time.Duration, copies int)
}

func newProxy(t *testing.T, server string, disturb func(bool, []byte) (time.Duration, int)) (address string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{conn: conn, disturb: disturb}
	var mu sync.Mutex // guards client
	var client net.Addr
	p.wg.Go(func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			body := append([]byte(nil), buffer[:n]...)
			mu.Lock()
			toServer := from.String() != to.String()
			target := net.Addr(to)
			if toServer {
				client = from
			} else {
				target = client
			}
			mu.Unlock()
			delay, copies := p.disturb(toServer, body)
			p.wg.Go(func() {
				time.Sleep(delay)
				for range copies {
					conn.WriteTo(body, target)
				}
			})
		}
	})
	t.Cleanup(func() { conn.Close(); p.wg.Wait() })
	return conn.LocalAddr().String()
}

func TestTheTrueOffsetIsWithinTheError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var mu sync.Mutex
	random := func(n time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(r.Int64N(int64(n) + 1))
	}
	for name, disturb := range map[string]func(bool, []byte) (time.Duration, int){
		"nothing between": nil,
		"slow to the peer": func(to bool, _ []byte) (time.Duration, int) {
			if to {
				return 8 * time.Millisecond, 1
			}
			return 0, 1
		},
		"slow from the peer": func(to bool, _ []byte) (time.Duration, int) {
			if to {
				return 0, 1
			}
			return 8 * time.Millisecond, 1
		},
		"jitter": func(bool, []byte) (time.Duration, int) { return random(4 * time.Millisecond), 1 },
		"packets lost and doubled": func(bool, []byte) (time.Duration, int) {
			return random(time.Millisecond), int(random(8)) % 4 // a fourth is lost, or some more
		},
		"answers out of time": func(to bool, _ []byte) (time.Duration, int) {
			if !to && random(5) == 0 {
				return answerLimit + 50*time.Millisecond, 1 // comes while the next one is asked
			}
			return 0, 1
		},
		"damaged packets": func(to bool, packet []byte) (time.Duration, int) {
			if random(3) == 0 {
				packet[int(random(39))] ^= 0x40 // may hit a stamp, which a bound cannot see: header only
				packet[0] ^= 1
			}
			return 0, 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, peer := clock.New(), clock.Skewed(-3*time.Hour+1234567, "another boot")
			address := serve(t, peer)
			if disturb != nil {
				address = newProxy(t, address, disturb)
			}
			m, err := Measure(t.Context(), address, own)
			// Of a way that loses half of the exchanges, all of the first ones may be
			// lost, and nobody seems to be there.
			for try := 0; err != nil && disturb != nil && try < 10; try++ {
				m, err = Measure(t.Context(), address, own)
			}
			if err != nil {
				t.Fatal(err)
			}
			within(t, name, m, own, peer)
			if strings.HasPrefix(name, "slow") && m.ErrorNs < int64(4*time.Millisecond) {
				t.Errorf("a way of 8 ms, and an error of %v", time.Duration(m.ErrorNs))
			}
			if disturb != nil {
				return
			}
			// With nothing between it is quick and whole, unless the host is busy: then
			// another time.
			for try := 0; m.ErrorNs > int64(20*time.Millisecond) || m.Samples != samples; try++ {
				if try == 20 {
					t.Fatalf("%+v", m)
				}
				if m, err = Measure(t.Context(), address, own); err != nil {
					t.Fatal(err)
				}
				within(t, name, m, own, peer)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") // takes and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := Measure(t.Context(), conn.LocalAddr().String(), clock.New()); !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), "--clock-serve") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, err := Measure(ctx, conn.LocalAddr().String(), clock.New()); err == nil || time.Since(start) > time.Second {
		t.Errorf("after the end of its context: %v, %v", err, time.Since(start))
	}
}

// A server answers questions only, with no more bytes than it was asked with.
func TestAServerGivesNothingAway(t *testing.T) {
	address := serve(t, clock.New())
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	question := appendPacket(nil, packet{kind: kindQuestion, nonce: 7})
	answer := appendPacket(nil, packet{kind: kindAnswer, nonce: 7, received: 1, sent: 1, identity: clock.New().Identity()})
	for name, body := range map[string][]byte{
		"a short question": question[:headerSize], "nothing": {}, "a longer one": append(append([]byte(nil), question...), 0),
		"an answer": answer, "noise": []byte(strings.Repeat("x", packetSize)),
	} {
		conn.Write(body)
		conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := conn.Read(make([]byte, 2000)); err == nil {
			t.Errorf("%s was answered with %d bytes", name, n)
		}
	}
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	conn.Write(question)
	if n, err := conn.Read(make([]byte, 2000)); err != nil || n != len(question) {
		t.Errorf("a question of %d bytes: %d bytes, %v", len(question), n, err)
	}
}

func TestAFollowerMeasuresAgainAndAtTheEnd(t *testing.T) {
	own, peer := clock.New(), clock.Skewed(time.Minute, "b")
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := follow(t.Context(), conn.LocalAddr().String(), own, 60*time.Millisecond)
	defer f.Stop(t.Context())
	time.Sleep(20 * time.Millisecond) // the peer comes later
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() { defer close(served); Serve(ctx, conn, peer) }()
	defer func() { cancel(); <-served }()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if all, _ := f.Measurements(); len(all) >= 3 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("it does not measure")
		}
	}
	before := own.Now()
	f.Stop(t.Context())
	f.Stop(t.Context())
	all, err := f.Measurements()
	if err != nil || all[len(all)-1].AtNs < before {
		t.Errorf("no measurement at the end: %v", err)
	}
	for i, m := range all {
		within(t, "a measurement", m, own, peer)
		if i > 0 && m.AtNs <= all[i-1].AtNs {
			t.Errorf("measurements go back in time")
		}
	}
}

func TestPacketsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		p := packet{kind: kindQuestion, nonce: r.Uint64()}
		if r.IntN(2) == 0 {
			p.kind, p.received, p.sent = kindAnswer, 1+r.Int64N(1<<62), 1+r.Int64N(1<<62)
			p.identity = clock.Identity{Host: strings.Repeat("h", 1+r.IntN(200)), BootID: "b", AnchorNs: 1 + r.Int64N(1<<62), MonotonicNs: r.Int64N(1 << 62)}
		}
		b := appendPacket(nil, p)
		if got, err := parsePacket(b); err != nil || got != p || len(b) != packetSize {
			t.Fatalf("%+v became %+v, %v, in %d bytes", p, got, err, len(b))
		}
	}
	if _, err := identityBytes(clock.Identity{Host: strings.Repeat("h", 600)}); err == nil {
		t.Error("an identity that does not fit was taken")
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add(appendPacket(nil, packet{kind: kindQuestion, nonce: 1}))
	f.Add(appendPacket(nil, packet{kind: kindAnswer, nonce: 1, received: 5, sent: 6, identity: clock.New().Identity()}))
	f.Add([]byte("QBCO"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePacket(b)
		if err != nil {
			return
		}
		id, err := identityBytes(p.identity)
		if p.kind == kindAnswer && err != nil {
			return // JSON may grow where it is escaped anew
		}
		if p.kind == kindQuestion {
			id = nil
		}
		if again, err := parsePacket(appendRaw(nil, p, id)); err != nil || again != p {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}
