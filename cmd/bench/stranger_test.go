//go:build !min

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/internal/command"
	"queuebench/internal/reliability"
	"queuebench/internal/secrettest"
)

// stranger is a server that answers in another's place: its certificate is good for
// its address, and nobody vouches for it.
type stranger struct {
	hello    string // before TLS
	config   *tls.Config
	met      func() // a client has believed it
	listener net.Listener
	serving  sync.WaitGroup

	mu       sync.Mutex
	believed int
	heard    bytes.Buffer // what clients sent before they knew whom to, and after
}

// keepsHearing writes down what comes over a connection.
type keepsHearing struct {
	net.Conn
	s *stranger
}

func (k keepsHearing) Read(p []byte) (int, error) {
	n, err := k.Conn.Read(p)
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.s.heard.Write(p[:n])
	return n, err
}

func (s *stranger) serve(t *testing.T) {
	t.Helper()
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.serving.Go(func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				_, _ = io.WriteString(c, s.hello)
				secure := tls.Server(keepsHearing{c, s}, s.config)
				if secure.Handshake() != nil {
					return
				}
				s.mu.Lock()
				s.believed++
				s.mu.Unlock()
				s.met()
			})
		}
	})
	t.Cleanup(func() {
		s.listener.Close()
		s.serving.Wait()
	})
}

// selfSigned is a certificate for loopback that vouches for itself, and its file.
func selfSigned(t *testing.T) (pair tls.Certificate, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stranger"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "stranger.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// Every client that can speak TLS refuses a server that nobody vouches for, unless
// it was told to trust it, and shows it no secret.
func TestAStrangerIsNotBelieved(t *testing.T) {
	row := reliability.Try(t, reliability.Row{
		ID: "security/tls", What: "a server with a certificate that nobody vouches for, in the place of S3, Kafka, NATS, RabbitMQ, Redis and a schema registry", Often: "once for each client, and once trusted by its flag", Effort: 1,
		Holds: "refused by default, and shown no secret; accepted where it is trusted",
	})
	pair, ca := selfSigned(t)
	bareEnvironment(t)
	marks := secrettest.Marks{}
	for _, name := range []string{"NATS_PASSWORD", "RABBITMQ_PASSWORD", "REDIS_PASSWORD", "KAFKA_SASL_PASSWORD", "SCHEMA_REGISTRY_TOKEN", "AWS_S3_SECRET_ACCESS_KEY", "MINIO_S3_SECRET_ACCESS_KEY"} {
		t.Setenv(name, marks.Of(name))
	}
	t.Setenv("AWS_S3_ACCESS_KEY", "key")
	t.Setenv("MINIO_S3_ACCESS_KEY", "key")
	const load = "run --rate 100 --duration 100ms "
	for name, c := range map[string]struct{ hello, line, trust string }{
		"S3":           {"", load + "--queue delta --s3-backend s3 --region us-east-1 --store s3://bucket/x --endpoint https://AT", " --ca-file CA"},
		"the log's S3": {"", load + "--queue memory --log-store s3://bucket/x?endpoint=https://AT&region=us-east-1", " --ca-file CA"},
		"S3, in clean": {"", "clean s3://bucket/runs/x?endpoint=https://AT&region=us-east-1", " --ca-file CA"},
		"Kafka":        {"", load + "--queue kafka --brokers AT -X security.protocol=sasl_ssl -X sasl.mechanism=PLAIN -X sasl.username=u", " -X ssl.ca.location=CA"},
		"S3, in tail":  {"", "tail s3://bucket/table?endpoint=https://AT&region=us-east-1 --log-store ./logs --duration 5s", " --ca-file CA"},
		"NATS":         {"INFO {\"server_id\":\"x\",\"version\":\"2.12.0\",\"max_payload\":1048576,\"proto\":1,\"tls_required\":true}\r\n", load + "--queue nats --broker-user u --nats-url tls://AT", " --broker-ca CA"},
		"RabbitMQ":     {"", load + "--queue rabbitmq --broker-user u --rabbitmq-url amqps://AT", " --broker-ca CA"},
		"Redis":        {"", load + "--queue redis --broker-user u --redis-url rediss://AT", " --broker-ca CA"},
		"registry":     {"", load + "--queue kafka --brokers embedded --schema-subject x --schema-registry https://AT", " --schema-registry-ca CA"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "Kafka" { // a password without SASL is refused
				t.Setenv("KAFKA_SASL_PASSWORD", "")
			}
			for _, trusted := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := &stranger{hello: c.hello, config: &tls.Config{Certificates: []tls.Certificate{pair}}, met: cancel}
				s.serve(t)
				line := c.line
				if trusted {
					line += c.trust
				}
				args := strings.Fields(strings.NewReplacer("AT", s.listener.Addr().String(), "CA", ca).Replace(line))
				var out, errs bytes.Buffer
				status := command.Main(ctx, newApp(), append([]string{"bench"}, uncalibrated(args)...), &out, &errs)
				s.listener.Close()
				s.serving.Wait()
				text := errs.String()
				switch {
				case trusted && s.believed == 0:
					t.Errorf("it is trusted, and was not believed: status %d, %s", status, text)
				case !trusted && (s.believed > 0 || status != 1 || !strings.Contains(text, "certificate")):
					t.Errorf("believed %d times, status %d, and the error does not name its certificate: %s", s.believed, status, text)
				case !trusted && s.heard.Len() == 0:
					t.Errorf("it was never asked: %s", text)
				}
				marks.Search(t, ".", map[string]string{"what the stranger heard": s.heard.String(), "the output": out.String(), "the error": text})
			}
		})
	}
	row.Happened = "9 clients refused it, and believed it when they were told to"
}
