package kafka

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
	"queuebench/queue/queuetest"
)

// cluster is a fake one in this process.
func cluster(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var topics atomic.Int64

// config is that of a fresh topic of a cluster.
func config(c *kfake.Cluster) Config {
	cfg := Config{Settings: Defaults(), Topic: fmt.Sprintf("topic-%d", topics.Add(1))}
	cfg.Settings.Brokers = c.ListenAddrs()
	cfg.Settings.Producer.Linger = time.Millisecond
	cfg.Settings.Consumer.FetchWait = 50 * time.Millisecond
	cfg.Settings.Consumer.Heartbeat = 50 * time.Millisecond
	cfg.Settings.Backoff = 10 * time.Millisecond
	return cfg
}

func open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	q, err := New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"default": func(*Config) {},
		"partitions": func(c *Config) {
			c.Partitions, c.MaxBacklog = 3, 100
			c.Settings.Consumer.Assignment, c.Settings.Consumer.Commit = []string{"cooperative-sticky"}, CommitBatch
		},
		"transactions": func(c *Config) {
			c.Settings.Producer.Transactional, c.Settings.Producer.CommitInterval = "tx", 10*time.Millisecond
			c.Settings.Producer.BufferMessages, c.Settings.Producer.Compression = 50, "zstd"
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := cluster(t)
			fresh := func(t *testing.T) queue.Queue {
				cfg := config(k)
				change(&cfg)
				return open(t, cfg)
			}
			opt := queuetest.Options{
				Quiet: 100 * time.Millisecond, Offsets: true, Keys: true, Retains: true, Largest: 900_000, Messages: 500,
				IgnoreGoroutines: []string{"github.com/twmb/franz-go/pkg/kfake"},
				Neighbours: func(t *testing.T) (queue.Queue, queue.Queue) {
					short, long := config(k), config(k)
					short.Topic, long.Topic = short.Topic+"-1000", short.Topic+"-10000"
					change(&short)
					change(&long)
					return open(t, short), open(t, long)
				},
				Stall: func(t *testing.T) queue.Queue {
					stalled := cluster(t)
					stalled.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
						stalled.KeepControl()
						stalled.SleepControl(func() { <-t.Context().Done() })
						return nil, nil, false
					})
					cfg := config(stalled)
					change(&cfg)
					return open(t, cfg)
				},
			}
			queuetest.Run(t, fresh, opt)
		})
	}
}
