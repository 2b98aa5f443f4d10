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

// What a classic queue has confirmed outlives SIGKILL of its server in the middle of
// a load; the clients go on by themselves, and each message has exactly one fate. A
// producer of a quorum queue of RabbitMQ 3.10 may not get going again: see
// docs/brokers.md.
func TestAKilledServerLosesNothingConfirmed(t *testing.T) {
	n, kind := startNode(t), Classic
	q, err := New(t.Context(), Config{URL: fmt.Sprintf("amqp://127.0.0.1:%d/", n.port), Name: "killed-" + string(kind), Type: kind, MaxPending: 500})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acked, fates := map[uint64]bool{}, int64(0)
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func(acks []queue.Ack) {
		mu.Lock()
		defer mu.Unlock()
		for _, a := range acks {
			fates += a.N
			for i := range a.N {
				if a.Err == nil {
					acked[uint64(a.First+i)] = true
				}
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	sent := uint64(0)
	send := func() {
		ms := make([]queue.Message, 20)
		for i := range ms {
			ms[i] = queue.Message{Payload: binary.LittleEndian.AppendUint64(nil, sent+uint64(i))}
		}
		took, err := p.Send(ctx, ms)
		sent += uint64(took)
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked)
	}
	for count() < 1000 {
		send()
	}
	t.Logf("%s: %d confirmed when the server is killed", kind, count())
	n.kill()
	send()
	before := count()
	n.start(t)
	t.Logf("%s: the server takes connections again", kind)
	for count() < before+100 {
		send()
	}
	if err := p.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if fates != int64(sent) {
		t.Errorf("%d of %d messages have a fate", fates, sent)
	}
	received := map[uint64]int{}
	for missing := count(); missing > 0; {
		batch, err := c.Receive(ctx)
		if err != nil {
			t.Fatalf("%d of %d confirmed messages did not come: %v", missing, count(), err)
		}
		for _, d := range batch {
			k := binary.LittleEndian.Uint64(d.Payload)
			if received[k]++; received[k] == 1 && acked[k] {
				missing--
			}
		}
	}
	t.Logf("%s: %d sent, %d confirmed, %d received", kind, sent, count(), len(received))
	if err := q.Remove(ctx); err != nil {
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
