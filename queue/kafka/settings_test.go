package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/youmark/pkcs8"

	"queuebench/internal/secret"
	"queuebench/queue"
)

func TestNames(t *testing.T) {
	s := Defaults()
	for name, value := range map[string]string{
		"bootstrap.servers": "PLAINTEXT://a:1, b:2", "acks": "1", "linger.ms": "0.5", "queue.buffering.max.kbytes": "2048",
		"compression.codec": "ZSTD", "enable.auto.commit": "false", "auto.offset.reset": "smallest", "isolation.level": "read_uncommitted",
		"partition.assignment.strategy": "cooperative-sticky", "delivery.timeout.ms": "0", "enable.ssl.certificate.verification": "false",
		"ssl.endpoint.identification.algorithm": "none", "sasl.password": "a=b=c",
	} {
		if note, err := s.Set(name, value); note != "" || err != nil {
			t.Errorf("%s=%s: %q, %v", name, value, note, err)
		}
	}
	p, c := s.Producer, s.Consumer
	if !slices.Equal(s.Brokers, []string{"a:1", "b:2"}) || p.Acks != 1 || p.Linger != 500*time.Microsecond || p.BufferBytes != 2<<20 || p.Compression != "zstd" ||
		p.Delivery != 0 || c.Commit != CommitNever || c.Reset != "earliest" || c.ReadCommitted || c.Assignment[0] != "cooperative-sticky" ||
		!s.TLS.Insecure || !s.TLS.AnyName || s.SASL.Password.Reveal() != "a=b=c" {
		t.Errorf("read as %+v", s)
	}
	if note, err := s.Set("statistics.interval.ms", "5"); err != nil || !strings.Contains(note, "no effect") {
		t.Errorf("a name without a counterpart: %q, %v", note, err)
	}
	// Each known name is known once.
	all := knownNames()
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a name stands twice: %q", all)
	}
}

// What cannot be is refused, with what to change and no secret.
func TestRefusals(t *testing.T) {
	for setting, says := range map[string]string{
		"linger.msx=1": "did you mean linger.ms?", "acks=2": "all, 1 or 0", "linger.ms=-1": "milliseconds", "linger.ms=NaN": "milliseconds",
		"batch.size=1e9": "number from", "sasl.mechanism=GSSAPI": "SCRAM-SHA-512", "auto.offset.reset=error": "earliest or latest",
		"bootstrap.servers=,": "host:port", "partition.assignment.strategy=stiky": "did you mean sticky?", "session.timeout.ms=0": "milliseconds",
		"auto.commit.interval.ms=0": "milliseconds", "enable.idempotence=maybe": "true or false", "queue.buffering.max.messages=0": "number from",
	} {
		s := Defaults()
		name, value, _ := strings.Cut(setting, "=")
		if _, err := s.Set(name, value); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	for text, says := range map[string]string{
		"enable.idempotence=true\nacks=1":                                            "needs acks=all",
		"session.timeout.ms=6000":                                                    "group.id is missing",
		"group.id=g\nsession.timeout.ms=1000\nheartbeat.interval.ms=1000":            "not below",
		"security.protocol=sasl_ssl":                                                 "sasl.mechanism is missing",
		"security.protocol=sasl_ssl\nsasl.mechanism=PLAIN\nsasl.username=u":          "KAFKA_SASL_PASSWORD",
		"sasl.username=u":                                                            "has no SASL",
		"ssl.ca.location=x":                                                          "has no TLS",
		"security.protocol=ssl\nssl.key.location=x":                                  "belong together",
		"transactional.id=t\nenable.idempotence=false":                               "needs enable.idempotence",
		"group.id=g\npartition.assignment.strategy=range,cooperative-sticky":         "mixes",
		"queue.buffering.max.kbytes=1":                                               "smaller than a batch",
		"fetch.min.bytes=100000\nfetch.max.bytes=1000":                               "above fetch.max.bytes",
		"security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.password=hush": "sasl.username",
		"security.protocol=ssl\nssl.ca.location=/does/not/exist\nssl.endpoint.identification.algorithm=none": "ssl.ca.location",
	} {
		properties, err := ParseProperties([]byte("bootstrap.servers=127.0.0.1:1\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		s := Defaults()
		if _, err = s.Apply(properties); err == nil {
			cfg := Config{Settings: s, Topic: "t"}
			if err = cfg.Check(); err == nil {
				_, err = s.common(nil)
			}
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := Defaults()
	s.Brokers = []string{"a:1"}
	for says, cfg := range map[string]Config{
		"no name of a topic": {Topic: "a/b"}, "has no name": {}, "negative": {Topic: "t", Start: queue.Start{Kind: queue.StartOffset, Offset: -1}},
		"before 1970": {Topic: "t", Start: queue.Start{Kind: queue.StartTime, Time: time.Unix(-1, 0)}}, "backlog": {Topic: "t", MaxBacklog: -1},
		"readers": {Topic: "t", Readers: -1}, "say streaming or static": {Topic: "t", Reading: "all"},
	} {
		cfg.Settings = s
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
	cfg := Config{Topic: "t", Settings: Defaults()}
	if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "bootstrap.servers is missing") {
		t.Errorf("no server: %v", err)
	}
}

// acks below all take idempotence with them, unless it is asked for by name.
func TestAcksDecideIdempotence(t *testing.T) {
	s := Defaults()
	if _, err := s.Apply([]Property{{Name: "acks", Value: "1"}, {Name: "bootstrap.servers", Value: "a:1"}}); err != nil || s.Producer.Idempotent {
		t.Errorf("acks=1: idempotent %v, %v", s.Producer.Idempotent, err)
	}
}

func FuzzProperties(f *testing.F) {
	for _, text := range []string{"a=b", "# c\n\n! d\nlinger.ms = 5\r\n", "\ufeffacks=all\nsasl.password=x=y", "no value", "=x", "bootstrap.servers=a:1,b:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseProperties([]byte(text))
		if err != nil {
			return
		}
		var b strings.Builder
		for _, p := range all {
			if p.Name == "" || p.Line < 1 || strings.ContainsAny(p.Name, "=\n") {
				t.Fatalf("%+v", p)
			}
			b.WriteString(p.Name + "=" + p.Value + "\n")
		}
		again, err := ParseProperties([]byte(b.String()))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q read again: %d properties of %d, %v", b.String(), len(again), len(all), err)
		}
		for i := range all {
			if again[i].Name != all[i].Name || again[i].Value != all[i].Value {
				t.Fatalf("%+v read again is %+v", all[i], again[i])
			}
			s := Defaults()
			_, _ = s.Set(all[i].Name, all[i].Value)
		}
	})
}

func TestDurabilityIsSaid(t *testing.T) {
	all, leader := Defaults().Producer, Defaults().Producer
	leader.Acks, leader.Idempotent = 1, false
	never := map[string]string{"flush.messages": "9223372036854775807", "flush.ms": "9223372036854775807", "min.insync.replicas": "2"}
	with := func(name, value string) map[string]string {
		m := maps.Clone(never)
		m[name] = value
		return m
	}
	for _, c := range []struct {
		g     guarantee
		p     ProducerSettings
		says  []string
		loses bool
	}{
		{guarantee{3, never}, all, []string{"acks=all", "3 replicas", "min.insync.replicas 2", "page cache", "idempotent"}, false},
		{guarantee{3, with("unclean.leader.election.enable", "true")}, all, []string{"acks=all"}, true},
		{guarantee{3, never}, leader, []string{"acks=1", "not idempotent"}, true},
		{guarantee{1, never}, leader, []string{"acks=1"}, false},
		{guarantee{3, with("flush.messages", "1")}, all, []string{"flushed it to its disk"}, false},
		{guarantee{3, with("flush.ms", "1000")}, all, []string{"flushes after 1000 ms"}, false},
		{guarantee{3, with("write.caching", "false")}, all, []string{"on disk"}, false},
		{guarantee{}, all, []string{"unknown number", "does not tell"}, false},
	} {
		got := c.g.sentence(&c.p)
		for _, says := range c.says {
			if !strings.Contains(got, says) {
				t.Errorf("%+v: %q does not say %q", c.g, got, says)
			}
		}
		if c.g.losesNothing(&c.p) == c.loses {
			t.Errorf("%+v, acks %d: loses nothing %v", c.g, c.p.Acks, !c.loses)
		}
	}
}

// TLS against a broker with a certificate of its own, and a client's key that is
// encrypted.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	make := func(name string, ip net.IP) []byte {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name},
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		}
		if ip != nil {
			template.IPAddresses = []net.IP{ip}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encrypted, err := pkcs8.MarshalPrivateKey(key, []byte("key-secret"), nil)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := write("key.pem", "ENCRYPTED PRIVATE KEY", encrypted)
	right, other := make("broker", net.IPv4(127, 0, 0, 1)), make("elsewhere", nil)
	rightFile, otherFile := write("right.pem", "CERTIFICATE", right), write("other.pem", "CERTIFICATE", other)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: right}))
	for _, c := range []struct {
		shown []byte
		tls   TLS
		good  bool
	}{
		{right, TLS{CAFile: rightFile, CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("key-secret")}, true},
		{right, TLS{CAFile: rightFile, CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("wr0ng")}, false},
		{right, TLS{CAFile: rightFile}, false}, // the broker wants a certificate
		{other, TLS{CAFile: otherFile, CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("key-secret")}, false},
		{other, TLS{CAFile: otherFile, CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("key-secret"), AnyName: true}, true},
		{other, TLS{CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("key-secret"), AnyName: true}, false},
		{other, TLS{CertFile: rightFile, KeyFile: keyFile, KeyPassword: secret.Of("key-secret"), Insecure: true}, true},
	} {
		k := cluster(t, kfake.TLS(&tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{c.shown}, PrivateKey: key}}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		}))
		cfg := config(k)
		cfg.Settings.Protocol, cfg.Settings.TLS, cfg.Settings.Dial = "ssl", c.tls, 2*time.Second
		q, err := New(t.Context(), cfg)
		if c.good != (err == nil) {
			t.Errorf("%+v: %v", c.tls, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "key-secret") || strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("the error tells a password: %v", err)
			}
			continue
		}
		if err := q.Create(t.Context()); err != nil {
			t.Error(err)
		}
		q.Close()
	}
}
