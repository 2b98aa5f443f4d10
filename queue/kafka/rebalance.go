package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// lagInterval is how often a member tells how far it is behind.
const lagInterval = time.Second

// onAssigned tells of an assignment, with how long the rebalance took: since
// partitions were given up or the first request to join, whichever was earlier.
func (m *member) onAssigned(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
	got := topics[m.c.q.cfg.Topic]
	since, initial := m.revoked, false
	m.first.Do(func() { since, initial = m.opened, true })
	if at := m.c.hooks.rejoined(); !at.IsZero() && (since.IsZero() || at.Before(since)) {
		since = at
	}
	m.revoked = time.Time{}
	var took time.Duration
	if !since.IsZero() {
		took = time.Since(since)
	}
	what := "got partitions "
	if initial {
		what = "joined the group and got partitions "
	}
	m.c.hooks.event(queue.Event{Kind: "rebalance", Text: what + partitionsText(got), Took: took})
	if initial {
		close(m.assigned)
	}
}

// onRevoked commits what was delivered of partitions that another will read.
func (m *member) onRevoked(ctx context.Context, client *kgo.Client, topics map[string][]int32) {
	gone := topics[m.c.q.cfg.Topic]
	if m.revoked.IsZero() {
		m.revoked = time.Now()
	}
	if len(gone) == 0 {
		return
	}
	if m.c.backlog != nil {
		m.c.backlog.drop(gone)
	}
	if m.c.q.cfg.Settings.Consumer.Commit != CommitNever {
		m.commit(ctx, client, gone)
	}
	m.forget(gone)
	select {
	case <-m.c.closed:
	default:
		m.c.hooks.event(queue.Event{Kind: "revoked", Text: "gave up partitions " + partitionsText(gone)})
	}
}

// onLost is told that another may have the partitions already: it is too late to
// commit.
func (m *member) onLost(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
	gone := topics[m.c.q.cfg.Topic]
	if m.revoked.IsZero() {
		m.revoked = time.Now()
	}
	if len(gone) == 0 {
		return
	}
	if m.c.backlog != nil {
		m.c.backlog.drop(gone)
	}
	m.forget(gone)
	m.c.hooks.event(queue.Event{Kind: "lost-partitions", Text: "the group took partitions " + partitionsText(gone) + " away without asking: members of other processes may deliver again what came since the last commit"})
}

// forget gives partitions up, and leaves where they stood to the next member.
func (m *member) forget(gone []int32) {
	g := m.group
	g.once.Lock()
	defer g.once.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range gone {
		if at, ok := m.next[k]; ok && at.Offset > g.left[k].Offset {
			g.left[k] = at
		}
		delete(m.next, k)
		delete(m.committed, k)
	}
}

// commitBatch commits what the last Receive returned, where each batch is.
func (m *member) commitBatch(ctx context.Context) {
	if m.c.q.cfg.Settings.Consumer.Commit == CommitBatch {
		m.commit(ctx, m.c.client, nil)
	}
}

// keep commits in the background, and tells once a second how far the member is
// behind.
func (m *member) keep(ctx context.Context) {
	s := &m.c.q.cfg.Settings.Consumer
	commits := make(<-chan time.Time)
	if s.Commit == CommitInterval {
		t := time.NewTicker(s.CommitInterval)
		defer t.Stop()
		commits = t.C
	}
	lags := time.NewTicker(lagInterval)
	defer lags.Stop()
	behind := false
	for {
		select {
		case <-m.c.closed:
			return // Close commits what is left
		case <-ctx.Done():
			return
		case <-commits:
			m.commit(ctx, m.c.client, nil)
		case <-lags.C:
			if m.c.cfg.Event != nil {
				behind = m.tellLag(ctx, behind)
			}
		}
	}
}

// tellLag tells the lag of each partition that has one, and once when none has
// any more.
func (m *member) tellLag(ctx context.Context, before bool) (behind bool) {
	limited, cancel := context.WithTimeout(ctx, lagInterval)
	defer cancel()
	ends, err := m.c.q.listed(limited, m.c.q.admin.ListEndOffsets)
	if err != nil {
		return before
	}
	m.mu.Lock()
	next := maps.Clone(m.next)
	m.mu.Unlock()
	var parts []string
	total := int64(0)
	for _, k := range slices.Sorted(maps.Keys(next)) {
		if n := ends[k] - next[k].Offset; n > 0 {
			parts = append(parts, fmt.Sprintf("partition %d: %d", k, n))
			total += n
		}
	}
	switch {
	case total > 0:
		m.c.hooks.event(queue.Event{Kind: "lag", Text: fmt.Sprintf("%d messages: %s", total, strings.Join(parts, ", "))})
	case before:
		m.c.hooks.event(queue.Event{Kind: "lag", Text: "0 messages"})
	}
	return total > 0
}

func firstError(r *kmsg.OffsetCommitResponse) error {
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("partition %d: %w", p.Partition, err)
			}
		}
	}
	return nil
}
