// Package versitygw starts a versitygw S3 server as a child process, for tests
// that need an S3 server which is not ours.
//
// Its objects lie in the test's temporary folder, it listens on loopback only,
// has fresh keys, and ends with the test. The package never installs anything:
// where the program is absent the test fails and says how to get it.
package versitygw

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bucket is the bucket that a new server has.
const Bucket = "queuebench"

// Region is the region that requests are signed for.
const Region = "us-east-1"

// Server is a running versitygw.
type Server struct {
	Endpoint  string // http://127.0.0.1:port
	AccessKey string
	SecretKey string
	Bucket    string // Bucket
	Dir       string // objects lie below Dir/bucket as plain files
	CAFile    string // of its authority; empty without TLS
	ca        *x509.Certificate

	client *minio.Client
	output output
	make   func() *exec.Cmd // of a process
	*process
	killed bool
}

// Start starts a server with a bucket. It ends when the test does.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith is Start of a server that differs from the usual one.
func StartWith(t testing.TB, opt Options) *Server {
	t.Helper()
	program, err := Program()
	if err != nil {
		t.Fatal(err)
	}
	for try := range 3 {
		s, err := start(t, program, opt)
		if err == nil {
			return s
		}
		// Another program may have taken the port in between.
		t.Logf("versitygw, try %d: %v", try+1, err)
	}
	t.Fatal("versitygw does not start")
	return nil
}

// Address is the address of the server's bucket and a prefix in it, as
// objectstore.Open takes it.
func (s *Server) Address(prefix string) string {
	return "s3://" + s.Bucket + "/" + prefix + "?endpoint=" + s.Endpoint + "&region=" + Region
}

// Environ is the environment by which a command finds the server's keys.
func (s *Server) Environ() []string {
	return []string{"MINIO_S3_ACCESS_KEY=" + s.AccessKey, "MINIO_S3_SECRET_ACCESS_KEY=" + s.SecretKey}
}

// CreateBucket makes another bucket.
func (s *Server) CreateBucket(t testing.TB, name string) {
	t.Helper()
	if err := s.client.MakeBucket(t.Context(), name, minio.MakeBucketOptions{}); err != nil {
		t.Fatalf("versitygw: creating bucket %s: %v", name, err)
	}
}

// Program is the path of the program: $VERSITYGW, else in the module's .tools.
func Program() (string, error) {
	if p := os.Getenv("VERSITYGW"); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("$VERSITYGW: %w", err)
		}
		return p, nil
	}
	const get = `get it with: GOBIN=$PWD/.tools go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 (in the module's root; "make test" does so)`
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module queuebench\n")) {
			p := filepath.Join(dir, ".tools", "versitygw")
			if _, err := os.Stat(p); err != nil {
				return "", fmt.Errorf("versitygw is not there: %w; %s", err, get)
			}
			return p, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("versitygw: not inside of the module; set $VERSITYGW, or " + get)
		}
		dir = parent
	}
}

func start(t testing.TB, program string, opt Options) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{
		Endpoint:  "http://" + port,
		AccessKey: "test" + rand.Text(),
		SecretKey: rand.Text(),
		Bucket:    Bucket,
		Dir:       t.TempDir(),
	}
	// Without --keep-alive it closes the connection after each answer, and
	// every request pays for a new one.
	args := []string{"--port", port, "--keep-alive", "--quiet", "--region", Region}
	if opt.Domain != "" {
		args = append(args, "--virtual-domain", opt.Domain)
	}
	if opt.TLS {
		s.Endpoint = "https://" + port
		cert, key, err := s.certify(t, opt.Domain)
		if err != nil {
			return nil, err
		}
		args = append(args, "--cert", cert, "--key", key)
	}
	if len(opt.Users) > 0 {
		dir, err := writeUsers(t, opt.Users)
		if err != nil {
			return nil, err
		}
		args = append(args, "--iam-dir", dir)
	}
	args = append(args, "posix")
	if !xattrs(s.Dir) {
		args = append(args, "--sidecar", t.TempDir())
	}
	s.make = func() *exec.Cmd {
		cmd := exec.Command(program, append(args, s.Dir)...)
		cmd.Dir = s.Dir
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
		cmd.Stdout, cmd.Stderr = &s.output, &s.output
		return cmd
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	if err := s.ready(t.Context(), port); err != nil {
		s.Kill()
		return nil, fmt.Errorf("%w; it said: %s", err, s.output.String())
	}
	t.Cleanup(func() {
		select {
		case <-s.done:
			if !s.killed {
				t.Errorf("versitygw ended during the test: %v; it said: %s", s.ended, s.output.String())
			}
		default:
			s.Kill()
		}
	})
	return s, nil
}

// freePort is a loopback address that nobody listened on a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// ready waits until the server answers, then makes the bucket.
func (s *Server) ready(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	if s.ca != nil {
		pool := x509.NewCertPool()
		pool.AddCert(s.ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	var err error
	s.client, err = minio.New(host, &minio.Options{
		Creds:      credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""),
		Region:     Region,
		Secure:     s.ca != nil,
		Transport:  transport,
		MaxRetries: 1,
	})
	if err != nil {
		return err
	}
	for {
		if err = s.client.MakeBucket(ctx, Bucket, minio.MakeBucketOptions{}); err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("it ended: %v", s.ended)
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
