//go:build interop

package kafka

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/kafkabroker"
	"queuebench/queue"
	"queuebench/queue/kafka"
	"queuebench/queue/queuetest"
)

// TestOneBroker has all that one broker is enough for, since starting it takes
// longer than most of the tests.
func TestOneBroker(t *testing.T) {
	s := newSecrets(t)
	b := kafkabroker.Start(t, s.options())
	t.Run("Conformance", func(t *testing.T) { conformance(t, b.Bootstrap("PLAINTEXT")) })
	t.Run("Security", func(t *testing.T) { security(t, b, s) })
	t.Run("ForeignClient", func(t *testing.T) { foreignClient(t, b.Bootstrap("PLAINTEXT")) })
	t.Run("RunningSum", func(t *testing.T) { runningSum(t, b.Bootstrap("PLAINTEXT")) })
	t.Run("Burst", func(t *testing.T) { burst(t, b.Bootstrap("PLAINTEXT")) })
}

var topics atomic.Int64

// topicName is one that no other test has.
func topicName(prefix string) string {
	return fmt.Sprintf("%s-%d", prefix, topics.Add(1))
}

// config is that of a fresh topic.
func config(bootstrap string) kafka.Config {
	cfg := kafka.Config{Settings: kafka.Defaults(), Topic: topicName("topic")}
	if _, err := cfg.Settings.Set("bootstrap.servers", bootstrap); err != nil {
		panic(err) // an address of ours
	}
	cfg.Settings.Producer.Linger = time.Millisecond
	cfg.Settings.Consumer.FetchWait = 50 * time.Millisecond
	cfg.Settings.Consumer.Heartbeat = 200 * time.Millisecond
	return cfg
}

func open(t testing.TB, cfg kafka.Config) *kafka.Queue {
	t.Helper()
	q, err := kafka.New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func conformance(t *testing.T, bootstrap string) {
	for name, change := range map[string]func(*kafka.Config){
		"default": func(*kafka.Config) {},
		"partitions": func(c *kafka.Config) {
			c.Partitions, c.MaxBacklog = 3, 100
			c.Settings.Consumer.Assignment, c.Settings.Consumer.Commit = []string{"cooperative-sticky"}, kafka.CommitBatch
		},
		"transactions": func(c *kafka.Config) {
			c.Settings.Producer.Transactional, c.Settings.Producer.CommitInterval = "tx", 10*time.Millisecond
			c.Settings.Producer.Compression = "zstd"
		},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := func(t *testing.T) queue.Queue {
				cfg := config(bootstrap)
				change(&cfg)
				return open(t, cfg)
			}
			queuetest.Run(t, fresh, queuetest.Options{
				Timeout: time.Minute, Quiet: 200 * time.Millisecond, Offsets: true, Keys: true, Retains: true, Largest: 900_000, Messages: 500,
				Neighbours: func(t *testing.T) (queue.Queue, queue.Queue) {
					short, long := config(bootstrap), config(bootstrap)
					short.Topic, long.Topic = short.Topic+"-1000", short.Topic+"-10000"
					change(&short)
					change(&long)
					return open(t, short), open(t, long)
				},
			})
		})
	}
}
