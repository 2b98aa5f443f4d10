//go:build interop

package kafka

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/internal/kafkabroker"
	"queuebench/queue"
	"queuebench/queue/kafka"
)

// secrets are keys, certificates and passwords that a test made for itself.
type secrets struct {
	ca, broker, client, clientKey, otherCA string // files of PEM
	user, password                         string
}

func newSecrets(t *testing.T) *secrets {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, parts ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Join(parts, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := newCA(t, "the test's CA")
	other := newCA(t, "another CA")
	cert, key := ca.issue(t, "broker")
	clientCert, clientKey := ca.issue(t, "client")
	return &secrets{
		ca: write("ca.pem", ca.pem), otherCA: write("other.pem", other.pem), broker: write("broker.pem", key, cert, ca.pem),
		client: write("client.pem", clientCert), clientKey: write("client.key", clientKey),
		user: "alice", password: rand.Text(),
	}
}

// authority is a CA.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newCA(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// issue makes a certificate for 127.0.0.1 and its key, as PEM.
func (a *authority) issue(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.cert, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// options make a broker that has a listener for each protocol; that of SSL asks
// for a client's certificate.
func (s *secrets) options() kafkabroker.Options {
	const plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
	const scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	settings := []string{
		"listeners=PLAINTEXT://127.0.0.1:{port.PLAINTEXT},CONTROLLER://127.0.0.1:{port.CONTROLLER},SSL://127.0.0.1:{port.SSL},SASL_PLAINTEXT://127.0.0.1:{port.SASL_PLAINTEXT},SASL_SSL://127.0.0.1:{port.SASL_SSL}",
		"advertised.listeners=PLAINTEXT://127.0.0.1:{port.PLAINTEXT},SSL://127.0.0.1:{port.SSL},SASL_PLAINTEXT://127.0.0.1:{port.SASL_PLAINTEXT},SASL_SSL://127.0.0.1:{port.SASL_SSL}",
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + s.broker, "ssl.truststore.type=PEM", "ssl.truststore.location=" + s.ca,
		"listener.name.ssl.ssl.client.auth=required",
		"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
	}
	for _, listener := range []string{"sasl_plaintext", "sasl_ssl"} {
		name := "listener.name." + listener
		settings = append(settings,
			name+`.plain.sasl.jaas.config=`+plain+` user_`+s.user+`="`+s.password+`";`,
			name+".scram-sha-256.sasl.jaas.config="+scram, name+".scram-sha-512.sasl.jaas.config="+scram)
	}
	return kafkabroker.Options{Settings: settings, Listeners: []string{"SSL", "SASL_PLAINTEXT", "SASL_SSL"}, Users: []string{s.user + ":" + s.password}}
}

// security sends and receives over each protocol and mechanism, and is refused
// where what it shows is wrong.
func security(t *testing.T, b *kafkabroker.Cluster, s *secrets) {
	sasl := func(mechanism string, more ...string) []string {
		return append([]string{"sasl.mechanism", mechanism, "sasl.username", s.user, "sasl.password", s.password}, more...)
	}
	mine := []string{"ssl.certificate.location", s.client, "ssl.key.location", s.clientKey}
	for _, c := range []struct {
		name, protocol string
		settings       []string
		fails          bool
	}{
		{"TLS with a client certificate", "SSL", append(mine, "ssl.ca.location", s.ca), false},
		{"TLS without one", "SSL", []string{"ssl.ca.location", s.ca}, true},
		{"TLS, a CA that is not trusted", "SSL", append(mine, "ssl.ca.location", s.otherCA), true},
		{"PLAIN", "SASL_PLAINTEXT", sasl("PLAIN"), false},
		{"SCRAM-SHA-256", "SASL_PLAINTEXT", sasl("SCRAM-SHA-256"), false},
		{"SCRAM-SHA-512", "SASL_PLAINTEXT", sasl("SCRAM-SHA-512"), false},
		{"PLAIN over TLS", "SASL_SSL", sasl("PLAIN", "ssl.ca.location", s.ca), false},
		{"SCRAM-SHA-256 over TLS", "SASL_SSL", sasl("SCRAM-SHA-256", "ssl.ca.location", s.ca), false},
		{"SCRAM-SHA-512 over TLS", "SASL_SSL", sasl("SCRAM-SHA-512", "ssl.ca.location", s.ca), false},
		{"PLAIN, a wrong password", "SASL_PLAINTEXT", append(sasl("PLAIN"), "sasl.password", "wrong-"+s.password), true},
		{"SCRAM-SHA-512, a wrong password", "SASL_PLAINTEXT", append(sasl("SCRAM-SHA-512"), "sasl.password", "wrong-"+s.password), true},
		{"SCRAM-SHA-256, a user who is none", "SASL_PLAINTEXT", append(sasl("SCRAM-SHA-256"), "sasl.username", "bob"), true},
		{"no TLS where there is TLS", "SASL_SSL", append(sasl("PLAIN"), "security.protocol", "sasl_plaintext"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(b.Bootstrap(c.protocol))
			for i, kv := 0, append([]string{"security.protocol", strings.ToLower(c.protocol)}, c.settings...); i < len(kv); i += 2 {
				if _, err := cfg.Settings.Set(kv[i], kv[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := roundTrip(ctx, cfg)
			if (err != nil) != c.fails {
				t.Errorf("it ended with %v", err)
			}
			if err != nil {
				t.Logf("refused: %v", err)
				if strings.Contains(err.Error(), s.password) {
					t.Error("the error holds the password")
				}
			}
		})
	}
}

// roundTrip sends a message to a new topic and receives it.
func roundTrip(ctx context.Context, cfg kafka.Config) (err error) {
	q, err := kafka.New(ctx, cfg)
	if err != nil {
		return err
	}
	defer q.Close()
	if err := q.Create(ctx); err != nil {
		return err
	}
	defer q.Remove(ctx)
	p, err := q.Producer(ctx, queue.ProducerConfig{Acked: func(acks []queue.Ack) {
		for _, a := range acks {
			if a.Err != nil {
				err = a.Err
			}
		}
	}})
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := p.Send(ctx, []queue.Message{{Payload: []byte("hello"), Partition: queue.AnyPartition}}); err != nil {
		return err
	}
	if ferr := p.Flush(ctx); ferr != nil || err != nil {
		return ferr
	}
	c, err := q.Consumer(ctx, queue.ConsumerConfig{Group: "g"})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Receive(ctx)
	return err
}
