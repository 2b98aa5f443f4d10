package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo is a server that sends back what it gets, and counts the bytes.
func echo(t *testing.T) (address string, got *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = new(atomic.Int64)
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				b := make([]byte, 4096)
				for {
					n, err := conn.Read(b)
					got.Add(int64(n))
					if _, werr := conn.Write(b[:n]); err != nil || werr != nil {
						return
					}
				}
			})
		}
	})
	return l.Addr().String(), got
}

func tcp(t *testing.T, p TCPPlan) (*TCP, *atomic.Int64) {
	t.Helper()
	x, err := StartTCP(t.Context(), "127.0.0.1", p)
	if err != nil {
		t.Fatal(err)
	}
	to, got := echo(t)
	t.Cleanup(x.Close) // before the server ends
	x.To(to)
	return x, got
}

func dial(t *testing.T, x *TCP) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", x.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	return conn.(*net.TCPConn)
}

// Whatever a line does to the time of bytes, they come whole and in their order.
func TestBytesComeInOrder(t *testing.T) {
	for name, p := range map[string]TCPPlan{
		"plain":     {},
		"late":      {Latency: 2 * time.Millisecond, Jitter: 5 * time.Millisecond},
		"bandwidth": {Bandwidth: 20 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, _ := tcp(t, p)
			conn := dial(t, x)
			want := make([]byte, 1<<20)
			for i := range want {
				want[i] = byte(i * 7 >> 3)
			}
			began := time.Now()
			go func() {
				conn.Write(want)
				conn.CloseWrite()
			}()
			back, err := io.ReadAll(conn)
			if err != nil || !bytes.Equal(back, want) {
				t.Errorf("%d of %d bytes came back, %v", len(back), len(want), err)
			}
			// Both ways.
			if least := 2*p.Latency + 2*p.transferOf(len(want)); time.Since(began) < least {
				t.Errorf("it took %v, at least %v was due", time.Since(began), least)
			}
			if x.Counts()[Carried] != 1 || len(x.Counts()) != 1 {
				t.Errorf("%v", x.Counts())
			}
		})
	}
}

func (p TCPPlan) transferOf(n int) time.Duration {
	if p.Bandwidth == 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(p.Bandwidth) * 0.9e9)
}

// A connection that is cut ends with an error on both sides, and not with an end.
func TestCutConnections(t *testing.T) {
	x, _ := tcp(t, TCPPlan{CutAfter: 20 * time.Millisecond})
	for range 5 {
		conn := dial(t, x)
		var err error
		b := make([]byte, 4096)
		for err == nil {
			if _, err = conn.Write(b); err == nil {
				_, err = conn.Read(b)
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("it ended as if it was meant to: %v", err)
		}
	}
	if n := x.Counts()[Cut]; n != 5 {
		t.Errorf("%v", x.Counts())
	}
}

// Into a silent connection bytes go, and nothing comes out until it is cut.
func TestSilentConnections(t *testing.T) {
	x, _ := tcp(t, TCPPlan{SilentAfter: time.Nanosecond, SilentFor: 200 * time.Millisecond})
	conn := dial(t, x)
	for x.Counts()[Silent] == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	if _, err := conn.Write([]byte("is anybody there?")); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 16))
	if n != 0 || err == nil || time.Since(began) < 50*time.Millisecond {
		t.Errorf("%d bytes, %v after %v", n, err, time.Since(began))
	}
}

func TestGoneAndBack(t *testing.T) {
	var down atomic.Bool
	x, _ := tcp(t, TCPPlan{Down: func(time.Duration) bool { return down.Load() }})
	says := func(conn *net.TCPConn) error {
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	conn := dial(t, x)
	if err := says(conn); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("what was open ended with %v", err)
	}
	// Accepted and reset at once, which the dial may or may not see.
	if c, err := net.Dial("tcp", x.Address); err == nil {
		defer c.Close()
		if says(c.(*net.TCPConn)) == nil {
			t.Error("it answers although it is gone")
		}
	}
	down.Store(false)
	if err := says(dial(t, x)); err != nil {
		t.Errorf("it came back, and %v", err)
	}
	c := x.Counts()
	if c[Cut] != 1 || c[Refused] != 1 || c[Carried] != 2 {
		t.Errorf("%v", c)
	}
}

// Close returns when nothing goes on any more, whatever connections wait for.
func TestTCPCloseEndsConnections(t *testing.T) {
	x, _ := tcp(t, TCPPlan{Latency: time.Hour})
	conn := dial(t, x)
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	for x.Counts()[Carried] == 0 {
		time.Sleep(time.Millisecond)
	}
	x.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if _, err := net.Dial("tcp", x.Address); err == nil {
		t.Error("it still listens")
	}
}
