package jetstream

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"
)

// serverVariable makes the test binary a nats-server with the settings that it
// holds, as JSON, until its standard input ends. A process of its own can be
// killed, and its goroutines are not taken for ours.
const serverVariable = "JETSTREAM_TEST_SERVER"

type serverConfig struct {
	Dir           string
	Port, Monitor int // 0: a free one; Monitor -1: none
	SyncAlways    bool
	Plain         bool // without JetStream
	Token         string
	User          string
	Password      string
	CertFile      string
	KeyFile       string
	CAFile        string // of clients' certificates; empty: none is asked for
}

func TestMain(m *testing.M) {
	if text := os.Getenv(serverVariable); text != "" {
		if err := serve(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// serve prints the addresses and serves.
func serve(text string) error {
	var cfg serverConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	opts := &server.Options{
		Host: "127.0.0.1", Port: cfg.Port, HTTPHost: "127.0.0.1", HTTPPort: cfg.Monitor, JetStream: !cfg.Plain, StoreDir: cfg.Dir,
		SyncAlways: cfg.SyncAlways, NoSigs: true, NoLog: true, Authorization: cfg.Token, Username: cfg.User, Password: cfg.Password,
	}
	if cfg.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	switch cfg.Monitor {
	case 0:
		opts.HTTPPort = server.RANDOM_PORT
	case -1:
		opts.HTTPPort = 0
	}
	if cfg.CertFile != "" {
		tls, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cfg.CertFile, KeyFile: cfg.KeyFile, CaFile: cfg.CAFile, Verify: cfg.CAFile != ""})
		if err != nil {
			return err
		}
		opts.TLSConfig, opts.TLSTimeout = tls, 5
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return fmt.Errorf("the server did not start")
	}
	monitor := ""
	if a := s.MonitorAddr(); a != nil {
		monitor = "http://" + a.String()
	}
	fmt.Println(s.ClientURL())
	fmt.Println(monitor)
	io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// process is a server in a process of its own.
type process struct {
	cmd          *exec.Cmd
	stdin        io.Closer
	url, monitor string
	ended        bool
}

func start(t testing.TB, cfg serverConfig) *process {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), serverVariable+"="+string(text))
	p.cmd.Stderr = os.Stderr
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	lines := bufio.NewScanner(stdout)
	for _, s := range []*string{&p.url, &p.monitor} {
		if !lines.Scan() {
			t.Fatalf("the server did not start: %v", lines.Err())
		}
		*s = lines.Text()
	}
	return p
}

// stop ends the server in good order.
func (p *process) stop() {
	if !p.ended {
		p.ended = true
		p.stdin.Close()
		p.cmd.Wait()
	}
}

// kill ends it at once.
func (p *process) kill() {
	p.ended = true
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.stdin.Close()
}
