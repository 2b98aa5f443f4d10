package objectstore_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
)

// Both styles of naming a bucket, over TLS with an authority of one's own, on a
// server that is not ours. Names below the domain lead to loopback here, as they
// would by a DNS.
func TestStylesOverTLS(t *testing.T) {
	const domain = "store.test"
	gw := versitygw.StartWith(t, versitygw.Options{TLS: true, Domain: domain})
	pem, err := os.ReadFile(gw.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	hostPort := strings.TrimPrefix(gw.Endpoint, "https://")
	var hosts []string
	byName := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, hostPort)
		},
	}
	t.Cleanup(byName.CloseIdleConnections)
	_, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		t.Fatal(err)
	}
	creds := objectstore.StaticCredentials(gw.AccessKey, gw.SecretKey, "")
	for address, c := range map[string]struct {
		opt  objectstore.Options
		host string
	}{
		"s3://queuebench/p?endpoint=" + gw.Endpoint + "&region=us-east-1": {objectstore.Options{Credentials: creds, CAFile: gw.CAFile}, ""},
		"s3://queuebench/q?endpoint=https://" + domain + ":" + port + "&region=us-east-1&path-style=false": {objectstore.Options{Credentials: creds, HTTPTransport: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				hosts = append(hosts, r.URL.Host)
				return byName.RoundTrip(r)
			})
		}}, "queuebench." + domain + ":" + port},
	} {
		s, err := objectstore.Open(t.Context(), address, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := objectstore.Probe(t.Context(), s, "probe"); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if err := s.Put(t.Context(), "a/b c+d.txt", []byte("x"), objectstore.PutOptions{IfAbsent: true}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		body, _, err := s.Get(t.Context(), "a/b c+d.txt")
		if err != nil || string(body) != "x" {
			t.Errorf("%s: %q, %v", address, body, err)
		}
		for _, h := range hosts {
			if c.host != "" && h != c.host {
				t.Errorf("a request went to %s, expected %s", h, c.host)
			}
		}
		if err := objectstore.Close(s); err != nil {
			t.Error(err)
		}
	}
	if len(hosts) == 0 {
		t.Error("no request named the bucket in its host")
	}
	// Without the authority the certificate is not believed.
	s, err := objectstore.Open(t.Context(), "s3://queuebench?endpoint="+gw.Endpoint, objectstore.Options{Credentials: creds})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("an unknown authority: %v", err)
	}
}

// A bucket of S3 Express is reached in its zone, with a session. No server of
// that kind runs offline: what is sent is looked at.
func TestExpressBucketsAreReachedInTheirZone(t *testing.T) {
	const bucket = "queue--use1-az4--x-s3"
	for _, endpoint := range []string{"", "&endpoint=https://s3express-use1-az4.us-east-1.amazonaws.com&path-style=false"} {
		var asked []string
		express := func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.Method+" "+r.URL.Host+r.URL.Path+" "+r.Header.Get("X-Amz-S3session-Token"))
				if r.URL.Query().Has("session") {
					resp := answer(200, "")
					resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(`<CreateSessionResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Credentials><SessionToken>ticket</SessionToken><SecretAccessKey>s</SecretAccessKey><AccessKeyId>k</AccessKeyId><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></CreateSessionResult>`)), -1
					return resp, nil
				}
				return answer(404, ""), nil
			})
		}
		s, err := objectstore.Open(t.Context(), "s3://"+bucket+"/p?region=us-east-1"+endpoint, objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", ""), HTTPTransport: express})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, _, err = s.Get(t.Context(), "x")
			wantErr(t, err, objectstore.ErrNotFound)
		}
		host := bucket + ".s3express-use1-az4.us-east-1.amazonaws.com"
		want := []string{"GET " + host + "/ ", "GET " + host + "/p/x ticket", "GET " + host + "/p/x ticket"}
		if len(asked) != len(want) {
			t.Errorf("asked %q, expected %q", asked, want)
			continue
		}
		for i := range want {
			if asked[i] != want[i] {
				t.Errorf("asked %q, expected %q", asked[i], want[i])
			}
		}
	}
	if _, err := objectstore.Open(t.Context(), "s3://"+bucket, objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", "")}); err == nil || !strings.Contains(err.Error(), "the region is not known") {
		t.Errorf("without a region: %v", err)
	}
	a, err := objectstore.ParseAddress("s3://" + bucket)
	if err != nil || !a.IsExpress() {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := objectstore.ParseAddress("s3://x-s3--backup"); err != nil || a.IsExpress() {
		t.Errorf("%+v, %v", a, err)
	}
}
