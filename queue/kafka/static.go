package kafka

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// static is a consumer that reads its share of the partitions, as far as they
// reach when its first Receive is called.
type static struct {
	c     *Consumer
	index int // among the readers of its group

	mu   sync.Mutex
	left map[int32]int64 // end of each partition that is not at its end
}

// reader takes the next place among the readers of a group.
func (q *Queue) reader(name string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.groups[name]
	if g == nil {
		g = &group{}
		q.groups[name] = g
	}
	g.members++
	return g.members - 1
}

// begin decides from where to where it reads.
func (s *static) begin(ctx context.Context) error {
	q := s.c.q
	if _, err := q.detail(ctx); err != nil {
		return err
	}
	from, err := q.starts(ctx, s.c.cfg.Start)
	if err != nil {
		return err
	}
	to, err := q.ends(ctx)
	if err != nil {
		return err
	}
	s.left = map[int32]int64{}
	assigned := map[int32]kgo.Offset{}
	for k, end := range to {
		if int(k)%q.cfg.Readers == s.index && from[k] < end {
			s.left[k] = end
			assigned[k] = kgo.NewOffset().At(from[k])
		}
	}
	// A transaction may end in a marker, which alone tells that its end is
	// reached.
	opts := append(q.cfg.Settings.Consumer.options(), kgo.KeepControlRecords())
	if len(assigned) > 0 {
		opts = append(opts, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{q.cfg.Topic: assigned}))
	}
	return s.c.open(opts)
}

// moved notes the position of a partition.
func (s *static) moved(partition int32, next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end, ok := s.left[partition]; ok && next >= end {
		delete(s.left, partition)
	}
}

// done tells whether every partition is at its end.
func (s *static) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left) == 0
}

// beyond tells whether a record came after the end.
func (s *static) beyond(partition int32, offset int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.left[partition]
	return !ok || offset >= end
}

var _ queue.Consumer = (*Consumer)(nil)
