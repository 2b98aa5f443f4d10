package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// Breakdown has the latencies of a step by what a message passed through.
// Dimensions with one key are left out: that key is the step. Only one of several
// partitions that has all messages stands there.
type Breakdown struct {
	// From and To are the part of the schedule that is broken down, by intended
	// time since the step's start: the cut of the view that the log was read
	// under.
	From, To time.Duration
	Shares   []Share
	// Left counts latencies that no share has: memory for their histograms was
	// used up.
	Left int64
}

// Share is what has one key of a dimension.
type Share struct {
	By  string // producer, consumer, group or partition
	Key string
	// Folded is the number of keys beyond the first maxKeys that this share
	// gathers; 0 for one of its own.
	Folded int
	// Latency by Kind; where a message passed through a partition is known only
	// once it came, so shares by partition and consumer have no infinite ones.
	Latency  [NumKinds]stats.Compact
	Infinite [NumKinds]int64
}

// The dimensions of a breakdown.
const (
	ByProducer  = "producer"
	ByConsumer  = "consumer"
	ByGroup     = "group"
	ByPartition = "partition"
)

const (
	// maxKeys is how many keys of a dimension have a share of their own: those
	// seen first.
	maxKeys = 32
	// maxFolded bounds how many further keys are told apart to be counted.
	maxFolded = 1 << 16
	// maxPages bounds the memory of a breakdown: 8 kB each.
	maxPages = 1 << 13
	// OtherKeys is the key of the share that gathers the rest.
	OtherKeys = "others"
)

// shareCounter counts one key.
type shareCounter struct {
	key      int64
	latency  [NumKinds]*stats.Sparse
	infinite [NumKinds]int64
}

// dimension counts by one property of a message. It is off where there is only
// one key, and then costs nothing.
type dimension struct {
	by   string
	name func(key int64) string
	on   bool
	// several: there is more than one key, so that messages of one only say
	// something too.
	several bool
	keys    map[int64]*shareCounter
	others  *shareCounter
	folded  map[int64]struct{}
	lastID  int64
	last    *shareCounter
}

func (d *dimension) counter(key int64) *shareCounter {
	if !d.on {
		return nil
	}
	if d.last != nil && d.lastID == key {
		return d.last
	}
	c := d.keys[key]
	if c == nil {
		if len(d.keys) < maxKeys {
			c = &shareCounter{key: key}
			d.keys[key] = c
		} else {
			if d.others == nil {
				d.others, d.folded = &shareCounter{}, map[int64]struct{}{}
			}
			if c = d.others; len(d.folded) < maxFolded {
				d.folded[key] = struct{}{}
			}
		}
	}
	d.lastID, d.last = key, c
	return c
}

// breaker counts a step's messages by dimension while it is joined.
type breaker struct {
	from, to int64 // intended, ns since the epoch
	producer, consumer, group,
	partition dimension
	pages int
	left  int64

	// Whose message is at hand: set before a row or a delivery is counted.
	row  [2]*shareCounter // producer, partition of its acknowledgement
	came [4]*shareCounter // producer, consumer, group, partition

	actors  []string // consumers by number
	groups  []string
	origins []origin // of deliveries that came before their row
	origin  map[origin]int32
}

// origin is by whom and out of which partition a message was delivered.
type origin struct{ consumer, partition int64 }

// unknownOrigin is that of a delivery of which there were too many to keep.
const unknownOrigin = int32(-1)

// newBreaker is nil where there is nothing to break down.
func newBreaker(s *StepDigest, m *rawlog.Manifest, planned *rawlog.Step, consumers, groups []string, from, to time.Duration) *breaker {
	producers, partitions := 0, partitionsOf(m, planned)
	if planned != nil {
		producers = planned.Producers
	}
	b := &breaker{
		from: s.StartNs + int64(from), to: s.StartNs + int64(to), actors: consumers, groups: groups, origin: map[origin]int32{},
		producer:  dimension{by: ByProducer, on: producers != 1, name: func(k int64) string { return fmt.Sprintf("producer-%d", k) }},
		partition: dimension{by: ByPartition, on: partitions != 1, several: partitions > 1, name: func(k int64) string { return strconv.FormatInt(k, 10) }},
	}
	b.consumer = dimension{by: ByConsumer, on: len(consumers) > 1, name: func(k int64) string { return b.actors[k] }}
	b.group = dimension{by: ByGroup, on: len(groups) > 1, name: func(k int64) string { return b.groups[k] }}
	on := false
	for _, d := range b.dimensions() {
		d.keys = map[int64]*shareCounter{}
		on = on || d.on
	}
	if !on {
		return nil
	}
	return b
}

// partitionsOf is the number of partitions of a step, 0 where it is not known.
func partitionsOf(m *rawlog.Manifest, planned *rawlog.Step) int {
	partitions, topics := m.Queue.Partitions, m.Settings["topics"]
	if planned != nil {
		if n, err := strconv.Atoi(planned.Settings["partitions"]); err == nil {
			partitions = n
		}
		topics = cmp.Or(planned.Settings["topics"], topics)
	}
	if n, err := strconv.Atoi(topics); err == nil {
		partitions *= n
	}
	return partitions
}

// plannedStep is the entry of a step in the manifest; nil where it has none.
func plannedStep(m *rawlog.Manifest, step, repeat int) *rawlog.Step {
	for i := range m.Steps {
		if e := &m.Steps[i]; e.Step == step && e.Repeat == repeat {
			return e
		}
	}
	return nil
}

func (b *breaker) dimensions() []*dimension {
	return []*dimension{&b.producer, &b.consumer, &b.group, &b.partition}
}

// inside tells whether a message of an intended time is broken down.
func (b *breaker) inside(intended int64) bool { return intended >= b.from && intended < b.to }

// sending says whose row comes next.
func (b *breaker) sending(producer, partition int64) {
	b.row[0] = b.producer.counter(producer)
	b.row[1] = nil
	if partition >= 0 {
		b.row[1] = b.partition.counter(partition)
	}
}

// receiving says whose delivery comes next.
func (b *breaker) receiving(producer, group int64, o origin) {
	b.came[0], b.came[2] = b.producer.counter(producer), b.group.counter(group)
	b.came[1], b.came[3] = nil, nil
	if o.consumer >= 0 {
		b.came[1] = b.consumer.counter(o.consumer)
	}
	if o.partition >= 0 {
		b.came[3] = b.partition.counter(o.partition)
	}
}

// keep numbers an origin, for a delivery that came before its row.
func (b *breaker) keep(o origin) int32 {
	i, ok := b.origin[o]
	if !ok {
		if len(b.origins) == maxFolded {
			return unknownOrigin
		}
		i = int32(len(b.origins))
		b.origins = append(b.origins, o)
		b.origin[o] = i
	}
	return i
}

// kept is the origin of a number.
func (b *breaker) kept(i int32) origin {
	if i == unknownOrigin {
		return origin{-1, -1}
	}
	return b.origins[i]
}

// record counts a latency of the sender's or the receiver's sharers. A value
// beyond the range was counted as rejected already.
func (b *breaker) record(sharers []*shareCounter, k Kind, ns int64) {
	for _, c := range sharers {
		if c == nil {
			continue
		}
		if c.latency[k] == nil {
			c.latency[k] = new(stats.Sparse)
		}
		if b.pages >= maxPages {
			b.left++
			continue
		}
		pages, _ := c.latency[k].Record(ns)
		b.pages += pages
	}
}

// sent counts a row that was handed over; published is rawlog.Null where it was
// not acknowledged.
func (b *breaker) sent(lag, published int64) {
	b.record(b.row[:], SendLag, lag)
	if published != rawlog.Null {
		b.record(b.row[:], Publish, published)
		return
	}
	b.row[0].never(Publish, 1)
}

// overrun counts a row that was never sent, in each of so many groups.
func (b *breaker) overrun(groups int) {
	b.row[0].never(Publish, 1)
	b.row[0].never(EndToEnd, int64(max(1, groups)))
	b.row[0].never(EndToEndFromSend, int64(max(1, groups)))
	for g := range groups {
		c := b.group.counter(int64(g))
		c.never(EndToEnd, 1)
		c.never(EndToEndFromSend, 1)
	}
}

// arrived counts the latencies of a delivery.
func (b *breaker) arrived(intended, sent, received, broker int64) {
	b.record(b.came[:], EndToEnd, received-intended)
	if sent != rawlog.Null {
		b.record(b.came[:], EndToEndFromSend, received-sent)
	}
	if broker != rawlog.Null {
		b.record(b.came[:], BrokerToConsumer, received-broker)
	}
}

// lost counts an acknowledged message that some groups did not get.
func (b *breaker) lost(producer int64, groups int, got uint64) {
	p := b.producer.counter(producer)
	for g := range groups {
		if got>>g&1 == 0 {
			for _, c := range []*shareCounter{p, b.group.counter(int64(g))} {
				c.never(EndToEnd, 1)
				c.never(EndToEndFromSend, 1)
			}
		}
	}
}

// never counts messages that rank as infinite.
func (c *shareCounter) never(k Kind, n int64) {
	if c != nil {
		c.infinite[k] += n
	}
}

// finish writes the shares: dimension by dimension, keys in order, the rest
// last. A dimension with one key says nothing new.
func (b *breaker) finish(out *Breakdown) {
	out.Left = b.left
	for _, d := range b.dimensions() {
		if len(d.keys) < 2 && !(d.several && len(d.keys) == 1) {
			continue
		}
		var counters []*shareCounter
		for _, c := range d.keys {
			counters = append(counters, c)
		}
		slices.SortFunc(counters, func(x, y *shareCounter) int { return cmp.Compare(x.key, y.key) })
		for _, c := range counters {
			out.Shares = append(out.Shares, c.share(d.by, d.name(c.key), 0))
		}
		if d.others != nil {
			out.Shares = append(out.Shares, d.others.share(d.by, OtherKeys, len(d.folded)))
		}
	}
}

func (c *shareCounter) share(by, key string, folded int) Share {
	s := Share{By: by, Key: key, Folded: folded, Infinite: c.infinite}
	for k := range c.latency {
		if c.latency[k] != nil {
			s.Latency[k] = c.latency[k].Compact().Coarse()
		}
	}
	return s
}
