package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Create makes the topic. One that this queue made before is removed first; one
// that was there already is another's, and an error. An Existing topic is left
// as it is, and what lies in it is of no concern from now on.
func (q *Queue) Create(ctx context.Context) error {
	if q.isClosed() {
		return errClosed
	}
	if q.cfg.Existing {
		return q.passOver(ctx)
	}
	if err := q.clear(ctx); err != nil {
		return err
	}
	settings := map[string]*string{}
	for name, value := range q.cfg.TopicSettings {
		settings[name] = &value
	}
	replicas := int16(-1)
	if q.cfg.Replication > 0 {
		replicas = int16(q.cfg.Replication)
	}
	q.mu.Lock()
	q.made = true // the answer may be lost
	q.mu.Unlock()
	r, err := q.admin.CreateTopic(ctx, int32(q.cfg.Partitions), replicas, settings, q.cfg.Topic)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) { // it was not there: an answer was lost
		why := ""
		if r.ErrMessage != "" {
			why = ": " + r.ErrMessage
		}
		return fmt.Errorf("kafka: creating topic %s with %d partitions%s: %w%s", q.cfg.Topic, q.cfg.Partitions, q.replicated(), err, why)
	}
	detail, err := q.settled(ctx, q.cfg.Partitions)
	if err != nil {
		return err
	}
	q.describe(ctx, detail)
	return nil
}

func (q *Queue) replicated() string {
	if q.cfg.Replication == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d replicas", q.cfg.Replication)
}

// clear removes what this queue made, and refuses what it did not.
func (q *Queue) clear(ctx context.Context) error {
	q.mu.Lock()
	made := q.made
	q.mu.Unlock()
	if made {
		return q.removeTopic(ctx)
	}
	_, err := q.detail(ctx)
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return nil
	case err != nil && !kerr.IsRetriable(err):
		return err
	}
	q.mu.Lock()
	q.refused = true
	q.mu.Unlock()
	return fmt.Errorf("kafka: topic %s exists already, and an existing topic is never emptied or removed: take another run id, remove what a killed run left with `bench clean`, or name the topic as one that is there (--topic)", q.cfg.Topic)
}

// Remove deletes the topic that Create made, or that the other half of the run
// made under this name, and the run's own groups.
func (q *Queue) Remove(ctx context.Context) error {
	q.mu.Lock()
	leave, closed := q.refused || q.cfg.Existing, q.closed
	q.mu.Unlock()
	if closed {
		return errClosed
	}
	q.removeGroups(ctx)
	if leave {
		return nil
	}
	return q.removeTopic(ctx)
}

// removeTopic deletes the topic and waits until the cluster has forgotten it, so
// that it can be created again.
func (q *Queue) removeTopic(ctx context.Context) error {
	_, err := q.admin.DeleteTopic(ctx, q.cfg.Topic)
	if err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("kafka: removing topic %s: %w; remove it by hand", q.cfg.Topic, err)
	}
	for {
		_, err := q.detail(ctx)
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			return nil
		}
		if !pause(ctx, retryPause/10) {
			return fmt.Errorf("kafka: topic %s is still there: %w", q.cfg.Topic, ctx.Err())
		}
	}
}

// removeGroups deletes the groups of the run's own, which nobody else knows. The
// broker forgets them by itself some days later.
func (q *Queue) removeGroups(ctx context.Context) {
	q.mu.Lock()
	var names []string
	for _, g := range q.groups {
		if g.own && g.members == 0 {
			names = append(names, g.id)
		}
	}
	q.mu.Unlock()
	if len(names) > 0 {
		_, _ = q.admin.DeleteGroups(ctx, names...)
	}
}

// RemoveTopics deletes the topics whose names begin with a prefix that is not
// empty, and returns how many there were.
func RemoveTopics(ctx context.Context, s Settings, prefix string) (int, error) {
	cfg := Config{Settings: s, Topic: prefix + "x"}
	if strings.Trim(prefix, ".") == "" || !strings.HasSuffix(prefix, ".") {
		return 0, errors.New("kafka: a prefix of topics to remove ends in a dot and is not empty, or it would match topics of others")
	}
	q, err := New(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer q.Close()
	all, err := q.admin.ListTopics(ctx)
	if err != nil {
		return 0, fmt.Errorf("kafka: listing the topics: %w", err)
	}
	n := 0
	for _, name := range all.Names() {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		q.cfg.Topic = name
		if err := q.removeTopic(ctx); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// detail is what the cluster says of the topic.
func (q *Queue) detail(ctx context.Context) (kadm.TopicDetail, error) {
	all, err := q.admin.ListTopics(ctx, q.cfg.Topic)
	if err != nil {
		return kadm.TopicDetail{}, fmt.Errorf("kafka: asking for topic %s: %w", q.cfg.Topic, err)
	}
	d, ok := all[q.cfg.Topic]
	if !ok {
		return d, kerr.UnknownTopicOrPartition
	}
	return d, d.Err
}

// settled waits until the topic is there with a leader for each partition, for
// up to startupLimit: a topic is not known to all brokers at once. It has so
// many partitions; 0 for any number.
func (q *Queue) settled(ctx context.Context, partitions int) (kadm.TopicDetail, error) {
	limited, cancel := context.WithTimeout(ctx, startupLimit)
	defer cancel()
	for {
		d, err := q.detail(limited)
		if err == nil {
			err = ready(d, partitions)
		}
		if err == nil {
			return d, nil
		}
		if !kerr.IsRetriable(err) && !errors.Is(err, errUnsettled) || !pause(limited, retryPause) {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return d, fmt.Errorf("kafka: topic %s is not ready: %w", q.cfg.Topic, err)
		}
	}
}

var errUnsettled = errors.New("not every partition has a leader")

func ready(d kadm.TopicDetail, partitions int) error {
	if len(d.Partitions) == 0 || len(d.Partitions) < partitions {
		return errUnsettled
	}
	if partitions > 0 && len(d.Partitions) > partitions {
		return fmt.Errorf("it has %d partitions, not %d", len(d.Partitions), partitions)
	}
	for _, p := range d.Partitions {
		if p.Err != nil || p.Leader < 0 {
			return errUnsettled
		}
	}
	return nil
}

// pause waits, and tells whether ctx lasted.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
