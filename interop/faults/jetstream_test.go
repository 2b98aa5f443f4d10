//go:build unix

package faults

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serverVariable makes the test's program a JetStream server, of a port and a folder,
// until its standard input ends.
const serverVariable = "FAULTS_TEST_JETSTREAM"

func serveJetStream(text string) error {
	port, dir, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: n, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return fmt.Errorf("the server did not start")
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// jetStream is a server in a process of its own.
type jetStream struct {
	port  int
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
}

func startJetStream(t testing.TB) *jetStream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &jetStream{port: l.Addr().(*net.TCPAddr).Port, dir: t.TempDir()}
	l.Close()
	s.begin(t)
	t.Cleanup(s.kill)
	return s
}

func (s *jetStream) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.port) }

// begin starts it, with what is in its folder.
func (s *jetStream) begin(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", serverVariable, s.port, s.dir))
	s.cmd.Stderr = os.Stderr
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		s.stdin, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("the JetStream server does not start: %v", err)
	}
}

func (s *jetStream) kill() {
	_ = s.cmd.Process.Kill() // fails only if it has ended
	_ = s.cmd.Wait()
	_ = s.stdin.Close()
}
