package versitygw

import (
	"bytes"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is one life of the server.
type process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when it has ended
	ended error
}

func (s *Server) begin() error {
	p := &process{cmd: s.make(), done: make(chan struct{})}
	if err := p.run(); err != nil {
		return err
	}
	s.process, s.killed = p, false
	return nil
}

// Kill kills the server with SIGKILL and waits for its end.
func (s *Server) Kill() {
	s.killed = true
	_ = s.cmd.Process.Kill() // fails only if it has ended
	<-s.done
}

// Restart starts a server that was killed, at its address and with its objects, and
// returns when it takes connections.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	_, host, _ := strings.Cut(s.Endpoint, "://")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", host)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-s.done:
			t.Fatalf("versitygw does not start again: %v; it said: %s", s.ended, s.output.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("versitygw does not listen again: %v; it said: %s", err, s.output.String())
		}
	}
}

// output keeps what the process prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
