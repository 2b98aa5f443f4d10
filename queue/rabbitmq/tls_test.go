//go:build interop

package rabbitmq

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/broker"
)

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
