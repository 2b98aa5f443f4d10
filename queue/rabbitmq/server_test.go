//go:build interop

package rabbitmq

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// node is a RabbitMQ server of a test's own, which can be killed and started again
// on its data.
type node struct {
	dir  string
	port int
	epmd int
	env  []string
	cmd  *exec.Cmd
}

// startNode starts a server on free ports of the loopback interface, with further
// lines of its configuration, in which PORT stands for the port that the test uses.
func startNode(t *testing.T, config ...string) *node {
	t.Helper()
	n := &node{dir: t.TempDir(), port: freePort(t), epmd: freePort(t)}
	plain := n.port
	if strings.Contains(strings.Join(config, "\n"), "PORT") {
		plain = freePort(t)
	}
	write := func(name, text string) string {
		path := filepath.Join(n.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := strings.ReplaceAll(strings.Join(config, "\n")+"\n", "PORT", fmt.Sprint(n.port))
	n.env = append(os.Environ(), "HOME="+n.dir, "ERL_EPMD_ADDRESS=127.0.0.1", fmt.Sprint("ERL_EPMD_PORT=", n.epmd), "RABBITMQ_CONF_ENV_FILE=/dev/null",
		fmt.Sprintf("RABBITMQ_NODENAME=queuebench-%d@localhost", n.port), "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", fmt.Sprint("RABBITMQ_NODE_PORT=", plain),
		fmt.Sprint("RABBITMQ_DIST_PORT=", freePort(t)), "RABBITMQ_MNESIA_BASE="+filepath.Join(n.dir, "mnesia"), "RABBITMQ_LOG_BASE="+filepath.Join(n.dir, "log"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+write("plugins", "[]."), "RABBITMQ_CONFIG_FILE="+strings.TrimSuffix(write("rabbitmq.conf", text), ".conf"))
	t.Cleanup(func() {
		n.kill()
		// Erlang's name server goes on without its node; it is this one's own.
		end := exec.Command("epmd", "-kill")
		end.Env = n.env
		_ = end.Run()
	})
	n.start(t)
	return n
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (n *node) start(t *testing.T) {
	t.Helper()
	n.cmd = exec.Command("/usr/lib/rabbitmq/bin/rabbitmq-server")
	n.cmd.Env, n.cmd.SysProcAttr = n.env, &syscall.SysProcAttr{Setpgid: true}
	log, err := os.OpenFile(filepath.Join(n.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		t.Fatalf("%v (Debian: apt-get install rabbitmq-server)", err)
	}
	log.Close()
	for range 3000 { // a busy host takes minutes
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.port))
		if err == nil {
			c.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(filepath.Join(n.dir, "server.log"))
	t.Fatalf("RabbitMQ did not start: %s", text)
}

// kill ends all processes of the server with SIGKILL.
func (n *node) kill() {
	if n.cmd == nil || n.cmd.Process == nil {
		return
	}
	_ = syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL) // fails only if they have ended
	_ = n.cmd.Wait()
	for range 3000 { // the server itself is no child of ours, and must not be taken for its successor
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.port))
		if err != nil {
			return
		}
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
}

// list is the file from which the server knows which quorum queues it has.
func (n *node) list(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.dir, "mnesia", "*", "quorum", "*", "names.dets"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the list of quorum queues is one of %q: %v", files, err)
	}
	return files[0]
}

// registered waits until a quorum queue is in that file, which the server writes some
// time after it has made the queue.
func (n *node) registered(t *testing.T, name string) {
	t.Helper()
	for range 600 {
		if text, err := os.ReadFile(n.list(t)); err == nil && bytes.Contains(text, []byte(name)) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the queue %s is not in %s after a minute", name, n.list(t))
}

// ctl is what rabbitmqctl prints for the server.
func (n *node) ctl(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("/usr/lib/rabbitmq/bin/rabbitmqctl", append([]string{"-q", "-n", fmt.Sprintf("queuebench-%d@localhost", n.port)}, args...)...)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("rabbitmqctl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// logged is what the server wrote of what it recovered and of what went wrong.
func (n *node) logged() string {
	files, _ := filepath.Glob(filepath.Join(n.dir, "log", "*.log"))
	var lines []string
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "[error]") || strings.Contains(line, "[warning]") || strings.Contains(line, "ecover") {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines[max(0, len(lines)-60):], "")
}
