package kafka

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"queuebench/queue"
)

// hooks turn what a client does into traces and events.
type hooks struct {
	trace func(queue.Trace)
	tell  func(queue.Event)

	mu     sync.Mutex
	closed bool
	took   map[int32]kgo.BrokerE2E // of the last produce or fetch request, per broker
	down   map[int32]outage
	join   time.Time // when the first request of a rebalance was sent; zero for none
}

// outage is a broker that does not answer.
type outage struct {
	since time.Time
	tries int
}

func newHooks(trace func(queue.Trace), event func(queue.Event)) *hooks {
	return &hooks{trace: trace, tell: event, took: map[int32]kgo.BrokerE2E{}, down: map[int32]outage{}}
}

func (h *hooks) event(e queue.Event) {
	if h.tell != nil {
		h.tell(e)
	}
}

// OnBrokerConnect tells of the first failure of an outage and of its end.
func (h *hooks) OnBrokerConnect(meta kgo.BrokerMetadata, took time.Duration, _ net.Conn, err error) {
	h.mu.Lock()
	was, isDown := h.down[meta.NodeID]
	switch {
	case err == nil:
		delete(h.down, meta.NodeID)
	case isDown:
		was.tries++
		h.down[meta.NodeID] = was
	case !h.closed:
		h.down[meta.NodeID] = outage{time.Now().Add(-took), 1}
	}
	closed := h.closed
	h.mu.Unlock()
	switch {
	case closed:
	case err != nil && !isDown:
		h.event(queue.Event{Kind: "retry", Text: fmt.Sprintf("connecting to broker %s: %v; it is tried again", broker(meta), err)})
	case err == nil && isDown:
		h.event(queue.Event{Kind: "reconnect", Text: fmt.Sprintf("broker %s answers again after %d tries", broker(meta), was.tries), Took: time.Since(was.since)})
	}
}

// OnBrokerE2E keeps how long a request took, for the batches in it.
func (h *hooks) OnBrokerE2E(meta kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch kmsg.Key(key) {
	case kmsg.Produce, kmsg.Fetch:
		h.took[meta.NodeID] = e
	case kmsg.JoinGroup:
		if h.join.IsZero() {
			h.join = time.Now().Add(-e.DurationE2E())
		}
	}
}

// rejoined is since when a rebalance goes on whose requests were seen, and
// forgets it.
func (h *hooks) rejoined() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.join
	h.join = time.Time{}
	return at
}

func (h *hooks) lastTook(node int32) (kgo.BrokerE2E, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.took[node]
	return e, ok
}

// OnBrokerThrottle tells that a quota was hit.
func (h *hooks) OnBrokerThrottle(meta kgo.BrokerMetadata, d time.Duration, _ bool) {
	h.event(queue.Event{Kind: "throttled", Text: fmt.Sprintf("broker %s throttles this client by its quota", broker(meta)), Took: d})
}

// OnProduceBatchWritten traces a batch that the broker took.
func (h *hooks) OnProduceBatchWritten(meta kgo.BrokerMetadata, _ string, partition int32, b kgo.ProduceBatchMetrics) {
	if h.trace == nil {
		return
	}
	t := queue.Trace{Partition: partition, Offset: -1, Messages: b.NumRecords, Bytes: int64(b.CompressedBytes), Tries: 1}
	if e, ok := h.lastTook(meta.NodeID); ok {
		t.Set(queue.StageWait, e.WriteWait)
		t.Set(queue.StageCommitPut, e.DurationE2E())
	}
	h.trace(t)
}

// OnFetchBatchRead traces a batch that was fetched.
func (h *hooks) OnFetchBatchRead(meta kgo.BrokerMetadata, _ string, partition int32, b kgo.FetchBatchMetrics) {
	if h.trace == nil {
		return
	}
	t := queue.Trace{Partition: partition, Offset: -1, Messages: b.NumRecords, Bytes: int64(b.CompressedBytes), Tries: 1}
	if e, ok := h.lastTook(meta.NodeID); ok {
		t.Set(queue.StageDiscover, e.ReadWait) // the broker waits until there is something
		t.Set(queue.StageDataGet, e.TimeToWrite+e.TimeToRead)
	}
	h.trace(t)
}

// OnGroupManageError tells why a member lost its group.
func (h *hooks) OnGroupManageError(err error) {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	if !closed {
		h.event(queue.Event{Kind: "retry", Text: fmt.Sprintf("the consumer group: %v; the consumer joins again", err)})
	}
}

// close ends the telling of what closing brings with it.
func (h *hooks) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

func broker(meta kgo.BrokerMetadata) string {
	return net.JoinHostPort(meta.Host, fmt.Sprint(meta.Port))
}

// fullness tells for how long a producer waited for room in its buffer, about
// once a second. It is used by one goroutine at a time.
type fullness struct {
	event func(queue.Event)
	limit int

	mu    sync.Mutex
	since time.Time
	total time.Duration
	times int
}

func (f *fullness) add(d time.Duration) {
	f.mu.Lock()
	if f.times == 0 {
		f.since = time.Now().Add(-d)
	}
	f.total += d
	f.times++
	due := time.Since(f.since) >= time.Second
	f.mu.Unlock()
	if due {
		f.tell()
	}
}

func (f *fullness) tell() {
	f.mu.Lock()
	total, times, over := f.total, f.times, time.Since(f.since)
	f.total, f.times = 0, 0
	f.mu.Unlock()
	if times > 0 {
		f.event(queue.Event{Kind: "blocked", Took: total, Text: fmt.Sprintf(
			"the producer's buffer of %d messages was full: it waited for room %d times within %v", f.limit, times, over.Round(time.Millisecond))})
	}
}
