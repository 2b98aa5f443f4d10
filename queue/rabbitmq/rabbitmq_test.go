//go:build interop

package rabbitmq

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/broker"
	"queuebench/queue/queuetest"
)

// url is that of a server that scripts/test-interop.sh has started.
func url(t testing.TB) string {
	t.Helper()
	url := os.Getenv("RABBITMQ_URL")
	if url == "" {
		t.Fatal("RABBITMQ_URL names no server: scripts/test-interop.sh starts one")
	}
	return url
}

var names atomic.Int64

func open(t testing.TB, cfg Config) *Queue {
	t.Helper()
	cfg.URL = url(t)
	if cfg.Name == "" {
		cfg.Name = fmt.Sprintf("test-%d-%d", os.Getpid(), names.Add(1))
	}
	q, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

// headers are those that AMQP can carry: a table, which has no order.
func headers(i int) []queue.Header {
	return [][]queue.Header{
		nil,
		{{Name: "a", Value: []byte("1")}},
		{{Name: "", Value: []byte{0, 255, byte(i), 10}}, {Name: "long", Value: []byte(strings.Repeat("v", 300))}, {Name: "é", Value: []byte{}}},
	}[i%3]
}

func TestConformance(t *testing.T) {
	for name, cfg := range map[string]Config{
		"quorum":    {},
		"classic":   {Type: Classic, Partitions: 2, Prefetch: 50, ReceiveMax: 7, MaxPending: 100},
		"transient": {Type: Classic, Transient: true, Unconfirmed: true, Stamp: true},
	} {
		t.Run(name, func(t *testing.T) {
			queuetest.Run(t, func(t *testing.T) queue.Queue { return open(t, cfg) }, queuetest.Options{
				Timeout: 40 * time.Second, Messages: 500, HeadersOf: headers, Competing: true, Healthy: true,
				Neighbours: func(t *testing.T) (short, long queue.Queue) {
					name := fmt.Sprintf("test-%d-%d-1000", os.Getpid(), names.Add(1))
					cfg := cfg
					cfg.Groups = []string{"after-remove", "after-create"} // what others read is gone
					with := cfg
					with.Name = name + "0"
					cfg.Name = name
					return open(t, cfg), open(t, with)
				},
			})
		})
	}
}

func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	q := open(t, Config{})
	conn, err := q.dial(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.ExchangeDeclare(q.cfg.Name, "direct", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { ch.ExchangeDelete(q.cfg.Name, false, false) }()
	if err := q.Create(t.Context()); err == nil || !strings.Contains(err.Error(), q.cfg.Name) {
		t.Errorf("Create over an exchange of others: %v", err)
	}
	if err := q.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if there, _, err := q.exists(conn.Connection); !there || err != nil {
		t.Errorf("the exchange of others is gone: %v", err)
	}
}

// A message that no queue takes comes back, and has failed.
func TestWhatIsReturnedHasFailed(t *testing.T) {
	q := open(t, Config{Partitions: 2})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer q.Remove(context.Background())
	conn, err := q.dial(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDelete(q.queueName(firstGroup, 1), false, false, false); err != nil {
		t.Fatal(err)
	}
	var acked, failed int64
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func(as []queue.Ack) {
		for _, a := range as {
			if a.Err == nil && a.Partition == 0 {
				acked += a.N
			} else if a.Err == errReturned && a.Partition == 1 {
				failed += a.N
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var ms []queue.Message
	for i := range 100 {
		ms = append(ms, queue.Message{Payload: []byte("x"), Partition: int32(i % 2)})
	}
	if _, err := p.Send(t.Context(), ms); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := p.Flush(ctx); err != nil || acked != 50 || failed != 50 {
		t.Errorf("%d acknowledged, %d returned, of 50 and 50: %v", acked, failed, err)
	}
}

// A connection that the server closes is opened again, by either side, and what
// was without a confirm has failed.
func TestClientsConnectAgain(t *testing.T) {
	q := open(t, Config{})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer q.Remove(context.Background())
	events := make(chan string, 100)
	event := func(e queue.Event) { events <- e.Kind }
	var fates atomic.Int64
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Event: event, Acked: func(as []queue.Ack) {
		for _, a := range as {
			fates.Add(a.N)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sent := int64(0)
	send := func() {
		if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x")}}); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	send()
	p.(*Producer).session.conn.CloseDeadline(time.Now()) // as if the network had
	for _, want := range []string{"disconnected", "reconnected"} {
		select {
		case got := <-events:
			if got != want {
				t.Fatalf("the event is %s, not %s", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("there is no event %s", want)
		}
	}
	send()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := p.Flush(ctx); err != nil || fates.Load() != sent {
		t.Errorf("%d of %d messages have a fate: %v", fates.Load(), sent, err)
	}
	if _, err := c.Receive(ctx); err != nil {
		t.Error(err)
	}
}

func TestAWrongPasswordIsRefused(t *testing.T) {
	_, err := New(t.Context(), Config{URL: url(t), Name: "x", Identity: broker.Identity{User: "guest", Password: secret.Of("wr0ng")}})
	if err == nil || strings.Contains(err.Error(), "wr0ng") || !strings.Contains(err.Error(), "guest") {
		t.Errorf("the error is %v", err)
	}
}

func TestStampsAreOfSeconds(t *testing.T) {
	q := open(t, Config{Stamp: true})
	if err := q.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer q.Remove(context.Background())
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Send(t.Context(), []queue.Message{{Payload: []byte("x")}})
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	batch, err := c.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := batch[0]; d.BrokerKind != "create" || d.BrokerNs%1e9 != 0 || time.Since(time.Unix(0, d.BrokerNs)).Abs() > time.Minute {
		t.Errorf("the stamp is %d, %q", d.BrokerNs, d.BrokerKind)
	}
}

// What a killed run left is removed with the queues of its groups, and neither what
// is not named nor what somebody else made under such a name.
func TestRemoveExchanges(t *testing.T) {
	prefix := fmt.Sprintf("clean-%d-", os.Getpid())
	for i, cfg := range []Config{{Groups: []string{"group-0", "group-1"}, Partitions: 3}, {Type: Classic, Groups: []string{"group-0"}}, {Groups: []string{"group-0"}}} {
		cfg.Name = prefix + fmt.Sprint(i)
		if err := open(t, cfg).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	q := open(t, Config{Name: prefix + "theirs"})
	conn, err := q.dial(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.ExchangeDeclare(prefix+"theirs", "direct", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { ch.ExchangeDelete(prefix+"theirs", false, false) }()
	names := []string{prefix + "0", prefix + "1", prefix + "theirs"}
	for i := range 3000 {
		names = append(names, fmt.Sprint(prefix, "none-", i))
	}
	for _, want := range []int{2, 0} {
		if n, err := RemoveExchanges(t.Context(), Config{URL: url(t)}, names); n != want || err != nil {
			t.Errorf("%d exchanges were removed, want %d: %v", n, want, err)
		}
	}
	there := func(name string) bool {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		defer ch.Close()
		_, err = ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return err == nil
	}
	for name, want := range map[string]bool{
		"0.owner": false, "0.group-0.0": false, "0.group-1.2": false, "1.group-0.0": false, "2.owner": true, "2.group-0.0": true,
	} {
		if got := there(prefix + name); got != want {
			t.Errorf("%s is there: %v", name, got)
		}
	}
	if there, ours, err := q.exists(conn.Connection); !there || ours || err != nil {
		t.Errorf("the exchange of others: %v, %v, %v", there, ours, err)
	}
	if n, err := RemoveExchanges(t.Context(), Config{URL: url(t)}, []string{prefix + "2"}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
