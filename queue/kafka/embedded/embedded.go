// Package embedded is a Kafka broker in this process, for a client's floor and
// for trying things out where no broker is installed: franz-go's kfake.
//
// It speaks the real protocol and keeps messages in memory. It refuses to be
// taken for a product: a queue on it says that it is in process, and no number
// of it says anything about Kafka.
package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"queuebench/queue"
	"queuebench/queue/kafka"
)

// Name is what names it in the place of servers.
const Name = "embedded"

// Open starts a broker of its own for a queue. The broker ends with the queue.
func Open(ctx context.Context, cfg kafka.Config) (queue.Queue, error) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("kafka: starting the embedded broker: %w", err)
	}
	cfg.Settings.Brokers = cluster.ListenAddrs()
	cfg.InProcess = true
	q, err := kafka.New(ctx, cfg)
	if err != nil {
		cluster.Close()
		return nil, err
	}
	return onEmbedded{q, cluster}, nil
}

// onEmbedded closes its broker, too.
type onEmbedded struct {
	queue.Queue
	cluster *kfake.Cluster
}

// Close closes the queue and then its broker.
func (q onEmbedded) Close() error {
	err := q.Queue.Close()
	q.cluster.Close()
	return err
}
