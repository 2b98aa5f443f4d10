package runner

import (
	"sync"
	"sync/atomic"

	"queuebench/runner/seqset"
)

// group is the consumers that share the messages. What one of them has received
// is a duplicate for all: after a rebalance another one may get it again.
type group struct {
	name  string
	mu    sync.Mutex
	marks map[mark]int64 // the seq that each carried
	got   []seqset.Set   // per producer
	count atomic.Int64   // of marks
	fresh atomic.Int64   // distinct messages
}

func newGroup(name string, producers int) *group {
	return &group{name: name, marks: map[mark]int64{}, got: make([]seqset.Set, producers)}
}

// missing is the number of messages of a producer that were acknowledged and
// the group has not received.
func (g *group) missing(producer int, acked *seqset.Set) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return acked.Without(&g.got[producer])
}

type mark struct {
	producer  uint16
	partition int32
}

// seen notes an end mark. The group is locked.
func (g *group) seen(m mark, seq int64) {
	if _, again := g.marks[m]; !again {
		g.marks[m] = seq
		g.count.Add(1)
	}
}
