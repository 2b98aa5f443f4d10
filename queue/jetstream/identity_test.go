package jetstream

import (
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

	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/broker"
)

// certificate writes one for 127.0.0.1 that vouches for itself, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", bytes)
}

func TestIdentities(t *testing.T) {
	cert, key := certificate(t)
	password := broker.Identity{User: "ann", Password: secret.Of("secret")}
	for name, c := range map[string]struct {
		server      serverConfig
		right       Config
		wrong       Config
		wrongSays   string
		wrongHidden string
	}{
		"token":    {serverConfig{Token: "t0ken"}, Config{Token: secret.Of("t0ken")}, Config{Token: secret.Of("other")}, "uthorization", "other"},
		"password": {serverConfig{User: "ann", Password: "secret"}, Config{Identity: password}, Config{Identity: broker.Identity{User: "ann", Password: secret.Of("wrong!")}}, "uthorization", "wrong!"},
		"tls":      {serverConfig{CertFile: cert, KeyFile: key}, Config{Identity: broker.Identity{CAFile: cert}}, Config{Identity: broker.Identity{TLS: true}}, "certificate", "\x00"},
		"mutual tls": {serverConfig{CertFile: cert, KeyFile: key, CAFile: cert},
			Config{Identity: broker.Identity{CAFile: cert, CertFile: cert, KeyFile: key}}, Config{Identity: broker.Identity{CAFile: cert}}, "", "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Monitor = -1
			s := start(t, c.server)
			c.right.URL, c.right.Name = s.url, "right"
			q := open(t, c.right)
			if err := q.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			c.wrong.URL, c.wrong.Name = s.url, "wrong"
			wrong, err := New(ctx, c.wrong)
			if err == nil {
				wrong.Close()
				t.Fatal("a client that is not known was let in")
			}
			if text := err.Error(); !strings.Contains(text, c.wrongSays) || strings.Contains(text, c.wrongHidden) {
				t.Errorf("the error is %q", text)
			}
		})
	}
}

func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	s := start(t, serverConfig{Monitor: -1})
	q := open(t, Config{URL: s.url, Name: "theirs"})
	cfg := jetstreamConfig("theirs")
	if _, err := q.js.CreateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("Create over a stream of others: %v", err)
	}
	if err := q.Remove(t.Context()); err == nil {
		t.Error("Remove of a stream of others says nothing")
	}
	if _, err := q.js.Stream(t.Context(), "theirs"); err != nil {
		t.Errorf("the stream of others is gone: %v", err)
	}
}

func TestAServerWithoutJetStreamIsNamed(t *testing.T) {
	s := start(t, serverConfig{Monitor: -1, Plain: true})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := New(ctx, Config{URL: s.url, Name: "x"}); err == nil || !strings.Contains(err.Error(), "-js") {
		t.Errorf("the error is %v", err)
	}
	if _, err := New(ctx, Config{URL: "nats://127.0.0.1:1", Name: "x"}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("without a server the error is %v", err)
	}
}

func TestDurabilityIsWhatTheServerSays(t *testing.T) {
	for says, c := range map[string]struct {
		server serverConfig
		cfg    Config
	}{
		"every 2m0s, not before":             {},
		"before it acknowledges":             {server: serverConfig{SyncAlways: true}},
		"in no file":                         {cfg: Config{Storage: Memory}},
		"writes its file later":              {cfg: Config{Async: true}},
		"a client is not told":               {cfg: Config{Monitor: "none"}},
		"consumers do not acknowledge":       {cfg: Config{Acks: AckNone}},
		"storage file, 1 replicas":           {cfg: Config{Replicas: 1}},
		"is not known (Get \"http://127.0.0": {cfg: Config{Monitor: "http://127.0.0.1:1"}},
	} {
		s := start(t, c.server)
		switch c.cfg.URL = s.url; c.cfg.Monitor {
		case "":
			c.cfg.Monitor = s.monitor
		case "none":
			c.cfg.Monitor = ""
		}
		q := open(t, c.cfg)
		if err := q.Create(t.Context()); err != nil {
			t.Errorf("%s: %v", says, err)
		}
		if got := q.Info().Durability; !strings.Contains(got, says) || !strings.Contains(got, "nats-server 2.") {
			t.Errorf("the durability is %q, not with %q", got, says)
		}
		if got, want := q.Info().LosesNothing, c.cfg.Storage != Memory && !c.cfg.Async && c.cfg.Acks != AckNone; got != want {
			t.Errorf("%s: LosesNothing is %v", says, got)
		}
		q.Close()
		s.stop()
	}
}

func TestHeadersThatCannotBeCarriedAreRefused(t *testing.T) {
	for _, h := range []queue.Header{{Name: ""}, {Name: "a b"}, {Name: "a:b"}, {Name: "é"}, {Name: "a", Value: []byte("x\ny")}, {Name: "a", Value: []byte(" x")}} {
		if _, err := headersOf([]queue.Header{h}); err == nil {
			t.Errorf("%q was not refused", h)
		}
	}
}
