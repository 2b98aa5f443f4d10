//go:build !min && !nonats

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsServerIn starts a server with JetStream in this process.
func natsServerIn(t *testing.T) (url string, js jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server did not start")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL(), js
}

func TestPipelinesOnNATS(t *testing.T) {
	url, js := natsServerIn(t)
	testPipelines(t, others{
		kind: "nats", flags: []string{"--nats-url", url}, apart: true,
		called: func(name string) string { return name },
		create: func(t *testing.T, name string) {
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".*", name}}); err != nil {
				t.Fatal(err)
			}
		},
		put: func(name, body string) error {
			_, err := js.Publish(context.Background(), name+".theirs", []byte(body))
			return err
		},
		pipe: func(t *testing.T, from, to string, change func([]byte) []byte) {
			c, err := js.CreateOrUpdateConsumer(t.Context(), from, jetstream.ConsumerConfig{Durable: "pipeline", AckPolicy: jetstream.AckNonePolicy})
			if err != nil {
				t.Fatal(err)
			}
			pulls, err := c.Consume(func(m jetstream.Msg) {
				if _, err := js.PublishMsgAsync(&nats.Msg{Subject: to, Header: m.Headers(), Data: change(m.Data())}); err != nil {
					t.Error(err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				pulls.Stop()
				<-pulls.Closed()
			})
		},
		left: func(t *testing.T, name string) (text string) {
			s, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for c := range s.ConsumerNames(t.Context()).Name() {
				if c != "pipeline" {
					text += fmt.Sprintf("consumer %s of %s, ", c, name)
				}
			}
			return text
		},
	})
}

// A consume half with other partitions than its producers' says so, and does not
// wait for what will never come.
func TestAConsumeHalfOnNATSIsToldOfOtherPartitions(t *testing.T) {
	url, _ := natsServerIn(t)
	testOtherPartitions(t, "--queue nats --nats-url "+url, func(here string) string {
		return "was made with 3 partitions and is opened with " + here
	})
}

// What a killed run left is removed, with a sentence for each kind of thing.
func TestCleanOnNATS(t *testing.T) {
	bareEnvironment(t)
	url, js := natsServerIn(t)
	if status, _, stderr := bench(t, strings.Fields("produce --run-id r1 --queue nats --rate 100 --duration 100ms --store ./lake --nats-url "+url)...); status != 0 {
		t.Fatal(stderr)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "theirs"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"g-queuebench-r1-step-0-repeat-0-group-0", "g-queuebench-r1-step-0-repeat-0-through-group-1", "g-queuebench-r10-step-0-repeat-0-group-0", "g-group-0"} {
		if _, err := js.CreateConsumer(t.Context(), "theirs", jetstream.ConsumerConfig{Durable: name}); err != nil {
			t.Fatal(err)
		}
	}
	status, stdout, stderr := bench(t, "clean", "r1", "--store", "./lake")
	if status != 0 || !strings.HasPrefix(stdout, "removed nothing of run r1") || !strings.Contains(stderr, "was of --queue nats") {
		t.Errorf("without --queue: status %d, %q, %s", status, stdout, stderr)
	}
	for _, want := range []string{"removed 1 stream of run r1 from the server\nremoved 2 consumers of run r1 from streams of others, which stay\n", "removed 0 streams of run r1 from the server\n"} {
		status, stdout, stderr = bench(t, "clean", "r1", "--store", "./lake", "--queue", "nats", "--nats-url", url)
		if status != 0 || stdout != want {
			t.Errorf("status %d, %q, %s", status, stdout, stderr)
		}
	}
}
