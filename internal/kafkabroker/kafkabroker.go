// Package kafkabroker starts a real Apache Kafka (KRaft) as child processes, for
// tests against the broker itself.
//
// It runs scripts/kafka.sh, so that tests and scenarios have the same broker.
// Its data lie in the test's temporary folder, it listens on loopback only and
// ends with the test. Nodes can be killed with SIGKILL and started again. It
// keeps no client: what a broker says is for the test to ask.
package kafkabroker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// startTimeout bounds the start of a node: some 5 s on two quiet cores.
const startTimeout = 2 * time.Minute

// Options say what a cluster is like. The zero value is one node without
// security.
type Options struct {
	Nodes int // 1 if 0
	// Settings are further lines of server.properties, name=value. Where they
	// set listeners, {port.NAME} is the port of the listener NAME on each node,
	// and {dir} the node's folder.
	Settings []string
	// Listeners are names of listeners beside PLAINTEXT, for which ports are
	// kept: SSL, SASL_PLAINTEXT, SASL_SSL.
	Listeners []string
	// Users of SASL SCRAM, name:password.
	Users []string
	// Env are further variables of the nodes.
	Env []string
}

// Cluster is a running cluster.
type Cluster struct {
	Nodes []*Node
	// Took is how long it took to start: until every node took connections.
	Took time.Duration
}

// Node is a node of a cluster.
type Node struct {
	ID    int
	Ports map[string]int // by listener
	Dir   string

	args, env []string
	mu        sync.Mutex
	process   *process // nil: killed
}

// process is one life of a node.
type process struct {
	cmd    *exec.Cmd
	output output
	done   chan struct{} // closed when it has ended
	ended  error
}

// Start starts a cluster, which ends with the test.
func Start(t testing.TB, opt Options) *Cluster {
	t.Helper()
	script, err := script()
	if err != nil {
		t.Fatal(err)
	}
	// The jars are fetched before anything is timed.
	if out, err := exec.CommandContext(t.Context(), script, "jars").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for try := range 3 {
		c, err := start(t, script, opt)
		if err == nil {
			t.Logf("Apache Kafka: %d nodes started in %v", len(c.Nodes), c.Took.Round(time.Millisecond))
			return c
		}
		// Another program may have taken a port in between.
		t.Logf("Apache Kafka, try %d: %v", try+1, err)
	}
	t.Fatal("Apache Kafka does not start")
	return nil
}

func start(t testing.TB, script string, opt Options) (*Cluster, error) {
	began := time.Now()
	c := &Cluster{}
	listeners := append([]string{"PLAINTEXT", "CONTROLLER"}, opt.Listeners...)
	ports, err := freePorts(max(1, opt.Nodes) * len(listeners))
	if err != nil {
		return nil, err
	}
	var quorum []string
	for i := range max(1, opt.Nodes) {
		n := &Node{ID: i + 1, Ports: map[string]int{}, Dir: filepath.Join(t.TempDir(), "node")}
		for k, name := range listeners {
			n.Ports[name] = ports[i*len(listeners)+k]
		}
		quorum = append(quorum, fmt.Sprintf("%d@127.0.0.1:%d", n.ID, n.Ports["CONTROLLER"]))
		c.Nodes = append(c.Nodes, n)
	}
	t.Cleanup(func() {
		for _, n := range c.Nodes {
			if p := n.current(); p != nil {
				select {
				case <-p.done:
					t.Errorf("node %d of Apache Kafka ended during the test: %v; it said: %s", n.ID, p.ended, p.output.String())
				default:
				}
			}
			n.Kill()
		}
	})
	for _, n := range c.Nodes {
		n.args = []string{script, "node", "--dir", n.Dir, "--id", fmt.Sprint(n.ID), "--quorum", strings.Join(quorum, ","),
			"--port", fmt.Sprint(n.Ports["PLAINTEXT"]), "--controller-port", fmt.Sprint(n.Ports["CONTROLLER"])}
		for _, s := range opt.Settings {
			for name, port := range n.Ports {
				s = strings.ReplaceAll(s, "{port."+name+"}", fmt.Sprint(port))
			}
			n.args = append(n.args, strings.ReplaceAll(s, "{dir}", n.Dir))
		}
		// The first compiler alone: a short life does not pay the second back.
		n.env = append(append(os.Environ(), "KAFKA_JVM=-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1", "KAFKA_SCRAM="+strings.Join(opt.Users, ",")), opt.Env...)
		if err := n.begin(); err != nil {
			return nil, err
		}
	}
	for _, n := range c.Nodes {
		if err := n.ready(t.Context()); err != nil {
			for _, n := range c.Nodes {
				n.Kill()
			}
			return nil, err
		}
	}
	c.Took = time.Since(began)
	return c, nil
}

// Bootstrap is the bootstrap.servers of a listener.
func (c *Cluster) Bootstrap(listener string) string {
	var all []string
	for _, n := range c.Nodes {
		all = append(all, fmt.Sprintf("127.0.0.1:%d", n.Ports[listener]))
	}
	return strings.Join(all, ",")
}

// Kill kills the node with SIGKILL and waits for its end.
func (n *Node) Kill() {
	n.mu.Lock()
	p := n.process
	n.process = nil
	n.mu.Unlock()
	if p != nil {
		_ = p.cmd.Process.Kill() // fails only if it has ended
		<-p.done
	}
}

// Restart starts a node that was killed, with its data, and returns when it
// takes connections.
func (n *Node) Restart(ctx context.Context) error {
	if err := n.begin(); err != nil {
		return err
	}
	return n.ready(ctx)
}

func (n *Node) current() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

func (n *Node) begin() error {
	p := &process{cmd: exec.Command(n.args[0], n.args[1:]...), done: make(chan struct{})}
	p.cmd.Env = n.env
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.run(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process = p
	return nil
}

// ready waits until every listener of the node takes connections.
func (n *Node) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p := n.current()
	for name, port := range n.Ports {
		for {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				conn.Close()
				break
			}
			select {
			case <-p.done:
				return fmt.Errorf("node %d ended: %v; it said: %s", n.ID, p.ended, p.output.String())
			case <-ctx.Done():
				return fmt.Errorf("node %d does not listen (%s): %w; it said: %s", n.ID, name, err, p.output.String())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// Output is what the node printed in its present life: warnings and errors.
func (n *Node) Output() string {
	if p := n.current(); p != nil {
		return p.output.String()
	}
	return ""
}

// script is the path of scripts/kafka.sh.
func script() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module queuebench\n")) {
			return filepath.Join(dir, "scripts", "kafka.sh"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("kafkabroker: not inside of the module")
		}
		dir = parent
	}
}

// freePorts are loopback ports that nobody listened on a moment ago.
func freePorts(n int) (ports []int, err error) {
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	slices.Sort(ports)
	return ports, nil
}

// output keeps the end of what a node prints.
type output struct {
	mu sync.Mutex
	b  []byte
}

// outputKept is enough for a stack trace.
const outputKept = 16 << 10

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b = append(o.b, p...)
	if n := len(o.b) - outputKept; n > 0 {
		o.b = append([]byte("… "), o.b[n:]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.b)
}
