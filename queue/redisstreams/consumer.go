package redisstreams

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Consumer is a member of a group. It asks for messages when Receive does, and
// acknowledges a batch with the next request.
type Consumer struct {
	q      *Queue
	cfg    queue.ConsumerConfig
	client *redis.Client
	name   string // in the group: unique
	inbox  *broker.Inbox[entry]
	want   chan struct{} // somebody waits in Receive

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	working sync.WaitGroup
	closed  sync.Once

	receiving sync.Mutex // held by Receive
	held      []entry
	out       []queue.Delivery
	bytes     []byte
	headers   []queue.Header

	mu  sync.Mutex
	due map[int32][]any // IDs to acknowledge, by partition

	claimed time.Time // of the reading goroutine
}

const (
	// block is how long a request waits for messages at the server, and so how
	// long Close may.
	block = 100 * time.Millisecond
	// claimEvery is how often a consumer looks for messages that others left.
	claimEvery = 500 * time.Millisecond
	// handedOver is how long a message that is given back is said to be idle, so
	// that the next who looks takes it.
	handedOver = 365 * 24 * time.Hour
)

// Consumer joins a group with a connection of its own. Where the producers' side
// has made nothing yet it waits.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if q.handles.Closed() {
		return nil, queue.ErrClosed
	}
	for {
		ours, err := q.exists(ctx)
		if err != nil {
			return nil, err
		}
		if ours {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("redis: waiting for %s: %w", q.marker, ctx.Err())
		}
	}
	cfg.Group = q.cfg.GroupPrefix + cfg.Group
	if err := q.join(ctx, cfg); err != nil {
		return nil, fmt.Errorf("redis: joining group %s: %w", cfg.Group, err)
	}
	c := &Consumer{
		q: q, cfg: cfg, client: q.dial(), name: fmt.Sprintf("consumer-%d-%s", cfg.ID, rand.Text()[:8]),
		inbox: broker.NewInbox[entry](), want: make(chan struct{}, 1), due: map[int32][]any{}, claimed: time.Now(),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.working.Go(c.read)
	if !q.handles.Keep(c) {
		c.Close()
		return nil, queue.ErrClosed
	}
	return c, nil
}

// join makes the group where there is none. The first member in this process
// that asks for an offset moves a group that is there.
func (q *Queue) join(ctx context.Context, cfg queue.ConsumerConfig) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.joined[cfg.Group] {
		return nil
	}
	from := before(cfg.Start)
	if cfg.Start.Kind == queue.StartEarliest && q.end != "" {
		from = q.end
	}
	for _, key := range q.keys {
		err := q.client.XGroupCreateMkStream(ctx, key, cfg.Group, from).Err()
		if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
			err = nil
			if k := cfg.Start.Kind; k == queue.StartOffset || k == queue.StartTime {
				err = q.client.XGroupSetID(ctx, key, cfg.Group, before(cfg.Start)).Err()
			}
		}
		if err != nil {
			return err
		}
	}
	q.joined[cfg.Group] = true
	return nil
}

// read asks the server whenever Receive waits, until the consumer is closed.
func (c *Consumer) read() {
	again := false // what was sent to us on a connection that broke
	for {
		select {
		case <-c.want:
		case <-c.ctx.Done():
			return
		}
		for got := 0; got == 0; {
			if c.ctx.Err() != nil {
				return
			}
			var err error
			got, err = c.ask(again)
			switch {
			case err == nil:
				again = again && got > 0
				continue
			case isReply(err) && !strings.HasPrefix(err.Error(), "LOADING"), errors.Is(err, errMalformed):
				c.inbox.Fail(fmt.Errorf("redis: group %s of %s: %w", c.cfg.Group, c.q.cfg.Name, err))
				return
			case c.ctx.Err() != nil:
				return
			}
			c.event("disconnected", err.Error())
			if !awaitServer(c.ctx, c.client) {
				return
			}
			c.event("reconnected", c.q.opts.Addr)
			again = !c.q.cfg.NoAck
		}
	}
}

var errMalformed = errors.New("malformed reply")

// ask sends one request: acknowledgements that are due, then what others left if
// it is time to look, then the read.
func (c *Consumer) ask(again bool) (got int, err error) {
	pipe := c.client.Pipeline()
	sent := c.acknowledge(pipe)
	var claims []*redis.Cmd
	if !c.q.cfg.NoAck && time.Since(c.claimed) >= claimEvery {
		for _, key := range c.q.keys {
			claims = append(claims, pipe.Do(c.ctx, "XAUTOCLAIM", key, c.cfg.Group, c.name, c.q.cfg.ClaimAfter.Milliseconds(), "0", "COUNT", c.q.cfg.ReceiveMax))
		}
		c.claimed = time.Now()
	}
	args := []any{"XREADGROUP", "GROUP", c.cfg.Group, c.name, "COUNT", c.q.cfg.ReceiveMax}
	from := ">"
	if again {
		from = "0"
	} else if len(claims) == 0 {
		args = append(args, "BLOCK", block.Milliseconds())
	}
	if c.q.cfg.NoAck {
		args = append(args, "NOACK")
	}
	args = append(args, "STREAMS")
	for _, key := range c.q.keys {
		args = append(args, key)
	}
	for range c.q.keys {
		args = append(args, from)
	}
	began := time.Now()
	reply := pipe.Do(c.ctx, args...)
	if _, err := pipe.Exec(c.ctx); err != nil && !errors.Is(err, redis.Nil) {
		return 0, err
	}
	c.acknowledged(sent)
	var entries []entry
	gone := 0
	for k, cmd := range claims {
		list, _ := cmd.Val().([]any)
		if len(list) < 2 {
			return 0, fmt.Errorf("%w: XAUTOCLAIM answers %T", errMalformed, cmd.Val())
		}
		n := 0
		if entries, n, err = parseEntries(entries, int32(k), list[1]); err != nil {
			return 0, errors.Join(errMalformed, err)
		}
		if gone += n; len(list) > 2 {
			deleted, _ := list[2].([]any)
			gone += len(deleted)
		}
	}
	repeated := len(entries)
	if reply.Err() == nil && reply.Val() != nil {
		n := 0
		if entries, n, err = c.q.parseStreams(entries, reply.Val()); err != nil {
			return 0, errors.Join(errMalformed, err)
		}
		gone += n
	}
	if again {
		repeated = len(entries)
	}
	if repeated > 0 {
		c.event("redelivered", fmt.Sprintf("%d messages were sent before and not acknowledged", repeated))
	}
	if gone > 0 {
		c.event("dropped", fmt.Sprintf("%d messages were dropped from the stream before they were acknowledged (MAXLEN)", gone))
	}
	if len(entries) > 0 {
		if c.cfg.Trace != nil {
			t := queue.Trace{Partition: -1, Offset: -1, Messages: len(entries), Tries: 1}
			t.Set(queue.StageDataGet, time.Since(began))
			c.cfg.Trace(t)
		}
		c.inbox.Put(entries...)
	}
	return len(entries), nil
}

// acknowledge adds what is due to a request, and returns how many of each
// partition.
func (c *Consumer) acknowledge(pipe redis.Pipeliner) map[int32]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := map[int32]int{}
	for k, ids := range c.due {
		if len(ids) > 0 {
			pipe.Do(c.ctx, append([]any{"XACK", c.q.keys[k], c.cfg.Group}, ids...)...)
			sent[k] = len(ids)
		}
	}
	return sent
}

func (c *Consumer) acknowledged(sent map[int32]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, n := range sent {
		c.due[k] = append(c.due[k][:0], c.due[k][n:]...)
	}
}

// settle makes what the last Receive returned due for acknowledgement.
func (c *Consumer) settle() {
	if !c.q.cfg.NoAck {
		c.mu.Lock()
		for i := range c.held {
			e := &c.held[i]
			c.due[e.partition] = append(c.due[e.partition], e.id)
		}
		c.mu.Unlock()
	}
	c.held = nil
}

func (c *Consumer) event(kind, text string) {
	if c.cfg.Event != nil {
		c.cfg.Event(queue.Event{Kind: kind, Text: text})
	}
}

// Receive returns what has come, or asks for more.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	select {
	case <-c.inbox.Closed(): // Close has acknowledged
		return nil, queue.ErrClosed
	default:
	}
	c.settle()
	if c.inbox.Empty() {
		select {
		case c.want <- struct{}{}:
		default:
		}
	}
	batch, err := c.inbox.Take(ctx, c.q.cfg.ReceiveMax)
	if err != nil {
		return nil, err
	}
	c.held = batch
	c.out, c.bytes, c.headers = c.out[:0], c.bytes[:0], c.headers[:0]
	for i := range batch {
		var d queue.Delivery
		if d, c.bytes, c.headers, err = batch[i].delivery(&c.q.cfg, c.bytes, c.headers); err != nil {
			return nil, err
		}
		c.out = append(c.out, d)
	}
	return c.out, nil
}

// Close acknowledges what Receive returned, and gives back what nobody received.
func (c *Consumer) Close() (err error) {
	c.closed.Do(func() {
		c.inbox.Close()
		c.cancel()
		c.working.Wait() // a request that waits at the server ends within its block
		c.receiving.Lock()
		defer c.receiving.Unlock()
		c.settle()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		c.ctx = ctx
		pipe := c.client.Pipeline()
		c.acknowledge(pipe)
		if left := c.inbox.Left(); !c.q.cfg.NoAck {
			for i := range left {
				pipe.Do(ctx, "XCLAIM", c.q.keys[left[i].partition], c.cfg.Group, c.name, 0, left[i].id, "IDLE", handedOver.Milliseconds(), "JUSTID")
			}
		}
		if pipe.Len() > 0 {
			if _, perr := pipe.Exec(ctx); perr != nil {
				c.event("retry", fmt.Sprintf("the last messages were not acknowledged: %v", perr))
			}
		}
		err = c.client.Close()
		c.q.handles.Forget(c)
	})
	return err
}
