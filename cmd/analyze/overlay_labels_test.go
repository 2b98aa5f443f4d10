package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/queue"
)

// summaryOf is a run of a queue with settings, as name=value with spaces between.
func summaryOf(kind, durability, settings string) analysis.Summary {
	all := map[string]string{}
	for _, f := range strings.Fields(settings) {
		name, value, _ := strings.Cut(f, "=")
		all[name] = value
	}
	s := analysis.Summary{Run: "run-" + kind, Queue: queue.Info{Kind: kind, Durability: durability}}
	for _, rate := range []string{"100", "200"} {
		own := maps.Clone(all)
		own["rate"] = rate
		s.Steps = append(s.Steps, analysis.StepSummary{Settings: own})
	}
	return s
}

// A label has the queue and what sets its runs apart, and no more.
func TestLabelsOfAnOverlay(t *testing.T) {
	const day = 86_400_000_000_000
	at := func(s analysis.Summary, ns int64, run string) analysis.Summary {
		s.StartedNs, s.Run = ns, run
		return s
	}
	varied := summaryOf("kafka", "", "")
	varied.Steps[0].Settings["kafka-set"], varied.Steps[1].Settings["kafka-set"] = "acks=1", "acks=all"
	varied.Steps[0].Durability, varied.Steps[1].Durability = "acks=1: the leader has it.", "acks=all: every replica has it."
	plain := summaryOf("nats", "in a file", "run-id=a seed=1 consumers=1 nats-url=nats://a:1")
	for name, c := range map[string]struct {
		runs []analysis.Summary
		want string
	}{
		"queues that differ": {[]analysis.Summary{plain, summaryOf("redis", "", "")}, "nats|redis"},
		"one setting": {[]analysis.Summary{
			summaryOf("rabbitmq", "by a majority (publisher confirms) (RabbitMQ 3.10.8).", "run-id=a seed=1 rabbitmq-type=quorum rabbitmq-url=amqp://a:1"),
			summaryOf("rabbitmq", "by one server (RabbitMQ 3.10.8).", "run-id=b seed=2 rabbitmq-type=classic rabbitmq-url=amqp://b:2"),
			plain}, "rabbitmq type=quorum|rabbitmq type=classic|nats"},
		"what the server is set to": {[]analysis.Summary{
			summaryOf("redis", "synced to disk (appendfsync always) (Redis 7, 0 replicas connected).", "redis-url=redis://a:1"),
			summaryOf("redis", "synced every second (appendfsync everysec) (Redis 7, 0 replicas connected).", "redis-url=redis://b:1"),
			summaryOf("redis", "in memory only (appendonly no), without snapshots.", "redis-url=redis://c:1")},
			"redis appendfsync=always|redis appendfsync=everysec|redis appendonly=no"},
		"a setting that one run has by default": {[]analysis.Summary{
			summaryOf("kafka", "acks=all: every replica that is in sync has the message (1 replicas, min.insync.replicas 1).", "kafka-set= brokers=a:1"),
			summaryOf("kafka", "acks=1: the leader has the message, its followers may not (1 replicas).", "kafka-set=acks=1 X=acks=1 brokers=a:1")},
			"kafka acks=all|kafka acks=1"},
		"several settings, those of the queue first": {[]analysis.Summary{
			summaryOf("nats", "x", "consumers=1 message-size=100 nats-storage=file nats-replicas=1"),
			summaryOf("nats", "x", "consumers=4 message-size=200 nats-storage=memory nats-replicas=3")},
			"nats replicas=1 storage=file consumers=1 +1|nats replicas=3 storage=memory consumers=4 +1"},
		"a setting that an older program did not have": {[]analysis.Summary{
			at(summaryOf("nats", "x", "consumers=1"), day, "a"), at(summaryOf("nats", "x", "consumers=1 nats-new=7"), 2*day, "b")},
			"nats 1970-01-02 00:00:00|nats 1970-01-03 00:00:00"},
		"where the server was":       {[]analysis.Summary{plain, summaryOf("nats", "in a file", "consumers=1 nats-url=nats://b:1")}, "nats url=nats://a:1|nats url=nats://b:1"},
		"the time":                   {[]analysis.Summary{at(plain, day, "a"), at(plain, 2*day, "b")}, "nats 1970-01-02 00:00:00|nats 1970-01-03 00:00:00"},
		"the run, at one time":       {[]analysis.Summary{at(plain, day, "a"), at(plain, day, "b")}, "nats a|nats b"},
		"the same run twice":         {[]analysis.Summary{at(plain, day, "a"), at(plain, day, "a")}, "nats 1|nats 2"},
		"what another tool recorded": {[]analysis.Summary{at(analysis.Summary{}, 0, ""), at(analysis.Summary{}, 0, "")}, "file-0.csv|file-1.csv"},
		"three, two of them alike": {[]analysis.Summary{
			at(summaryOf("nats", "x", "consumers=1"), day, "a"), at(summaryOf("nats", "x", "consumers=2"), 2*day, "b"), at(summaryOf("nats", "x", "consumers=2"), 3*day, "c")},
			"nats consumers=1 1970-01-02 00:00:00|nats consumers=2 1970-01-03 00:00:00|nats consumers=2 1970-01-04 00:00:00"},
		"what differs within a run": {[]analysis.Summary{at(varied, day, "a"), at(varied, 2*day, "b")}, "kafka 1970-01-02 00:00:00|kafka 1970-01-03 00:00:00"},
		"hostile": {[]analysis.Summary{
			summaryOf("nats", "x", "nats-subject=\x1b[31m"+strings.Repeat("x", 50)), summaryOf("nats", "x", "nats-subject=")},
			"nats subject=[31mxxxxxxxxxxxxxxxxxxxxxxxxxxx…|nats subject=none"},
	} {
		addresses := make([]string, len(c.runs))
		for i := range addresses {
			addresses[i] = "folder/file-" + string(rune('0'+i)) + ".csv"
		}
		got := overlayLabels(c.runs, addresses)
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, text, c.want)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
			t.Errorf("%s: labels come twice: %q", name, got)
		}
	}
}
