package objectstore_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
)

// fault stands between the client and an embedded server.
type fault struct {
	mu       sync.Mutex
	requests []string // method and query
	// before may answer in the place of the server; after may lose or change
	// its answer.
	before func(*http.Request) *http.Response
	after  func(*http.Request, *http.Response) (*http.Response, error)
}

func (f *fault) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.RawQuery)
		f.mu.Unlock()
		if f.before != nil {
			if resp := f.before(r); resp != nil {
				resp.Request = r
				return resp, nil
			}
		}
		resp, err := next.RoundTrip(r)
		if err == nil && f.after != nil {
			return f.after(r, resp)
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, code string) *http.Response {
	body := "<Error><Code>" + code + "</Code><Message>says the store</Message></Error>"
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

func faulty(t *testing.T, f *fault) objectstore.Store {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s, err := objectstore.OpenAddress(t.Context(), server.Address("bucket", "p"), objectstore.Options{Credentials: server.Credentials(), HTTPTransport: f.wrap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objectstore.Close(s); server.Close() })
	return s
}

func TestEachVerbIsOneRequest(t *testing.T) {
	f := &fault{}
	s := faulty(t, f)
	one := func(name, want string, call func() error) {
		t.Helper()
		f.requests = nil
		if err := call(); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
			t.Fatal(err)
		}
		if len(f.requests) != 1 || !strings.HasPrefix(f.requests[0], want) {
			t.Errorf("%s made the requests %q", name, f.requests)
		}
	}
	ctx := t.Context()
	opt := objectstore.PutOptions{}
	if len(f.requests) != 0 {
		t.Errorf("Open made the requests %q", f.requests)
	}
	one("a missing object", "GET ", func() error { _, _, err := s.Get(ctx, "a"); return err })
	one("put", "PUT ", func() error { return s.Put(ctx, "a", []byte("x"), opt) })
	one("put if absent", "PUT ", func() error { return s.Put(ctx, "b", []byte("x"), objectstore.PutOptions{IfAbsent: true}) })
	one("put file", "PUT ", func() error { return s.PutFile(ctx, "f", strings.NewReader("x"), 1, opt) })
	one("get", "GET ", func() error { _, _, err := s.Get(ctx, "a"); return err })
	one("range", "GET ", func() error { _, _, err := s.GetRange(ctx, "a", 0, 1); return err })
	one("head", "HEAD ", func() error { _, err := s.Head(ctx, "a"); return err })
	one("list", "GET ", func() error {
		return s.List(ctx, objectstore.ListOptions{}, func(objectstore.Info) error { return nil })
	})
	one("list of a few", "GET ", func() error {
		return s.List(ctx, objectstore.ListOptions{Limit: 2}, func(objectstore.Info) error { return nil })
	})
	one("delete", "DELETE ", func() error { return s.Delete(ctx, "a") })
}

// The client may open a few connections more than there are requests at once,
// but not one for each request.
func TestConnectionsAreCountedAndReused(t *testing.T) {
	s := faulty(t, &fault{})
	each(t, 20, 400, func(int) error {
		_, _, err := s.Get(t.Context(), "missing")
		if errors.Is(err, objectstore.ErrNotFound) {
			return nil
		}
		return err
	})
	if n := s.Requests(); n.Open < 1 || n.Open > 100 || n.Miss != 400 {
		t.Errorf("counted %+v", n)
	}
	if err := objectstore.Close(s); err != nil {
		t.Error(err)
	}
	for range 500 {
		if s.Requests().Open == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d connections are open after Close", s.Requests().Open)
}

// A response that is lost after the store has committed is one failed request,
// not a second one that would meet the first one's object.
// What is changed on the way is refused by the store, and not stored.
func TestBodyChangedOnTheWayIsRefused(t *testing.T) {
	flip := func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				body[len(body)/2] ^= 1
				r = r.Clone(r.Context())
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			return next.RoundTrip(r)
		})
	}
	v := versitygw.Start(t)
	e, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	for address, creds := range map[string]objectstore.Credentials{
		v.Address("p"):                           objectstore.StaticCredentials(v.AccessKey, v.SecretKey, ""),
		"s3://bucket/p?endpoint=" + e.Endpoint(): e.Credentials(),
	} {
		s, err := objectstore.Open(t.Context(), address, objectstore.Options{Credentials: creds, HTTPTransport: flip})
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []objectstore.PutOptions{{}, {IfAbsent: true}} {
			if err := s.Put(t.Context(), "x", []byte("some bytes"), opt); err == nil {
				t.Errorf("%s: it took a body that was changed on the way", address)
			}
		}
		if err := s.PutFile(t.Context(), "x", strings.NewReader("some bytes"), 10, objectstore.PutOptions{}); err == nil {
			t.Errorf("%s: it took a file that was changed on the way", address)
		}
		_, _, err = s.Get(t.Context(), "x")
		wantErr(t, err, objectstore.ErrNotFound)
		objectstore.Close(s)
	}
}

func TestLostResponseIsNotTriedAgain(t *testing.T) {
	lost := errors.New("connection reset in the test")
	f := &fault{after: func(r *http.Request, resp *http.Response) (*http.Response, error) {
		if r.Method == http.MethodPut {
			resp.Body.Close()
			return nil, lost
		}
		return resp, nil
	}}
	s := faulty(t, f)
	err := s.Put(t.Context(), "k", []byte("mine"), objectstore.PutOptions{IfAbsent: true})
	if !errors.Is(err, lost) || errors.Is(err, objectstore.ErrExists) {
		t.Errorf("error is %v", err)
	}
	wantBody(t, s, "k", "mine")
	if n := s.Requests(); n.PutIfAbsent != 1 || n.Failed != 1 {
		t.Errorf("counted %+v", n)
	}
}

func TestFailuresAreNamed(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		kind   error
		say    string
		failed int64
	}{
		{503, "SlowDown", objectstore.ErrThrottled, "fewer requests", 1},
		{429, "TooManyRequests", objectstore.ErrThrottled, "fewer requests", 1},
		{409, "ConditionalRequestConflict", objectstore.ErrConflict, "tried again", 0},
		{412, "PreconditionFailed", objectstore.ErrExists, "", 0},
		{403, "AccessDenied", objectstore.ErrDenied, "s3:PutObject", 0},
		{403, "SignatureDoesNotMatch", objectstore.ErrDenied, "secret key", 0},
		{403, "RequestTimeTooSkewed", objectstore.ErrDenied, "clocks", 0},
		{400, "ExpiredToken", objectstore.ErrDenied, "new credentials", 0},
		{404, "NoSuchBucket", objectstore.ErrNoBucket, "create the bucket", 0},
		{501, "NotImplemented", nil, "conditional PUT", 1},
		{500, "InternalError", nil, "500 InternalError says the store", 1},
		{301, "PermanentRedirect", nil, "another region", 0},
	} {
		f := &fault{before: func(*http.Request) *http.Response { return answer(c.status, c.code) }}
		s := faulty(t, f)
		err := s.Put(t.Context(), "k", nil, objectstore.PutOptions{IfAbsent: true})
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "s3://bucket/p/k") {
			t.Errorf("%d %s: %v", c.status, c.code, err)
		}
		for _, kind := range []error{objectstore.ErrThrottled, objectstore.ErrConflict, objectstore.ErrExists, objectstore.ErrDenied, objectstore.ErrNoBucket, objectstore.ErrNotFound} {
			if kind != c.kind && errors.Is(err, kind) {
				t.Errorf("%d %s is also taken for %v", c.status, c.code, kind)
			}
		}
		if n := s.Requests(); n.Failed != c.failed || n.PutIfAbsent != 1 {
			t.Errorf("%d %s: counted %+v", c.status, c.code, n)
		}
		if len(f.requests) != 1 {
			t.Errorf("%d %s: %d requests", c.status, c.code, len(f.requests))
		}
	}
}

// minio-go waits 0 to 200 ms after a failure, also when it does not try again.
// On the clock of synctest a failure takes no time at all.
func TestFailureIsHeardOfAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failure := range []func() (*http.Response, error){
			func() (*http.Response, error) { return answer(503, "SlowDown"), nil },
			func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		} {
			s, err := objectstore.Open(t.Context(), "s3://bucket?endpoint=http://store.test", objectstore.Options{
				Credentials: objectstore.StaticCredentials("a", "b", ""),
				HTTPTransport: func(http.RoundTripper) http.RoundTripper {
					return roundTripper(func(*http.Request) (*http.Response, error) { return failure() })
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range 10 {
				_, _, err = s.Get(t.Context(), "k")
				if !errors.Is(err, objectstore.ErrThrottled) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
				if err = s.List(t.Context(), objectstore.ListOptions{}, func(objectstore.Info) error { return nil }); err == nil {
					t.Fatal("lists")
				}
			}
			if d := time.Since(began); d != 0 {
				t.Errorf("ten failures took %v", d)
			}
		}
	})
}

func TestTruncatedAnswerIsAnError(t *testing.T) {
	f := &fault{}
	s := faulty(t, f)
	put(t, s, "k", strings.Repeat("x", 5000))
	f.after = func(_ *http.Request, resp *http.Response) (*http.Response, error) {
		resp.Body = &brokenBody{resp.Body, 100}
		return resp, nil
	}
	_, _, err := s.Get(t.Context(), "k")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error is %v", err)
	}
	if n := s.Requests(); n.Failed != 1 || n.Get != 1 {
		t.Errorf("counted %+v", n)
	}
}

type brokenBody struct {
	io.ReadCloser
	left int
}

func (b *brokenBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
