package objectstore_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/objectstore"
)

func TestProbeRefusesUnfitStores(t *testing.T) {
	check := func(name, say string, f *fault) {
		t.Helper()
		s := faulty(t, f)
		err := objectstore.Probe(t.Context(), s, "_probe")
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v; want it to say %q", name, err, say)
		}
		f.before, f.after = nil, nil
		wantList(t, s, objectstore.ListOptions{})
	}
	check("ignores the condition", "without conditional PUT", &fault{before: func(r *http.Request) *http.Response {
		r.Header.Del("If-None-Match")
		return nil
	}})
	check("does not implement it", "without conditional PUT", &fault{before: func(r *http.Request) *http.Response {
		if r.Header.Get("If-None-Match") != "" {
			return answer(501, "NotImplemented")
		}
		return nil
	}})
	check("always refuses", "without conditional PUT", &fault{before: func(r *http.Request) *http.Response {
		if r.Header.Get("If-None-Match") != "" {
			return answer(412, "PreconditionFailed")
		}
		return nil
	}})
	check("refuses and overwrites", "yet changed it", &fault{before: func(r *http.Request) *http.Response {
		r.Header.Del("If-None-Match")
		return nil
	}, after: func() func(*http.Request, *http.Response) (*http.Response, error) {
		var puts atomic.Int64
		return func(r *http.Request, resp *http.Response) (*http.Response, error) {
			if r.Method == http.MethodPut && puts.Add(1) == 2 {
				resp.Body.Close()
				return answer(412, "PreconditionFailed"), nil
			}
			return resp, nil
		}
	}()})
	check("answers a miss with 403", "s3:ListBucket", &fault{after: func(r *http.Request, resp *http.Response) (*http.Response, error) {
		if r.Method == http.MethodGet && resp.StatusCode == 404 {
			resp.Body.Close()
			return answer(403, "AccessDenied"), nil
		}
		return resp, nil
	}})
}

// A store that is busy or failing says nothing of what it can do: it is not
// called unfit, whichever of the two PUTs it is that fails.
func TestProbeOfABusyStore(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		kind   error
	}{
		{409, "ConditionalRequestConflict", objectstore.ErrConflict}, {503, "SlowDown", objectstore.ErrThrottled},
		{429, "TooManyRequests", objectstore.ErrThrottled}, {500, "InternalError", nil}, {403, "AccessDenied", objectstore.ErrDenied},
	} {
		for failing := range int64(2) {
			var puts atomic.Int64
			s := faulty(t, &fault{before: func(r *http.Request) *http.Response {
				if r.Method == http.MethodPut && puts.Add(1) == failing+1 {
					return answer(c.status, c.code)
				}
				return nil
			}})
			err := objectstore.Probe(t.Context(), s, "_probe")
			if err == nil || c.kind != nil && !errors.Is(err, c.kind) || strings.Contains(err.Error(), "without conditional PUT") || !strings.Contains(err.Error(), c.code) {
				t.Errorf("PUT %d answered %d: %v", failing+1, c.status, err)
			}
			wantList(t, s, objectstore.ListOptions{})
		}
	}
	lost := faulty(t, &fault{after: func(r *http.Request, resp *http.Response) (*http.Response, error) {
		if r.Method == http.MethodPut {
			resp.Body.Close()
			return nil, io.ErrUnexpectedEOF
		}
		return resp, nil
	}})
	if err := objectstore.Probe(t.Context(), lost, "_probe"); err == nil || strings.Contains(err.Error(), "without conditional PUT") {
		t.Errorf("a lost answer: %v", err)
	}
}

func TestStoresThatCannotBeReached(t *testing.T) {
	creds := objectstore.StaticCredentials("a", "b", "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	err = objectstore.CheckBucket(t.Context(), open(t, "s3://bucket?endpoint=http://"+closed, creds))
	if err == nil || !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("a closed port: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = objectstore.CheckBucket(ctx, open(t, "s3://bucket?endpoint=http://"+silent.Addr().String(), creds))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a silent server: %v", err)
	}
}

func TestRegionOfAmazonBucketIsFound(t *testing.T) {
	var hosts []string
	amazon := func(status int, region string) func(http.RoundTripper) http.RoundTripper {
		return func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				hosts = append(hosts, r.URL.Host)
				resp := answer(status, "AccessDenied")
				resp.Header.Set("X-Amz-Bucket-Region", region)
				return resp, nil
			})
		}
	}
	opt := objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", ""), HTTPTransport: amazon(403, "eu-central-1")}
	s, err := objectstore.Open(t.Context(), "s3://bucket-1/p", opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Address() != "s3://bucket-1/p?region=eu-central-1" || !strings.Contains(s.Durability(), "Amazon") {
		t.Errorf("opened %s: %s", s.Address(), s.Durability())
	}
	_, _, err = s.Get(t.Context(), "x")
	wantErr(t, err, objectstore.ErrDenied)
	if want := "bucket-1.s3.dualstack.eu-central-1.amazonaws.com"; hosts[len(hosts)-1] != want {
		t.Errorf("asks %q, want %s", hosts, want)
	}
	opt.HTTPTransport = amazon(404, "")
	_, err = objectstore.Open(t.Context(), "s3://bucket-1/p", opt)
	wantErr(t, err, objectstore.ErrNoBucket)
}

func TestStyleOfRequests(t *testing.T) {
	var got string
	record := func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r.URL.Host + r.URL.Path
			return answer(404, "NoSuchKey"), nil
		})
	}
	for address, want := range map[string]string{
		"s3://buck/p?endpoint=http://store.test:9000":                  "store.test:9000/buck/p/k",
		"s3://buck/p?endpoint=http://store.test:9000&path-style=false": "buck.store.test:9000/p/k",
		"s3://buck/p?region=eu-west-1":                                 "buck.s3.dualstack.eu-west-1.amazonaws.com/p/k",
		"s3://buck/p?region=eu-west-1&path-style=true":                 "s3.dualstack.eu-west-1.amazonaws.com/buck/p/k",
	} {
		s, err := objectstore.Open(t.Context(), address, objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", ""), HTTPTransport: record})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.Get(t.Context(), "k")
		wantErr(t, err, objectstore.ErrNotFound)
		if got != want {
			t.Errorf("%s asks %s, want %s", address, got, want)
		}
	}
	if _, err := objectstore.Open(t.Context(), "s3://3s?endpoint=http://store.test", objectstore.Options{Credentials: objectstore.Anonymous()}); err == nil || !strings.Contains(err.Error(), "3 characters") {
		t.Errorf("a bucket that S3 does not allow: %v", err)
	}
}

// A bucket of S3 Express lists in no order and knows no start-after: what comes
// before is left out here.
func TestDirectoryBucketsAreListedFromAStart(t *testing.T) {
	var query string
	list := func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			query = r.URL.RawQuery
			resp := answer(200, "")
			resp.Body = io.NopCloser(strings.NewReader(`<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p/log/3</Key></Contents><Contents><Key>p/log/1</Key></Contents><Contents><Key>p/log/2</Key></Contents></ListBucketResult>`))
			resp.ContentLength = -1
			return resp, nil
		})
	}
	for bucket, wants := range map[string]string{"queue--use1-az4--x-s3": "log/2 log/3", "queue": "log/1 log/2 log/3"} {
		s, err := objectstore.Open(t.Context(), "s3://"+bucket+"/p?endpoint=http://store.test:9000", objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", ""), HTTPTransport: list})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := s.List(t.Context(), objectstore.ListOptions{Prefix: "log/", Delimiter: "/", After: "log/1"}, func(i objectstore.Info) error { got = append(got, i.Key); return nil }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != wants || strings.Contains(query, "start-after") != (bucket == "queue") {
			t.Errorf("%s: listed %v with %s", bucket, got, query)
		}
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	pemBytes := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, pemBytes, 0o600); err != nil {
		t.Fatal(err)
	}
	get := func(endpoint string, opt objectstore.Options) error {
		t.Helper()
		opt.Credentials = objectstore.Anonymous()
		s, err := objectstore.Open(t.Context(), "s3://bucket?endpoint="+endpoint, opt)
		if err != nil {
			return err
		}
		defer objectstore.Close(s)
		_, _, err = s.Get(t.Context(), "x")
		return err
	}
	wantErr(t, get(server.URL, objectstore.Options{CAFile: ca}), objectstore.ErrNotFound)
	wantErr(t, get(server.URL, objectstore.Options{Insecure: true}), objectstore.ErrNotFound)
	for say, err := range map[string]error{
		"not trusted":  get(server.URL, objectstore.Options{}),
		"no such file": get(server.URL, objectstore.Options{CAFile: ca + ".absent"}),
		"PEM":          get(server.URL, objectstore.Options{CAFile: "fault_test.go"}),
		"http://":      get("https://"+plainServer(t), objectstore.Options{}),
	} {
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("error %v does not say %q", err, say)
		}
	}
}

// plainServer is the host of a server without TLS.
func plainServer(t *testing.T) string {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
