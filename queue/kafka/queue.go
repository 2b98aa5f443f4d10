package kafka

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// Queue is a topic.
type Queue struct {
	cfg    Config
	client *kgo.Client // for what is asked of the cluster as a whole
	admin  *kadm.Client

	mu         sync.Mutex
	closed     bool
	made       bool // Create made the topic, or may have
	refused    bool // Create found a topic that is another's
	partitions int
	begins     map[int32]int64 // where an Existing topic begins for us; nil before Create
	guard      guarantee
	groups     map[string]*group
	producers  []*Producer
	consumers  []*Consumer
}

// New opens a queue. The cluster must answer; an Existing topic must be there.
func New(ctx context.Context, cfg Config) (*Queue, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.GroupPrefix == "" {
		cfg.GroupPrefix = "queuebench-" + strings.ToLower(rand.Text()[:10])
	}
	opts, err := cfg.Settings.common(nil)
	if err != nil {
		return nil, err
	}
	// What is asked of the cluster is asked to see a change: nothing older helps.
	client, err := kgo.NewClient(append(opts, kgo.MetadataMinAge(10*time.Millisecond))...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	q := &Queue{cfg: cfg, client: client, admin: kadm.NewClient(client), partitions: cfg.Partitions, groups: map[string]*group{}}
	if err := q.reach(ctx); err != nil {
		client.Close()
		return nil, err
	}
	if cfg.Existing {
		if err := q.look(ctx); err != nil {
			client.Close()
			return nil, err
		}
	}
	return q, nil
}

// reach asks any broker whether it is there.
func (q *Queue) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Settings.Dial)
	defer cancel()
	err := q.client.Ping(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("kafka: no broker answers at %s: %w; bootstrap.servers, security.protocol and the credentials must be those of a listener of the cluster",
		strings.Join(q.cfg.Settings.Brokers, ", "), err)
}

// look learns what an Existing topic is.
func (q *Queue) look(ctx context.Context) error {
	detail, err := q.settled(ctx, 0)
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.partitions = len(detail.Partitions)
	q.mu.Unlock()
	q.describe(ctx, detail)
	return nil
}

// Info describes the queue.
func (q *Queue) Info() queue.Info {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &q.cfg.Settings
	info := queue.Info{
		Kind: q.cfg.Kind, Partitions: q.partitions, Headers: true, Keys: true, InProcess: q.cfg.InProcess,
		StampResolution: time.Millisecond,
		Durability:      q.guard.sentence(&s.Producer),
		LosesNothing:    q.guard.losesNothing(&s.Producer),
		DeliversOnce:    s.deliversOnce(q.cfg.Reading),
	}
	if s.Producer.Transactional != "" {
		info.CommitInterval = s.Producer.CommitInterval
	}
	if q.cfg.InProcess {
		info.Durability = "In-process floor: the broker is a part of this program and keeps messages in memory, whatever acks says."
	}
	return info
}

func (q *Queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Close closes the producers and consumers that are open.
func (q *Queue) Close() error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	producers, consumers := slices.Clone(q.producers), slices.Clone(q.consumers)
	q.mu.Unlock()
	var closing sync.WaitGroup
	errs := make([]error, len(producers)+len(consumers))
	for i, p := range producers {
		closing.Go(func() { errs[i] = p.Close() })
	}
	for i, c := range consumers {
		closing.Go(func() { errs[len(producers)+i] = c.Close() })
	}
	closing.Wait()
	q.client.Close()
	return errors.Join(errs...)
}

// forget drops a producer or consumer that has closed.
func forget[T comparable](q *Queue, from *[]T, one T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*from = slices.DeleteFunc(*from, func(o T) bool { return o == one })
}
