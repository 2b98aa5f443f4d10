package versitygw

import (
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
	"testing"
	"time"
)

// Options are how a server differs from the usual one.
type Options struct {
	// TLS gives it a certificate of an authority of its own, whose certificate is
	// in Server.CAFile.
	TLS bool
	// Domain lets requests name a bucket in the host: BUCKET.Domain. The
	// certificate is good for these hosts, too.
	Domain string
	// Users are further ones, by their access keys, with their secret keys. What
	// each may do, Server.SetPolicy says: without a policy, nothing.
	Users map[string]string
}

// certify makes an authority and a certificate for loopback, and writes both to
// files.
func (s *Server) certify(t testing.TB, domain string) (certFile, keyFile string, err error) {
	dir := t.TempDir()
	write := func(name, kind string, der []byte) (string, error) {
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return "", "", err
	}
	if s.CAFile, err = write("ca.pem", "CERTIFICATE", caDER); err != nil {
		return "", "", err
	}
	if s.ca, err = x509.ParseCertificate(caDER); err != nil {
		return "", "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "versitygw"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if domain != "" {
		leaf.DNSNames = []string{domain, "*." + domain}
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return "", "", err
	}
	if certFile, err = write("cert.pem", "CERTIFICATE", leafDER); err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	keyFile, err = write("key.pem", "PRIVATE KEY", keyDER)
	return certFile, keyFile, err
}
