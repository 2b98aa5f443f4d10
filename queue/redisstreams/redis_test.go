//go:build interop

package redisstreams

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/broker"
	"queuebench/queue/queuetest"
)

// server is a redis-server in a process of its own.
type server struct {
	cmd  *exec.Cmd
	port int
	args []string
}

// start starts a redis-server on a free port with its data in a folder of the
// test.
func start(t testing.TB, settings ...string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	s.args = append([]string{"--bind", "127.0.0.1", "--port", fmt.Sprint(s.port), "--dir", t.TempDir(), "--save", ""}, settings...)
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("%v (Debian: apt-get install redis-server)", err)
	}
	for range 500 {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("redis-server did not start")
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGCONT)
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func (s *server) url() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", s.port) }

var names atomic.Int64

func open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = fmt.Sprintf("test-%d", names.Add(1))
	}
	q, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

// stalling is a queue whose server stands still once a producer is open, until
// the queue is removed.
type stalling struct {
	*Queue
	server *server
}

func (s stalling) Producer(ctx context.Context, cfg queue.ProducerConfig) (queue.Producer, error) {
	p, err := s.Queue.Producer(ctx, cfg)
	if err == nil {
		err = s.server.cmd.Process.Signal(syscall.SIGSTOP)
	}
	if err == nil { // a busy host may take its time
		_, err = syscall.Wait4(s.server.cmd.Process.Pid, nil, syscall.WUNTRACED, nil)
	}
	return p, err
}

func (s stalling) Remove(ctx context.Context) error {
	if err := s.server.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	return s.Queue.Remove(ctx)
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      Config
		settings []string
	}{
		"always": {Config{}, []string{"--appendonly", "yes", "--appendfsync", "always"}},
		"memory": {Config{Partitions: 3, ReceiveMax: 7, Pipeline: 10, MaxPending: 100}, []string{"--appendonly", "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := c.cfg
			cfg.URL = start(t, c.settings...).url()
			queuetest.Run(t, func(t *testing.T) queue.Queue { return open(t, cfg) }, queuetest.Options{
				Offsets: true, Keys: true, Retains: true, Competing: true, Healthy: true,
				Neighbours: func(t *testing.T) (short, long queue.Queue) {
					name := fmt.Sprintf("test-%d-1000", names.Add(1))
					with := cfg
					with.Name = name + "0"
					cfg := cfg
					cfg.Name = name
					return open(t, cfg), open(t, with)
				},
				Stall: func(t *testing.T) queue.Queue {
					s := start(t)
					cfg := cfg
					cfg.URL = s.url()
					return stalling{open(t, cfg), s}
				},
			})
		})
	}
}

func TestDurabilityIsWhatTheServerSays(t *testing.T) {
	for says, c := range map[string]struct {
		settings []string
		cfg      Config
		safe     bool
	}{
		"synced to disk (appendfsync always)": {[]string{"--appendonly", "yes", "--appendfsync", "always"}, Config{}, true},
		"about the last second":               {[]string{"--appendonly", "yes"}, Config{}, false},
		"(appendfsync no)":                    {[]string{"--appendonly", "yes", "--appendfsync", "no"}, Config{}, false},
		"memory only (appendonly no)":         {nil, Config{}, false},
		`(save "3600 1")`:                     {[]string{"--save", "3600 1"}, Config{}, false},
		"evicts keys":                         {[]string{"--appendonly", "yes", "--appendfsync", "always", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}, Config{}, false},
		"(WAIT 1 200)":                        {nil, Config{Wait: 1, WaitTimeout: 200 * time.Millisecond}, false},
		"(NOACK)":                             {nil, Config{NoAck: true}, false},
		"(MAXLEN)":                            {nil, Config{MaxLen: 10}, false},
		"CONFIG GET is refused":               {[]string{"--rename-command", "CONFIG", ""}, Config{}, false},
	} {
		s := start(t, c.settings...)
		c.cfg.URL = s.url()
		q := open(t, c.cfg)
		info := q.Info()
		if !strings.Contains(info.Durability, says) && !(says == `(save "3600 1")` && strings.Contains(info.Durability, `save "3600 1"`)) {
			t.Errorf("the durability is %q, not with %q", info.Durability, says)
		}
		if info.LosesNothing != c.safe || !strings.Contains(info.Durability, "(Redis 7") && !strings.Contains(info.Durability, "(Redis ") {
			t.Errorf("%s: %+v", says, info)
		}
		q.Close()
		s.stop()
	}
}

// Without the replicas that WAIT asks for, a message has failed, although the
// server has it.
func TestTooFewReplicasAreAFailure(t *testing.T) {
	q := open(t, Config{URL: start(t).url(), Wait: 1, WaitTimeout: 50 * time.Millisecond})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []queue.Ack
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func(a []queue.Ack) { got = append(got, a...) }})
	if err != nil {
		t.Fatal(err)
	}
	p.Send(t.Context(), []queue.Message{{Payload: []byte("x")}})
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "0 of 1 replicas") {
		t.Errorf("the fates are %+v", got)
	}
}

func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	q := open(t, Config{URL: start(t).url(), Name: "theirs"})
	if err := q.client.Set(t.Context(), "theirs:0", "precious", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("Create over keys of others: %v", err)
	}
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if v := q.client.Get(t.Context(), "theirs:0").Val(); v != "precious" {
		t.Errorf("the key of others is %q", v)
	}
}

func TestPasswords(t *testing.T) {
	s := start(t, "--requirepass", "secret")
	open(t, Config{URL: s.url(), Identity: broker.Identity{Password: secret.Of("secret")}})
	if _, err := New(t.Context(), Config{URL: s.url(), Name: "x", Identity: broker.Identity{Password: secret.Of("wr0ng")}}); err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("the error is %v", err)
	}
}

// What a killed run left is removed, and neither what is not wanted nor what
// somebody else made under such a name.
func TestRemoveStreams(t *testing.T) {
	cfg := Config{URL: start(t).url(), Partitions: 3}
	var q *Queue
	for _, name := range []string{"run-a-1", "run-a-2", "run-a-10", "run-ab-1"} {
		cfg.Name = name
		q = open(t, cfg)
		if err := q.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, key := range q.keys {
			q.client.Do(t.Context(), "XADD", key, "*", "p", "x")
		}
	}
	for key, value := range map[string]string{"run-a-3:owner": "somebody", "run-a-3:0": "theirs", "run-a-1:notes": "theirs", "run-a-1:01": "theirs"} {
		if err := q.client.Set(t.Context(), key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	wanted := func(name string) bool { return strings.HasPrefix(name, "run-a-") && name != "run-a-10" }
	// Groups on a stream of somebody else's: of the run, of another, and theirs.
	for _, group := range []string{"run-a-1-group-0", "run-a-10-group-0", "group-0", "theirs"} {
		if err := q.client.XGroupCreateMkStream(t.Context(), "orders", group, "$").Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][2]int{{2, 1}, {0, 0}} {
		if names, groups, err := RemoveStreams(t.Context(), cfg, "run-a-", wanted); [2]int{names, groups} != want || err != nil {
			t.Errorf("%d names and %d groups were removed, want %d: %v", names, groups, want, err)
		}
	}
	if left, err := q.client.XInfoGroups(t.Context(), "orders").Result(); err != nil || len(left) != 3 {
		t.Errorf("the stream of others has the groups %+v, %v", left, err)
	}
	keys, err := q.client.Keys(t.Context(), "*").Result()
	if want := 2*4 + 4 + 1; err != nil || len(keys) != want {
		t.Errorf("%d keys are left, want %d: %q, %v", len(keys), want, keys, err)
	}
}

// A stream of somebody else's is read from where it ends and written to, and is
// there afterwards with all that lay in it, but for our groups.
func TestAnExistingStream(t *testing.T) {
	cfg := Config{URL: start(t).url(), Name: "theirs", Existing: true, GroupPrefix: "run-1-", PayloadField: "body"}
	q := open(t, cfg)
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Fatalf("without the stream: %v", err)
	}
	add := func(fields ...any) {
		if err := q.client.Do(t.Context(), append([]any{"XADD", "theirs", "*"}, fields...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	add("body", "before")
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	add("other", "x")
	var stamp int64
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func(as []queue.Ack) { stamp = as[0].BrokerNs }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("ours"), Key: []byte("k")}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) < 2 {
		batch, err := c.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			if got = append(got, string(d.Payload)); string(d.Payload) == "ours" && (d.BrokerNs != stamp || stamp == 0) {
				t.Errorf("the stamp is %d, the acknowledgement had %d", d.BrokerNs, stamp)
			}
		}
	}
	if strings.Join(got, ",") != ",ours" {
		t.Errorf("received %q", got)
	}
	c.Close()
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	groups, gerr := q.client.XInfoGroups(t.Context(), "theirs").Result()
	if n, err := q.client.XLen(t.Context(), "theirs").Result(); n != 3 || err != nil || len(groups) != 0 || gerr != nil {
		t.Errorf("%d entries and %d groups are left: %v, %v", n, len(groups), err, gerr)
	}
}
