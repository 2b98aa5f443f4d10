package broker

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"queuebench/internal/secret"
)

// Identity is how a client names itself to a server, and knows the server. It is
// never written anywhere.
type Identity struct {
	User     string
	Password secret.Text
	// TLS asks for an encrypted connection, also where the address does not.
	TLS bool
	// CAFile has the certificates that vouch for the server, PEM; empty for those
	// of the system. CertFile and KeyFile are the client's own; empty for none.
	CAFile, CertFile, KeyFile string
}

// Encrypted says whether the connection must be.
func (id Identity) Encrypted() bool {
	return id.TLS || id.CAFile != "" || id.CertFile != "" || id.KeyFile != ""
}

// TLSConfig reads the files. It is nil when nothing asks for TLS and the address
// is not for it.
func (id Identity) TLSConfig(byAddress bool) (*tls.Config, error) {
	if !byAddress && !id.Encrypted() {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if id.CAFile != "" {
		pem, err := os.ReadFile(id.CAFile)
		if err != nil {
			return nil, fmt.Errorf("the file of certificates that vouch for the server: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate: it must be PEM", id.CAFile)
		}
	}
	if (id.CertFile == "") != (id.KeyFile == "") {
		return nil, fmt.Errorf("a client's certificate needs its key, and a key its certificate: name both files")
	}
	if id.CertFile != "" {
		pair, err := id.pair()
		if err != nil {
			return nil, fmt.Errorf("the client's certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// pair is the client's certificate with its key, which nobody else may read.
func (id Identity) pair() (tls.Certificate, error) {
	cert, err := os.ReadFile(id.CertFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := secret.ReadFile(id.KeyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
