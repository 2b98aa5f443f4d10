//go:build unix && interop

package faults

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/internal/kafkabroker"
	"queuebench/internal/reliability"
)

// A Kafka broker, the only one, that is killed and comes back has all that it
// acknowledged: it lies in the page cache of the host.
func TestKilledKafka(t *testing.T) {
	alongside(t, "KILLS")
	n := kills(t, 2)
	row := reliability.Try(t, reliability.Row{
		ID: "kills/kafka", What: "`kill -9` of a Kafka broker, the only one, at a seeded moment, started again at once; acks=all", Often: fmt.Sprintf("%d times", n), Effort: float64(n),
		Holds: "the run ends with status 0, lost 0, duplicates 0, failed 0, the log complete, a topic of others untouched",
	})
	c := kafkabroker.Start(t, kafkabroker.Options{})
	node := c.Nodes[0]
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap("PLAINTEXT")))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(t.Context(), 1, 1, nil, "others"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "others", Value: fmt.Appendf(nil, "message %d of others", i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var count tally
	moments(t, 5, n, 1, 3*time.Second, func(t *testing.T, i int, after time.Duration) {
		dir := t.TempDir()
		id := fmt.Sprintf("kafka-%d", i)
		b := start(t, dir, nil, "run", "--queue", "kafka", "--brokers", c.Bootstrap("PLAINTEXT"), "--rate", "1000", "--duration", "4s", "--drain-timeout", "2m",
			"--run-id", id, "--log-store", "./logs", "--part-age", "200ms", "--quiet", "--calibrate=false", "--json")
		run := filepath.Join(dir, "logs", id)
		await(t, "a part", b, func() bool { return hasParts(run, "sent") })
		time.Sleep(after)
		node.Kill()
		if err := node.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		status := b.ends(t, 5*time.Minute)
		r, a := b.accounting(t)
		addsUp(t, a, 4000)
		if status != 0 || !r.Complete || a.Lost != 0 || a.Duplicates != 0 || a.Failed != 0 || a.Unconfirmed != 0 {
			t.Errorf("status %d, %+v, complete %v\n%s", status, a, r.Complete, b.errs.String())
		}
		acked, received, twice := noneLost(t, run)
		readable(t, run)
		count.add(acked, received, twice, 0)
	})
	row.Happened = count.String()

	topics, err := admin.ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range topics.Names() {
		if name != "others" {
			t.Errorf("the runs left the topic %s", name)
		}
	}
	ends, err := admin.ListEndOffsets(t.Context(), "others")
	if err != nil {
		t.Fatal(err)
	}
	if end, ok := ends.Lookup("others", 0); !ok || end.Offset != 3 {
		t.Errorf("the topic of others ends at %+v", end)
	}
}
