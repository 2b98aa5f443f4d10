package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// group is a consumer group, as far as its members are in this process.
type group struct {
	id      string
	own     bool // made for this run
	members int

	once    sync.Mutex                // held while the starts are asked for
	from    map[int32]int64           // where partitions start that have no position
	force   bool                      // start there whatever was committed before
	started map[int32]bool            // partitions that a member had
	left    map[int32]kgo.EpochOffset // where members of this process left them
}

// member is a consumer as a member of a group.
type member struct {
	c     *Consumer
	group *group

	assigned chan struct{} // closed with the first assignment
	first    sync.Once
	opened   time.Time
	revoked  time.Time // since when partitions are given up; zero for not

	mu        sync.Mutex
	next      map[int32]kgo.EpochOffset // of each partition: what is to be delivered next
	committed map[int32]int64
}

// enter puts a consumer into its group.
func (q *Queue) enter(c *Consumer) *member {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.groups[c.cfg.Group]
	if g == nil {
		g = q.newGroup(c.cfg.Group)
		q.groups[c.cfg.Group] = g
	}
	g.members++
	return &member{
		c: c, group: g, assigned: make(chan struct{}), opened: time.Now(),
		next: map[int32]kgo.EpochOffset{}, committed: map[int32]int64{},
	}
}

// newGroup names a group. The first one has the name that was asked for, since
// that may be the only one that the client is allowed to use.
func (q *Queue) newGroup(name string) *group {
	g := &group{started: map[int32]bool{}, left: map[int32]kgo.EpochOffset{}}
	switch id := q.cfg.Settings.Consumer.Group; {
	case id == "":
		g.id, g.own = q.cfg.GroupPrefix+"-"+name, true
	case name == "" || name == "group-0":
		g.id = id
	default:
		g.id = id + "-" + name
	}
	return g
}

// starts decides where the group starts, by its first member that asks.
func (m *member) starts(ctx context.Context) error {
	g := m.group
	g.once.Lock()
	defer g.once.Unlock()
	if g.from != nil {
		return nil
	}
	from, err := m.c.q.starts(ctx, m.c.cfg.Start)
	if err != nil {
		return err
	}
	g.from = from
	g.force = m.c.cfg.Start.Kind == queue.StartOffset || m.c.cfg.Start.Kind == queue.StartTime
	return nil
}

// options are those of the member's client.
func (m *member) options(s *ConsumerSettings) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumeTopics(m.c.q.cfg.Topic), kgo.ConsumerGroup(m.group.id),
		kgo.SessionTimeout(s.Session), kgo.HeartbeatInterval(s.Heartbeat), kgo.RebalanceTimeout(s.Rebalance),
		kgo.Balancers(balancers(s.Assignment)...), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(m.onAssigned), kgo.OnPartitionsRevoked(m.onRevoked), kgo.OnPartitionsLost(m.onLost),
		kgo.AdjustFetchOffsetsFn(m.adjust),
	}
	if s.Protocol == "consumer" {
		opts = append(opts, kgo.ServerSideBalancer())
	}
	if s.Instance != "" {
		opts = append(opts, kgo.InstanceID(fmt.Sprintf("%s-%d", s.Instance, m.c.cfg.ID)))
	}
	return opts
}

func balancers(names []string) (all []kgo.GroupBalancer) {
	for _, name := range names {
		switch name {
		case "range":
			all = append(all, kgo.RangeBalancer())
		case "roundrobin":
			all = append(all, kgo.RoundRobinBalancer())
		case "sticky":
			all = append(all, kgo.StickyBalancer())
		case "cooperative-sticky":
			all = append(all, kgo.CooperativeStickyBalancer())
		}
	}
	return all
}

func (m *member) lock()   { m.mu.Lock() }
func (m *member) unlock() { m.mu.Unlock() }

// moved notes that everything up to a record was delivered. The lock is held.
func (m *member) moved(partition int32, last *kgo.Record) {
	m.next[partition] = kgo.EpochOffset{Epoch: last.LeaderEpoch, Offset: last.Offset + 1}
}

// adjust gives a start to partitions that have no position in the group.
func (m *member) adjust(_ context.Context, topics map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	g := m.group
	g.once.Lock()
	defer g.once.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, o := range topics[m.c.q.cfg.Topic] {
		at, known := g.from[k]
		position := o.EpochOffset()
		if committed := position.Offset >= 0; known && (!committed || g.force && !g.started[k]) {
			topics[m.c.q.cfg.Topic][k] = kgo.NewOffset().At(at)
			position = kgo.EpochOffset{Epoch: -1, Offset: at}
		} else if committed {
			m.committed[k] = position.Offset
		}
		// What was delivered since the last commit, before the coordinator was
		// lost, is not delivered again.
		if left, ok := g.left[k]; ok && left.Offset > position.Offset && m.c.q.cfg.Settings.Consumer.Commit != CommitNever {
			topics[m.c.q.cfg.Topic][k] = kgo.NewOffset().At(left.Offset).WithEpoch(left.Epoch)
			position = left
		}
		g.started[k] = true
		if position.Offset >= 0 {
			m.next[k] = position
		}
	}
	return topics, nil
}

// joined waits until each consumer of the queue that is open has what its group
// gives it. A member that does not get so far is told of, and holds nobody up
// for ever.
func (q *Queue) joined(ctx context.Context) error {
	q.mu.Lock()
	consumers := slices.Clone(q.consumers)
	q.mu.Unlock()
	limit := time.NewTimer(startupLimit + q.cfg.Settings.Consumer.Session)
	defer limit.Stop()
	for _, c := range consumers {
		if c.member == nil {
			continue
		}
		select {
		case <-c.member.assigned:
		case <-c.closed:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit.C:
			c.hooks.event(queue.Event{Kind: "note", Text: "the consumer group has given this consumer nothing yet, and the load begins"})
			return nil
		}
	}
	return nil
}

// leave takes a closed consumer out of its group.
func (m *member) leave() {
	q := m.c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	m.group.members--
}

// due are the positions that are not committed, of the partitions given or, for
// nil, of all. The lock is held.
func (m *member) due(only []int32) map[int32]kgo.EpochOffset {
	due := map[int32]kgo.EpochOffset{}
	for k, at := range m.next {
		if committed, ok := m.committed[k]; ok && committed == at.Offset || only != nil && !slices.Contains(only, k) {
			continue
		}
		due[k] = at
	}
	return due
}

// commit commits what is due.
func (m *member) commit(ctx context.Context, client *kgo.Client, only []int32) {
	m.mu.Lock()
	due := m.due(only)
	m.mu.Unlock()
	if len(due) == 0 {
		return
	}
	client.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{m.c.q.cfg.Topic: due}, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, r *kmsg.OffsetCommitResponse, err error) {
		if err == nil {
			err = firstError(r)
		}
		if err != nil {
			if ctx.Err() == nil {
				m.c.hooks.event(queue.Event{Kind: "retry", Text: fmt.Sprintf("committing the group's position: %v", err)})
			}
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		for k, at := range due {
			m.committed[k] = at.Offset
		}
	})
}

// partitionsText lists partitions in order.
func partitionsText(ps []int32) string {
	if len(ps) == 0 {
		return "none"
	}
	ps = slices.Sorted(slices.Values(ps))
	var b strings.Builder
	for i, k := range ps {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, k)
	}
	return b.String()
}
