package jetstream

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/queuetest"
)

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

// headers are those that NATS can carry: lines of text, ordered within a name.
func headers(i int) []queue.Header {
	return [][]queue.Header{
		nil,
		{{Name: "a", Value: []byte("1")}},
		{{Name: "pathway_diff", Value: []byte("-1")}, {Name: "pathway_time", Value: fmt.Appendf(nil, "%d", i)}},
		{{Name: "empty"}, {Name: "twice", Value: []byte("x: y")}, {Name: "twice", Value: []byte("ü" + strings.Repeat("v", 300))}},
	}[i%4]
}

func TestConformance(t *testing.T) {
	url := start(t, serverConfig{}).url
	for name, cfg := range map[string]Config{
		"file":   {},
		"memory": {Storage: Memory, Partitions: 3, ReceiveMax: 7, MaxPending: 100},
	} {
		cfg.URL = url
		t.Run(name, func(t *testing.T) {
			queuetest.Run(t, func(t *testing.T) queue.Queue { return open(t, cfg) }, queuetest.Options{
				Quiet: 50 * time.Millisecond, Offsets: true, Retains: true, HeadersOf: headers, Competing: true, Healthy: true,
				Messages: 400,
				Stall: func(t *testing.T) queue.Queue {
					s := start(t, serverConfig{Monitor: -1})
					cfg := cfg
					cfg.URL = s.url
					return stalling{open(t, cfg), s}
				},
				Neighbours: func(t *testing.T) (short, long queue.Queue) {
					name := fmt.Sprintf("test-%d-1000", names.Add(1))
					with := cfg
					with.Name = name + "0"
					cfg := cfg
					cfg.Name = name
					return open(t, cfg), open(t, with)
				},
			})
		})
	}
}

// stalling is a queue whose server stands still once a producer is open, until
// the queue is removed.
type stalling struct {
	*Queue
	server *process
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
