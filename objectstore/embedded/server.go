// Package embedded is an S3 server inside the process, the store of a run that
// names none.
//
// It keeps each object as a plain file <folder>/<bucket>/<key>, which
// objectstore.OpenFolder on <folder>/<bucket> reads when the server is gone.
// It answers racing conditional PUTs rightly, and stores no body that is
// shorter, longer or other than was announced: lengths, Content-MD5, SHA-256
// and checksums are verified, in trailers and chunks too, before an object gets
// its name. Content types and metadata are kept in memory only, as are MD5s for
// ETags, which are computed anew from the file when they are not there.
//
// It refuses to be a server for others: it listens on loopback, takes only
// requests that name a loopback host and come from no foreign web page, and
// knows one access key, made anew at each start. It does not verify signatures:
// the key is the secret. What it does not implement (versions, ACLs, tags,
// conditional completion of multipart uploads, …) it refuses by name.
//
// Its results are an in-process floor, never a result about a product.
package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"

	"queuebench/objectstore"
)

// Region is the region of the server's addresses; any is taken.
const Region = "us-east-1"

// Durability is what an acknowledged Put means here.
const Durability = "A stored object is a file in the operating system's cache of this host: it outlives this process, but not a crash or power loss of the host (no fsync)."

// closeTimeout bounds the wait for requests under way when the server closes.
const closeTimeout = 5 * time.Second

// Options say where the server keeps its objects and listens.
type Options struct {
	Dir  string // made if it is not there
	Addr string // loopback host and port; "" is a free port of 127.0.0.1
	// Log gets what the HTTP server has to report; nil for nobody.
	Log io.Writer
}

// Server is a running server.
type Server struct {
	dir      string
	endpoint string
	creds    objectstore.Credentials
	backend  *backend
	http     *http.Server
	served   chan error // Serve's result
	close    func() error
}

// Start starts a server. It runs until Close; ctx bounds the start only.
func Start(ctx context.Context, opt Options) (*Server, error) {
	dir, err := filepath.Abs(opt.Dir)
	if err != nil || opt.Dir == "" {
		return nil, errors.Join(errors.New("the embedded store needs a folder"), err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the embedded store's folder: %w", err)
	}
	if err := dropStaleUploads(filepath.Join(dir, uploadsDir)); err != nil {
		return nil, fmt.Errorf("the embedded store's folder: %w", err)
	}
	listener, err := listen(ctx, opt.Addr)
	if err != nil {
		return nil, err
	}
	accessKey, secret := "EMBEDDED"+rand.Text(), rand.Text()
	s := &Server{
		dir:      dir,
		endpoint: "http://" + listener.Addr().String(),
		creds:    objectstore.StaticCredentials(accessKey, secret, ""),
		backend:  newBackend(dir),
		served:   make(chan error, 1),
	}
	s.close = sync.OnceValue(s.shutdown)
	logTo := opt.Log
	if logTo == nil {
		logTo = io.Discard
	}
	front := gofakes3.New(s.backend, gofakes3.WithTimeSkewLimit(0), gofakes3.WithoutVersioning())
	s.http = &http.Server{
		Handler:           &guard{next: front.Server(), accessKey: accessKey},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(logTo, "embedded store: ", 0),
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// listen binds to loopback and to nothing else.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the embedded store's address %q is no host:port: %w", addr, err)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("the embedded store listens on loopback only, not on %s: it is no server for others", host)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("the embedded store cannot listen: %w", err)
	}
	return listener, nil
}

// Endpoint is the server's address, http://127.0.0.1:port.
func (s *Server) Endpoint() string { return s.endpoint }

// Credentials hold the one key that the server knows.
func (s *Server) Credentials() objectstore.Credentials { return s.creds }

// Address is the address of a bucket of the server and a prefix in it.
func (s *Server) Address(bucket, prefix string) objectstore.Address {
	return objectstore.Address{Bucket: bucket, Prefix: prefix, Endpoint: s.endpoint, Region: Region}
}

// Open opens a bucket of the server, and a prefix in it, through its S3 side.
func (s *Server) Open(ctx context.Context, bucket, prefix string) (objectstore.Store, error) {
	return objectstore.OpenAddress(ctx, s.Address(bucket, prefix), objectstore.Options{Credentials: s.creds, Durability: Durability})
}

// Folder is where the files of a bucket lie.
func (s *Server) Folder(bucket string) string { return filepath.Join(s.dir, bucket) }

// CreateBucket makes a bucket; one that is there already is no error.
func (s *Server) CreateBucket(name string) error {
	if err := gofakes3.ValidateBucketName(name); err != nil {
		return fmt.Errorf("bucket %q of the embedded store: %w", name, err)
	}
	if err := os.MkdirAll(s.Folder(name), 0o755); err != nil {
		return fmt.Errorf("bucket %q of the embedded store: %w", name, err)
	}
	return nil
}

// Close takes no more requests, waits up to 5 s for those under way, and ends
// all connections. It can be called twice and from several goroutines.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("closing the embedded store: %w", err), s.http.Close())
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, s.backend.close())
}
