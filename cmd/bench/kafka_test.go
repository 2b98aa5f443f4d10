//go:build !min && !nokafka

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// A run against a broker leaves its topics to nobody, says what its results are
// worth, and records no secret.
func TestKafkaRun(t *testing.T) {
	bareEnvironment(t)
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "anna", "s3cret-word"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	settings := "security.protocol=sasl_plaintext\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=anna\nsasl.password=s3cret-word\nlinger.ms=1\nstatistics.interval.ms=1000\n"
	if err := os.WriteFile("client.properties", []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	place := []string{"--brokers", strings.Join(k.ListenAddrs(), ","), "--kafka-config", "client.properties"}
	status, stdout, stderr := bench(t, append([]string{
		"run", "--queue", "redpanda", "--rate", "200", "--duration", "500ms", "--run-id", "one", "--calibrate=false",
		"--producers", "2", "--consumers", "2", "--partitions", "3", "-X", "acks=1", "-X", "compression.type=lz4",
	}, place...)...)
	if status != 0 || !strings.Contains(stdout, "queue redpanda") || !strings.Contains(stderr, "statistics.interval.ms has no effect") {
		t.Fatalf("status %d\n%s\n%s", status, stdout, stderr)
	}
	for _, name := range filesBelow(".") {
		body, err := os.ReadFile(name)
		if err != nil || name == "client.properties" {
			continue
		}
		if strings.Contains(string(body), "s3cret-word") {
			t.Errorf("%s holds the password", name)
		}
		if filepath.Base(name) == "run.json" && !strings.Contains(string(body), "acks=1: the leader has the message") {
			t.Errorf("the manifest does not say what an acknowledgement is worth:\n%s", body)
		}
	}
	if strings.Contains(stdout+stderr, "s3cret-word") {
		t.Error("the output holds the password")
	}
	if k.TopicInfo("queuebench.one.step-0-repeat-0") != nil {
		t.Error("the topic is left")
	}
	if err := k.CreateTopic("queuebench.one.step-7-repeat-0", 1, nil); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr = bench(t, append([]string{"clean", "one", "--queue", "kafka"}, place...)...)
	if status != 0 || !strings.Contains(stdout, "removed 1 topic of run one from the brokers") || k.TopicInfo("queuebench.one.step-7-repeat-0") != nil {
		t.Errorf("clean: status %d\n%s\n%s", status, stdout, stderr)
	}
}

func TestKafkaMisuse(t *testing.T) {
	bareEnvironment(t)
	for says, args := range map[string][]string{
		"no broker is named":          {},
		"host:port":                   {"--brokers", ","},
		"did you mean linger.ms?":     {"--brokers", "a:1", "-X", "linger.m=1"},
		"name=value":                  {"--brokers", "a:1", "-X", "linger.ms"},
		"must not stand on a command": {"--brokers", "a:1", "-X", "sasl.password=hush"},
		"group.id is missing":         {"--brokers", "a:1", "-X", "session.timeout.ms=6000"},
		"--reading static ends":       {"--brokers", "a:1", "--reading", "static"},
		"does nothing with --topic":   {"--brokers", "a:1", "--topic", "t", "--partitions", "2"},
		"both say where consumers":    {"--brokers", "a:1", "--start-time", "5", "--only-new"},
		"lies before 1970":            {"--brokers", "a:1", "--start-time", "-5"},
		"write a time such as":        {"--brokers", "a:1", "--start-time", "yesterday"},
		"--max-backlog -1":            {"--brokers", "a:1", "--max-backlog", "-1"},
		"commit policy":               {"--brokers", "a:1", "--commit-policy", "sometimes"},
		"without a transactional.id":  {"--brokers", "a:1", "--transaction-interval", "1s"},
		"begins without any":          {"--brokers", "embedded", "--topic", "t"},
		"--topic-config \"x\"":        {"--brokers", "a:1", "--topic-config", "x"},
	} {
		status, stdout, stderr := bench(t, append([]string{"run", "--queue", "kafka", "--rate", "1", "--duration", "1s"}, args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, says) || strings.Contains(stderr, "hush") {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	if status, _, stderr := bench(t, "run", "--queue", "memory", "--brokers", "a:1", "--rate", "1"); status != 2 || !strings.Contains(stderr, "belongs to --queue kafka") {
		t.Errorf("--brokers with memory: status %d, %q", status, stderr)
	}
}

// What is there when the consumers are released is read by static readers, which
// then end by themselves.
func TestKafkaStaticBacklog(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, "backlog", "--queue", "kafka", "--brokers", "embedded", "--backlog", "500", "--reading", "static", "--partitions", "2", "--calibrate=false")
	if status != 0 {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

// TLS that is switched off is known before the run, for each of its variants.
func TestKafkaSaysWhatIsInsecure(t *testing.T) {
	bareEnvironment(t)
	for flags, want := range map[string]string{
		"":                               "",
		"-X security.protocol=ssl":       "",
		"-X security.protocol=plaintext": "",
		"-X security.protocol=ssl -X enable.ssl.certificate.verification=false":  "were not verified",
		"-X security.protocol=ssl -X ssl.endpoint.identification.algorithm=none": "were not compared",
	} {
		c := contextOf(t, "run", strings.Fields("--queue kafka --rate 1 --brokers h:1 "+flags)...)
		k, err := kindNamed("kafka")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(where{}.insecure(c, k), "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", flags, got)
		}
	}
	c := contextOf(t, "run", strings.Fields("--queue kafka --rate 1 --brokers h:1 -X security.protocol=ssl --vary X=enable.ssl.certificate.verification=true,enable.ssl.certificate.verification=false")...)
	k, err := kindNamed("kafka")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := drafts(c, k, oneRate, 1)
	if err != nil || len(steps) != 2 || len(steps[0].insecure) != 0 || len(steps[1].insecure) != 1 {
		t.Errorf("%+v, %v", steps, err)
	}
}

// A step's result says what its own acknowledgements mean.
func TestDurabilityOfAVariedSetting(t *testing.T) {
	bareEnvironment(t)
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	line := append(strings.Fields("run --queue kafka --rate 200 --duration 300ms --vary X=acks=1,acks=all --brokers"), strings.Join(k.ListenAddrs(), ","))
	status, stdout, stderr := bench(t, line...)
	if status != 0 || !strings.Contains(stdout, "acked, X acks=1: ") || !strings.Contains(stdout, "acked, X acks=all: ") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	m, _ := readLog(t, lastLine(stdout))
	if len(m.Steps) != 2 || !strings.Contains(m.Steps[0].Durability, "acks=1") || !strings.Contains(m.Steps[1].Durability, "acks=all") {
		t.Errorf("%+v", m.Steps)
	}
}

// A consume half with other partitions than its producers' says so, and does not
// wait for what will never come.
func TestAConsumeHalfOnKafkaIsToldOfOtherPartitions(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	testOtherPartitions(t, "--queue kafka --brokers "+strings.Join(k.ListenAddrs(), ","), func(here string) string {
		return "--partitions is 3 there and " + here + " here"
	})
}
