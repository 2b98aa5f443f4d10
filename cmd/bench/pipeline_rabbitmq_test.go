//go:build interop && !min && !norabbitmq

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitmqChannel is a channel to the server that scripts/test-interop.sh has started.
func rabbitmqChannel(t *testing.T) (url string, ch *amqp.Channel) {
	t.Helper()
	if url = os.Getenv("RABBITMQ_URL"); url == "" {
		t.Fatal("RABBITMQ_URL names no server: scripts/test-interop.sh starts one")
	}
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	t.Cleanup(func() {
		select {
		case why := <-closed:
			if why != nil && why.Code == amqp.InternalError {
				// A failure of the server's own, seen with RabbitMQ 3.10 on a busy host. What
				// it cost the test, other checks say.
				t.Logf("the server closed the test's own channel: %v", why)
				return
			}
			t.Errorf("the test's own channel was closed: %v", why)
		default:
		}
	})
	return url, ch
}

// Pipelines between exchanges, which a run reads through queues of its own, and
// between queues, which it empties.
func TestPipelinesOnRabbitMQ(t *testing.T) {
	for _, exchanges := range []bool{true, false} {
		t.Run(map[bool]string{true: "exchanges", false: "queues"}[exchanges], func(t *testing.T) {
			url, ch := rabbitmqChannel(t)
			_, puts := rabbitmqChannel(t) // what goes over one channel at a time does not mix
			mark := fmt.Sprintf("theirs-%d-%v-", os.Getpid(), exchanges)
			o := others{
				kind: "rabbitmq", flags: []string{"--rabbitmq-url", url}, apart: exchanges,
				called: func(name string) string {
					if exchanges {
						return "exchange:" + mark + name
					}
					return mark + name
				},
				create: func(t *testing.T, name string) { // an exchange with a queue
					name = mark + name
					err := ch.ExchangeDeclare(name, "fanout", true, false, false, false, nil)
					if err == nil {
						_, err = ch.QueueDeclare(name, true, false, false, false, nil)
					}
					if err == nil {
						err = ch.QueueBind(name, "", name, false, nil)
					}
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() {
						ch.QueueDelete(name, false, false, false)
						ch.ExchangeDelete(name, false, false)
					})
				},
				put: func(name, body string) error {
					return puts.PublishWithContext(context.Background(), mark+name, "", false, false, amqp.Publishing{Body: []byte(body)})
				},
				pipe: func(t *testing.T, from, to string, change func([]byte) []byte) {
					_, own := rabbitmqChannel(t)
					in, err := own.Consume(mark+from, "pipeline", true, false, false, false, nil)
					if err != nil {
						t.Fatal(err)
					}
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for d := range in {
							if err := own.PublishWithContext(context.Background(), mark+to, "", false, false, amqp.Publishing{Headers: d.Headers, Body: change(d.Body)}); err != nil {
								t.Error(err)
							}
						}
					}()
					t.Cleanup(func() {
						if err := own.Cancel("pipeline", false); err != nil {
							t.Error(err)
						}
						<-ended
					})
				},
				left: func(t *testing.T, name string) string { return "" }, // the server lists nothing; see queue/rabbitmq
			}
			testPipelines(t, o)
		})
	}
}

// What a killed run left is removed, with a sentence that says what.
func TestCleanOnRabbitMQ(t *testing.T) {
	bareEnvironment(t)
	url, _ := rabbitmqChannel(t)
	run := fmt.Sprintf("clean-%d", os.Getpid())
	if status, _, stderr := bench(t, strings.Fields("produce --run-id "+run+" --queue rabbitmq --rate 100 --duration 100ms --store ./lake --rabbitmq-url "+url)...); status != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"removed 1 topic of run " + run, "removed 0 topics of run " + run} {
		status, stdout, stderr := bench(t, "clean", run, "--store", "./lake", "--queue", "rabbitmq", "--rabbitmq-url", url)
		if status != 0 || stdout != want+" from the server, with the queues of each\n" {
			t.Errorf("status %d, %q, %s", status, stdout, stderr)
		}
	}
}
