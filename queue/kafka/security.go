package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
	"github.com/youmark/pkcs8"

	"queuebench/internal/secret"
)

// security is how the client connects and shows who it is.
func (s *Settings) security(seen *stamps) (opts []kgo.Opt, err error) {
	var secret *tls.Config
	if strings.HasSuffix(s.Protocol, "ssl") {
		if secret, err = s.TLS.config(); err != nil {
			return nil, err
		}
	}
	switch {
	case seen != nil:
		opts = append(opts, seen.dialer(s.Dial, secret))
	case secret != nil:
		opts = append(opts, kgo.DialTLSConfig(secret))
	}
	if !strings.HasPrefix(s.Protocol, "sasl_") {
		return opts, nil
	}
	switch user, password := s.SASL.Username, s.SASL.Password.Reveal(); s.SASL.Mechanism {
	case "PLAIN":
		opts = append(opts, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case "SCRAM-SHA-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return opts, nil
}

func (s *Settings) checkSecurity() error {
	tls, sasl := strings.HasSuffix(s.Protocol, "ssl"), strings.HasPrefix(s.Protocol, "sasl_")
	switch {
	case !tls && s.TLS != TLS{}:
		return fmt.Errorf("kafka: security.protocol=%s has no TLS, and settings of TLS are given: say ssl or sasl_ssl", s.Protocol)
	case !sasl && s.SASL != SASL{}:
		return fmt.Errorf("kafka: security.protocol=%s has no SASL, and settings of SASL are given: say sasl_ssl or sasl_plaintext", s.Protocol)
	case sasl && s.SASL.Mechanism == "":
		return errors.New("kafka: sasl.mechanism is missing: say PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	case sasl && s.SASL.Username == "":
		return errors.New("kafka: sasl.username is missing")
	case sasl && s.SASL.Password.IsZero():
		return errors.New("kafka: sasl.password is missing: it comes from a file of settings, or from the environment (KAFKA_SASL_PASSWORD)")
	case (s.TLS.CertFile == "") != (s.TLS.KeyFile == ""):
		return errors.New("kafka: ssl.certificate.location and ssl.key.location belong together: one of them is missing")
	}
	return nil
}

func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: t.Insecure}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("kafka: ssl.ca.location: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("kafka: ssl.ca.location: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.AnyName && !t.Insecure {
		c.InsecureSkipVerify = true // of Go's own check, which insists on the name
		c.VerifyConnection = func(state tls.ConnectionState) error {
			return verifyChain(state.PeerCertificates, c.RootCAs)
		}
	}
	if t.CertFile == "" {
		return c, nil
	}
	pair, err := t.pair()
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// verifyChain checks a certificate but for the name in it.
func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("kafka: the broker shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}

// pair is the client's own certificate and key.
func (t *TLS) pair() (tls.Certificate, error) {
	var none tls.Certificate
	certificate, err := os.ReadFile(t.CertFile)
	if err != nil {
		return none, fmt.Errorf("kafka: ssl.certificate.location: %w", err)
	}
	text, err := secret.ReadFile(t.KeyFile)
	if err != nil {
		return none, fmt.Errorf("kafka: ssl.key.location: %w", err)
	}
	if !t.KeyPassword.IsZero() {
		if text, err = decrypt(text, t.KeyPassword.Reveal()); err != nil {
			return none, fmt.Errorf("kafka: ssl.key.location: %s: %w", t.KeyFile, err)
		}
	}
	pair, err := tls.X509KeyPair(certificate, text)
	if err != nil {
		return none, fmt.Errorf("kafka: ssl.certificate.location %s and ssl.key.location %s: %w", t.CertFile, t.KeyFile, err)
	}
	return pair, nil
}

// decrypt turns an encrypted PKCS #8 key into a plain one, PEM both. A key that
// is not encrypted stays as it is.
func decrypt(text []byte, password string) ([]byte, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("it holds no PEM key")
	case block.Headers["DEK-Info"] != "":
		return nil, errors.New("the key is encrypted in the way of old OpenSSL: turn it into PKCS #8 with `openssl pkcs8 -topk8`")
	case block.Type != "ENCRYPTED PRIVATE KEY":
		return text, nil
	}
	key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(password))
	if err != nil {
		return nil, errors.New("ssl.key.password does not decrypt the key")
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
