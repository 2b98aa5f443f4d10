//go:build interop

package rabbitmq

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// load is a producer and a consumer of a queue on a node of a test's own, and what
// became of the messages.
type load struct {
	t    *testing.T
	ctx  context.Context
	p    queue.Producer
	c    queue.Consumer
	sent uint64

	mu     sync.Mutex
	acked  map[uint64]bool
	failed []error
}

func newLoad(t *testing.T, q *Queue) *load {
	l := &load{t: t, acked: map[uint64]bool{}}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	var err error
	if l.p, err = q.Producer(l.ctx, queue.ProducerConfig{Acked: l.told, Event: func(e queue.Event) { t.Logf("%s: %s", e.Kind, e.Text) }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.p.Close() })
	if l.c, err = q.Consumer(l.ctx, queue.ConsumerConfig{Group: "g"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.c.Close() })
	return l
}

func (l *load) told(acks []queue.Ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range acks {
		for i := range a.N {
			if a.Err == nil {
				l.acked[uint64(a.First+i)] = true
			} else {
				l.failed = append(l.failed, a.Err)
			}
		}
	}
}

func (l *load) fates() (acked, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked), len(l.failed)
}

// send sends messages that carry their numbers until so many more are acknowledged
// or have failed.
func (l *load) send(acked, failed int) {
	l.t.Helper()
	a, f := l.fates()
	for wantA, wantF := a+acked, f+failed; a < wantA || f < wantF; a, f = l.fates() {
		ms := make([]queue.Message, 20)
		for i := range ms {
			ms[i] = queue.Message{Payload: binary.LittleEndian.AppendUint64(nil, l.sent+uint64(i))}
		}
		took, err := l.p.Send(l.ctx, ms)
		l.sent += uint64(took)
		if err != nil {
			l.t.Fatalf("%v: %d acknowledged and %d failed of %d", err, a, f, l.sent)
		}
	}
}

// settle waits until each message has its fate, and all that are acknowledged came.
func (l *load) settle() {
	l.t.Helper()
	if err := l.p.Flush(l.ctx); err != nil {
		l.t.Fatal(err)
	}
	acked, failed := l.fates()
	if uint64(acked+failed) != l.sent {
		l.t.Errorf("%d of %d messages have a fate", acked+failed, l.sent)
	}
	received := map[uint64]bool{}
	for missing := acked; missing > 0; {
		batch, err := l.c.Receive(l.ctx)
		if err != nil {
			l.t.Fatalf("%d of %d confirmed messages did not come: %v", missing, acked, err)
		}
		for _, d := range batch {
			if k := binary.LittleEndian.Uint64(d.Payload); !received[k] {
				if received[k] = true; l.acked[k] {
					missing--
				}
			}
		}
	}
	l.t.Logf("%d sent, %d confirmed, %d received", l.sent, acked, len(received))
}

// What a queue has confirmed outlives SIGKILL of its server in the middle of a load;
// the clients go on by themselves, and each message has exactly one fate.
func TestAKilledServerLosesNothingConfirmed(t *testing.T) {
	for _, kind := range []Type{Classic, Quorum} {
		t.Run(string(kind), func(t *testing.T) {
			n := startNode(t)
			q, err := New(t.Context(), Config{URL: fmt.Sprintf("amqp://127.0.0.1:%d/", n.port), Name: "killed", Type: kind, MaxPending: 500, ConfirmTimeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			if kind == Quorum {
				n.registered(t, "killed")
			}
			l := newLoad(t, q)
			l.send(1000, 0)
			n.kill()
			n.start(t)
			l.send(1000, 0)
			l.settle()
			if kind == Quorum {
				leaderless(t, n, l)
			}
			if err := q.Remove(l.ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// leaderless starts a server again whose quorum queue has no leader then: RabbitMQ
// 3.10 makes a queue anew, empty, if its list of them was not on the disk when it was
// killed, and holds no election. It keeps its channels and confirms nothing; the
// producer must not wait for ever, and go on as soon as there is a leader.
func leaderless(t *testing.T, n *node, l *load) {
	n.kill()
	if err := os.Remove(n.list(t)); err != nil {
		t.Fatal(err)
	}
	n.start(t)
	l.send(0, 1200) // more than twice of what may be under way
	told := 0
	for _, err := range l.failed {
		if strings.Contains(err.Error(), "the server confirmed none of") {
			told++
		}
	}
	if told < 500 {
		t.Errorf("%d of %d failures say that nothing was confirmed, such as: %v", told, len(l.failed), l.failed[len(l.failed)-1])
	}
	n.ctl(t, "eval", `ra:trigger_election({'%2F_killed.-first.0', node()}).`)
	l.send(1000, 0)
	if err := l.p.Flush(l.ctx); err != nil {
		t.Error(err)
	}
}

// authority signs a certificate for the server and one for a client.
func authority(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &root.PublicKey, root)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, template, &own.PublicKey, root)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", signed), write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}

// TLS with a client's certificate works, and is refused without one and by an
// authority that is not trusted.
func TestTLS(t *testing.T) {
	ca, cert, key := authority(t)
	otherCA, _, _ := authority(t)
	n := startNode(t, "listeners.ssl.default = 127.0.0.1:PORT", "ssl_options.cacertfile = "+ca, "ssl_options.certfile = "+cert, "ssl_options.keyfile = "+key,
		"ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true")
	for _, c := range []struct {
		name  string
		url   string
		id    broker.Identity
		works bool
	}{
		{"a client's certificate", "amqps", broker.Identity{CAFile: ca, CertFile: cert, KeyFile: key}, true},
		{"asked for by the authority alone", "amqp", broker.Identity{CAFile: ca, CertFile: cert, KeyFile: key}, true},
		{"no certificate", "amqps", broker.Identity{CAFile: ca}, false},
		{"an authority that is not trusted", "amqps", broker.Identity{CAFile: otherCA, CertFile: cert, KeyFile: key}, false},
		{"no TLS", "amqp", broker.Identity{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			q, err := New(ctx, Config{URL: fmt.Sprintf("%s://127.0.0.1:%d/", c.url, n.port), Name: "tls", Identity: c.id})
			if (err == nil) != c.works {
				t.Fatalf("it ended with %v", err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("the error does not name the server: %v", err)
				}
				return
			}
			defer q.Close()
			if err := q.Create(ctx); err != nil {
				t.Fatal(err)
			}
			defer q.Remove(ctx)
			p, err := q.Producer(ctx, queue.ProducerConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if _, err := p.Send(ctx, []queue.Message{{Payload: []byte("hello")}}); err != nil {
				t.Fatal(err)
			}
			r, err := q.Consumer(ctx, queue.ConsumerConfig{Group: "g"})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if batch, err := r.Receive(ctx); err != nil || len(batch) != 1 || string(batch[0].Payload) != "hello" {
				t.Errorf("%d messages, %v", len(batch), err)
			}
		})
	}
}
