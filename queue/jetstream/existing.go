package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// adopt takes from a stream of somebody else's how it is kept, for what is said of
// its acknowledgements.
func (q *Queue) adopt(ctx context.Context) error {
	s, err := q.js.Stream(ctx, q.cfg.Name)
	if err != nil {
		return fmt.Errorf("jetstream: the stream %s: %w; it must be there before the run begins", q.cfg.Name, err)
	}
	cfg := s.CachedInfo().Config
	q.cfg.Storage, q.cfg.Replicas, q.cfg.Async = File, cfg.Replicas, cfg.PersistMode == jetstream.AsyncPersistMode
	if cfg.Storage == jetstream.MemoryStorage {
		q.cfg.Storage = Memory
	}
	switch limited := cfg.MaxMsgs > 0 || cfg.MaxBytes > 0 || cfg.MaxAge > 0 || cfg.MaxMsgsPerSubject > 0; {
	case cfg.NoAck:
		q.caveat = "the stream acknowledges nothing (no_ack), so each message will have failed"
	case limited && cfg.Discard == jetstream.DiscardOld:
		q.caveat = "the stream drops its oldest messages beyond limits of its own"
	}
	return nil
}

// passOver notes where a stream of somebody else's ends, where its groups begin, and
// what is published to.
func (q *Queue) passOver(ctx context.Context) error {
	s, err := q.js.Stream(ctx, q.cfg.Name)
	if err != nil {
		return fmt.Errorf("jetstream: the stream %s: %w; it must be there before the run begins", q.cfg.Name, err)
	}
	info := s.CachedInfo()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = info.State.LastSeq + 1
	clear(q.joined)
	if q.cfg.Subject == "" {
		q.cfg.Subject = literal(info.Config.Subjects)
	}
	return nil
}

// literal is the first subject without wildcards; empty for none.
func literal(subjects []string) string {
	for _, s := range subjects {
		if !strings.ContainsAny(s, "*>") {
			return s
		}
	}
	return ""
}

// published is what the producer of an existing stream publishes to.
func (q *Queue) published() ([]string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cfg.Subject == "" {
		return nil, fmt.Errorf("jetstream: the stream %s has no subject without wildcards: name the one to publish to, --nats-subject", q.cfg.Name)
	}
	return []string{q.cfg.Subject}, nil
}

// leave removes the groups that this process made on a stream of somebody else's.
func (q *Queue) leave(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name := range q.joined {
		if err := q.js.DeleteConsumer(ctx, q.cfg.Name, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return fmt.Errorf("jetstream: removing group %s of the stream %s: %w", name, q.cfg.Name, err)
		}
		delete(q.joined, name)
	}
	return nil
}
