package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// Consumer is a member of a group. A batch is acknowledged by the next Receive,
// or by Close.
type Consumer struct {
	q      *Queue
	cfg    queue.ConsumerConfig
	conn   *nats.Conn
	pulls  jetstream.ConsumeContext
	inbox  *broker.Inbox[jetstream.Msg]
	closed sync.Once

	receiving sync.Mutex // held by Receive: Close acknowledges after it
	held      []jetstream.Msg
	out       []queue.Delivery
	headers   []queue.Header
}

// pullExpiry is how long a request for messages lasts, and heartbeat how often
// the server says meanwhile that it is there; after two missed ones the client
// asks again.
const (
	pullExpiry = 30 * time.Second
	heartbeat  = time.Second
)

// Consumer joins a group with a connection of its own. Where there is no stream
// yet it waits for one.
func (q *Queue) Consumer(ctx context.Context, cfg queue.ConsumerConfig) (queue.Consumer, error) {
	if q.handles.Closed() {
		return nil, queue.ErrClosed
	}
	conn, err := q.connect(ctx, fmt.Sprintf("consumer-%d", cfg.ID), cfg.Event)
	if err != nil {
		return nil, err
	}
	c := &Consumer{q: q, cfg: cfg, conn: conn, inbox: broker.NewInbox[jetstream.Msg]()}
	if err := c.join(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	if !q.handles.Keep(c) {
		c.Close()
		return nil, queue.ErrClosed
	}
	return c, nil
}

func (c *Consumer) join(ctx context.Context) error {
	js, err := jetstream.New(c.conn)
	if err != nil {
		return err
	}
	stream, err := c.await(ctx, js)
	if err != nil {
		return err
	}
	group, err := c.q.group(ctx, stream, c.cfg)
	if err != nil {
		return fmt.Errorf("jetstream: joining group %s: %w", c.cfg.Group, err)
	}
	max := min(c.q.cfg.MaxAckPending, 5000)
	c.pulls, err = group.Consume(func(m jetstream.Msg) { c.inbox.Put(m) },
		jetstream.PullMaxMessages(max), jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(heartbeat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { c.trouble(err) }))
	if err != nil {
		return fmt.Errorf("jetstream: asking for messages of group %s: %w", c.cfg.Group, err)
	}
	return nil
}

// await waits for the stream, which the producers' side makes.
func (c *Consumer) await(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
	for {
		s, err := js.Stream(ctx, c.q.cfg.Name)
		if err == nil {
			return s, c.q.agrees(s.CachedInfo().Config.Metadata)
		}
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, fmt.Errorf("jetstream: looking for stream %s: %w", c.q.cfg.Name, err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("jetstream: waiting for stream %s: %w", c.q.cfg.Name, ctx.Err())
		}
	}
}

// agrees refuses a stream that a queue like this made with other partitions: messages
// of some would be nobody's.
func (q *Queue) agrees(made map[string]string) error {
	if n := made[partitionsKey]; !q.cfg.Existing && made[ownerKey] == q.cfg.Name && n != "" && n != strconv.Itoa(q.cfg.Partitions) {
		return fmt.Errorf("jetstream: stream %s was made with %s partitions and is opened with %d: open it with as many", q.cfg.Name, n, q.cfg.Partitions)
	}
	return nil
}

// group is the durable consumer of a group, made where there is none. The first
// member in this process that asks for an offset moves the group there.
func (q *Queue) group(ctx context.Context, stream jetstream.Stream, cfg queue.ConsumerConfig) (jetstream.Consumer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := groupName(q.cfg.GroupPrefix + cfg.Group)
	found, err := stream.Consumer(ctx, name)
	switch {
	case err == nil && (q.joined[name] || cfg.Start.Kind == queue.StartEarliest || cfg.Start.Kind == queue.StartLatest):
		q.joined[name] = true
		return found, nil
	case err == nil:
		if err := stream.DeleteConsumer(ctx, name); err != nil {
			return nil, err
		}
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, err
	}
	ours := jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.cfg.AckWait, MaxAckPending: q.cfg.MaxAckPending,
		DeliverPolicy: jetstream.DeliverAllPolicy, MaxWaiting: 512,
	}
	switch q.cfg.Acks {
	case AckAll:
		ours.AckPolicy = jetstream.AckAllPolicy
	case AckNone:
		ours.AckPolicy, ours.AckWait, ours.MaxAckPending = jetstream.AckNonePolicy, 0, 0
	}
	switch cfg.Start.Kind {
	case queue.StartEarliest:
		if q.next > 0 {
			ours.DeliverPolicy, ours.OptStartSeq = jetstream.DeliverByStartSequencePolicy, q.next
		}
	case queue.StartLatest:
		ours.DeliverPolicy = jetstream.DeliverNewPolicy
	case queue.StartOffset:
		ours.DeliverPolicy, ours.OptStartSeq = jetstream.DeliverByStartSequencePolicy, uint64(max(1, cfg.Start.Offset))
	case queue.StartTime:
		ours.DeliverPolicy, ours.OptStartTime = jetstream.DeliverByStartTimePolicy, &cfg.Start.Time
	}
	made, err := stream.CreateConsumer(ctx, ours)
	if errors.Is(err, jetstream.ErrConsumerExists) { // by another process meanwhile
		made, err = stream.Consumer(ctx, name)
	}
	q.joined[name] = err == nil
	return made, err
}

// groupPrefix begins the name of each group.
const groupPrefix = "g-"

// groupName makes a name that the server takes.
func groupName(group string) string {
	return groupPrefix + strings.Map(func(r rune) rune {
		if strings.ContainsRune(".*>/\\ \t\r\n", r) {
			return '_'
		}
		return r
	}, group)
}

// trouble tells what the client meets. What it cannot recover from ends Receive.
func (c *Consumer) trouble(err error) {
	switch {
	case errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrBadRequest):
		c.inbox.Fail(fmt.Errorf("jetstream: group %s of stream %s: %w", c.cfg.Group, c.q.cfg.Name, err))
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, jetstream.ErrConnectionClosed):
		c.inbox.Fail(fmt.Errorf("jetstream: %w", err))
	default:
		c.event("retry", err.Error())
	}
}

func (c *Consumer) event(kind, text string) {
	if c.cfg.Event != nil {
		c.cfg.Event(queue.Event{Kind: kind, Text: text})
	}
}

// Receive returns what has come, and acknowledges what it returned before.
func (c *Consumer) Receive(ctx context.Context) ([]queue.Delivery, error) {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	select {
	case <-c.inbox.Closed(): // Close has acknowledged
		return nil, queue.ErrClosed
	default:
	}
	c.acknowledge()
	batch, err := c.inbox.Take(ctx, c.q.cfg.ReceiveMax)
	if err != nil {
		return nil, err
	}
	c.held = batch
	c.out, c.headers = c.out[:0], c.headers[:0]
	again := 0
	for _, m := range batch {
		d, at, err := c.delivery(m)
		if err != nil {
			return nil, err
		}
		if at.delivered > 1 {
			again++
		}
		c.out = append(c.out, d)
	}
	if again > 0 {
		c.event("redelivered", fmt.Sprintf("%d of %d messages were sent by the server before", again, len(batch)))
	}
	return c.out, nil
}

func (c *Consumer) delivery(m jetstream.Msg) (d queue.Delivery, at place, err error) {
	at, ok := parseReply(m.Reply())
	if !ok {
		return d, at, fmt.Errorf("jetstream: a delivery whose reply subject is %q, not one of $JS.ACK", m.Reply())
	}
	token, ok := strings.CutPrefix(m.Subject(), c.q.cfg.Name+".")
	if c.q.cfg.Existing {
		token, ok = "0", true
	}
	partition, err := strconv.ParseInt(token, 10, 32)
	if !ok || err != nil || partition < 0 || int(partition) >= c.q.cfg.Partitions {
		return d, at, fmt.Errorf("jetstream: a message of the stream has the subject %s, which is none of its %d partitions", m.Subject(), c.q.cfg.Partitions)
	}
	d = queue.Delivery{Payload: m.Data(), Partition: int32(partition), Offset: at.seq, BrokerNs: at.at, BrokerKind: "append"}
	if h := m.Headers(); len(h) > 0 {
		first := len(c.headers)
		c.headers = appendHeaders(c.headers, h)
		d.Headers = c.headers[first:len(c.headers):len(c.headers)]
	}
	return d, at, nil
}

var ack, nak = []byte("+ACK"), []byte("-NAK")

// acknowledge acknowledges what the last Receive returned. An acknowledgement
// that gets lost makes the server send the message again after AckWait.
func (c *Consumer) acknowledge() {
	held := c.held
	c.held = nil
	switch c.q.cfg.Acks {
	case AckNone:
		return
	case AckAll:
		held = held[max(0, len(held)-1):]
	}
	for _, m := range held {
		c.answer(m, ack)
	}
}

func (c *Consumer) answer(m jetstream.Msg, body []byte) {
	err := c.conn.Publish(m.Reply(), body)
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		c.event("retry", fmt.Sprintf("an acknowledgement was not sent, so the message will come again: %v", err))
	}
}

// closeTimeout bounds the goodbye to a server that does not answer.
const closeTimeout = 2 * time.Second

// Close gives messages that nobody received back to the group.
func (c *Consumer) Close() error {
	c.closed.Do(func() {
		c.inbox.Close()
		c.receiving.Lock()
		defer c.receiving.Unlock()
		if c.pulls != nil {
			ended := c.pulls.Closed()
			c.pulls.Drain()
			if c.conn.IsConnected() {
				select {
				case <-ended:
				case <-time.After(closeTimeout):
				}
			}
		}
		c.acknowledge()
		if c.q.cfg.Acks != AckNone {
			for _, m := range c.inbox.Left() {
				c.answer(m, nak)
			}
		}
		if c.conn.IsConnected() {
			c.conn.FlushTimeout(closeTimeout)
		}
		c.conn.Close()
		c.q.handles.Forget(c)
	})
	return nil
}
