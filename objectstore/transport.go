package objectstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// dialTimeout bounds the wait for a connection and its TLS handshake.
	dialTimeout = 10 * time.Second
	// idleConns is how many connections are kept for reuse: at least as many
	// as there are requests in flight, or each one more pays for a new one.
	idleConns = 256
)

// newTransport makes the connections of one store, counted while they are open.
func newTransport(opt Options, counts *counters) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			counts.open.Add(1)
			return &countedConn{Conn: c, open: &counts.open}, nil
		},
		MaxIdleConns:        idleConns,
		MaxIdleConnsPerHost: idleConns,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: dialTimeout,
		// An object is handed out as it is stored, also when its content
		// encoding is gzip.
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: opt.Insecure},
	}
	if opt.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(opt.CAFile)
	if err != nil {
		return nil, fmt.Errorf("the file of certificate authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", opt.CAFile)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// countedConn takes itself off the count once, when it is closed.
type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// ReadFrom sends a request's body. One that lies in memory is handed to the
// system whole: net/http alone copies it, 32 kB at a time, and makes a system
// call for each.
func (c *countedConn) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if ok {
		if body, ok := limited.R.(io.WriterTo); ok {
			n, err := body.WriteTo(&limitedWriter{c.Conn, limited.N})
			limited.N -= n
			return n, err
		}
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// limitedWriter refuses what goes beyond a body's announced length.
type limitedWriter struct {
	w    io.Writer
	left int64
}

var errLongBody = errors.New("a request's body is longer than was announced")

func (l *limitedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		return 0, errLongBody
	}
	n, err := l.w.Write(p)
	l.left -= int64(n)
	return n, err
}

// attempt is one request of the store, carried in its context.
//
// minio-go sleeps up to 200 ms after a failed try even if it is not to try
// again, and keeps the text of some errors only. The transport therefore notes
// what truly happened and ends the attempt's context, which ends that sleep.
type attempt struct {
	cancel   context.CancelFunc
	requests int // a listing makes several
	err      error
}

type attemptKey struct{}

func withAttempt(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{}
	ctx, a.cancel = context.WithCancel(ctx)
	return context.WithValue(ctx, attemptKey{}, a), a
}

// countingTransport counts requests by kind and answers by their outcome.
type countingTransport struct {
	next   http.RoundTripper
	counts *counters
}

func (t *countingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if isUnpooled(req.Context()) {
		req = req.Clone(req.Context())
		req.Close = true
	}
	resp, err := t.next.RoundTrip(req)
	status := 0
	if err == nil {
		status = resp.StatusCode
	}
	// Who gave up a request (as with one of two that was to be faster) has not
	// been failed by the store.
	t.count(req, status, status == 0 && !errors.Is(req.Context().Err(), context.Canceled))
	a, _ := req.Context().Value(attemptKey{}).(*attempt)
	if a != nil {
		a.requests++
	}
	switch {
	case err != nil:
		if a != nil {
			a.err = err
			a.cancel()
		}
	case failedStatus(status):
		if a != nil {
			a.err = readFailure(resp)
			a.cancel()
		}
	default:
		resp.Body = &countedBody{ReadCloser: resp.Body, ctx: req.Context(), failed: &t.counts.failed}
	}
	return resp, err
}

// failedStatus says whether the store failed, rather than refused.
func failedStatus(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == 499
}

func (t *countingTransport) count(req *http.Request, status int, silent bool) {
	c := t.counts
	if silent || failedStatus(status) {
		c.failed.Add(1)
	}
	query := req.URL.Query()
	switch {
	case req.Method == http.MethodPut && req.Header.Get("If-None-Match") != "":
		c.putIfAbsent.Add(1)
	case req.Method == http.MethodPost && query.Has("delete"):
		c.del.Add(1)
	case req.Method == http.MethodPut, req.Method == http.MethodPost:
		c.put.Add(1)
	case req.Method == http.MethodHead:
		c.head.Add(1)
	case req.Method == http.MethodDelete:
		c.del.Add(1)
	case query.Has("list-type"):
		c.list.Add(1)
	case status == http.StatusNotFound:
		c.miss.Add(1)
	default:
		c.get.Add(1)
	}
}

// countedBody counts an answer that breaks off as failed.
type countedBody struct {
	io.ReadCloser
	ctx    context.Context // of the request
	failed *atomic.Int64
	done   bool
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !b.done {
		b.done = true
		if !errors.Is(b.ctx.Err(), context.Canceled) {
			b.failed.Add(1)
		}
	}
	return n, err
}

// readFailure turns the answer of a failing store into an error, and leaves
// its body to be read again.
func readFailure(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return failureOf(resp, body, err)
}

// failureOf is an answer as an error, whose body was read as far as err allowed.
func failureOf(resp *http.Response, body []byte, err error) error {
	failure := minio.ErrorResponse{}
	if err != nil || xml.Unmarshal(body, &failure) != nil {
		failure = minio.ErrorResponse{}
	}
	failure.StatusCode = resp.StatusCode
	if code := resp.Header.Get("X-Minio-Error-Code"); code != "" {
		failure.Code = code
	}
	if text := resp.Header.Get("X-Minio-Error-Desc"); text != "" {
		failure.Message = strings.Trim(text, `"`)
	}
	if failure.Region = strings.TrimSpace(failure.Region); failure.Region == "" {
		failure.Region = resp.Header.Get("X-Amz-Bucket-Region")
	}
	if failure.Message == "" {
		failure.Message = cmp.Or(strings.TrimPrefix(resp.Status, strconv.Itoa(resp.StatusCode)+" "), "no reason given")
	}
	return failure
}
