//go:build !min && !nokafka

package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"
)

const numbers = `{"type":"object","properties":{"id":{"type":"string"},"value":{"type":"integer"},"pad":{"type":"string"}}}`

// A topic that is written through a registry holds messages that its deserializer
// reads: each has the frame of the schema that was registered for it. The run says
// which, and no secret.
func TestSchemaFrames(t *testing.T) {
	bareEnvironment(t)
	registry := srfake.New(srfake.WithAuth("Basic " + base64.StdEncoding.EncodeToString([]byte("anna:s3cret-word"))))
	defer registry.Close()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	if err := os.WriteFile("numbers.json", []byte(numbers), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCHEMA_REGISTRY_USER", "anna")
	t.Setenv("SCHEMA_REGISTRY_PASSWORD", "s3cret-word")
	line := []string{"run", "--queue", "kafka", "--brokers", strings.Join(k.ListenAddrs(), ","), "--topic", "orders", "--rate", "200", "--duration", "500ms",
		"--format", "json", "--message-size", "120", "-X", "linger.ms=1", "--schema-registry", registry.URL(), "--json"}
	status, stdout, stderr := bench(t, append(line, "--schema-file", "numbers.json")...)
	if a := jsonOf(t, stdout).Steps[0].Accounting; status != 0 || a.Received != 100 || a.Foreign != 0 {
		t.Fatalf("status %d, %+v, %s", status, a, stderr)
	}
	schema, ok := registry.GetSchema("orders-value", 1)
	if !ok || schema.Schema.Schema != numbers {
		t.Fatalf("the registry has %+v, %v", schema, ok)
	}
	m, _ := readLog(t, lastLine(stdout))
	for _, want := range []string{"schema id " + itoa(schema.ID), "version 1 of subject orders-value", "registered for the run"} {
		if text := strings.Join(m.Warnings, "\n"); !strings.Contains(text, want) || strings.Contains(text, "not encoded") {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for _, name := range filesBelow(".") {
		if body, _ := os.ReadFile(name); strings.Contains(string(body), "s3cret-word") {
			t.Errorf("%s holds the password", name)
		}
	}
	checkFramed(t, k, schema.ID)

	// The latest schema is the default. One that is newer makes what lies there a
	// message of another schema.
	registry.SeedSchema("orders-value", 2, schema.ID+7, sr.Schema{Schema: `{"type":"object"}`, Type: sr.TypeJSON})
	status, stdout, stderr = bench(t, line...)
	m, _ = readLog(t, lastLine(stdout))
	if text := strings.Join(m.Warnings, "\n"); status != 0 || !strings.Contains(text, "schema id "+itoa(schema.ID+7)) || strings.Contains(text, "registered for") {
		t.Errorf("status %d, %s%s", status, stderr, text)
	}
}

// checkFramed reads the topic as another client does.
func checkFramed(t *testing.T, k *kfake.Cluster, id int) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.ConsumeTopics("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var serde sr.Serde
	serde.Register(id, map[string]any{}, sr.DecodeFn(json.Unmarshal))
	seen := 0
	for deadline := time.Now().Add(20 * time.Second); seen < 102 && time.Now().Before(deadline); { // two end marks
		c.PollFetches(t.Context()).EachRecord(func(r *kgo.Record) {
			var v map[string]any
			if err := serde.Decode(r.Value, &v); err != nil || v["id"] == nil || v["value"] == nil {
				t.Errorf("%q: %v, %v", r.Value, v, err)
			}
			seen++
		})
	}
	if seen != 102 {
		t.Errorf("%d messages lie there", seen)
	}
}

func TestSchemaOfAnIDNeedsNoRegistry(t *testing.T) {
	bareEnvironment(t)
	for _, flags := range []string{
		"--schema-id 7",
		"--schema-id 7 --format json --identity json:/meta/id --message-size 200",
		"--schema-id 0 --schema-type protobuf --schema-message-index 1,0 --identity key",
		"--schema-id 7 --schema-type avro --format delimited --identity header:id",
	} {
		status, stdout, stderr := bench(t, strings.Fields("run --queue memory --rate 400 --duration 250ms --json "+flags)...)
		if a := jsonOf(t, stdout).Steps[0].Accounting; status != 0 || a.Received != 100 || a.Foreign != 0 {
			t.Errorf("%s: status %d, %+v, %s", flags, status, a, stderr)
		}
		m, _ := readLog(t, lastLine(stdout))
		if text := strings.Join(m.Warnings, "\n"); !strings.Contains(text, "have the frame of schema id") || strings.Contains(text, "not encoded") == strings.Contains(flags, "json:/meta") {
			t.Errorf("%s: %s", flags, text)
		}
	}
	status, stdout, stderr := bench(t, strings.Fields("closed --queue memory --mode end-to-end --operations 50 --schema-id 7 --json")...)
	if status != 0 {
		t.Errorf("a closed loop: status %d, %s%s", status, stdout, stderr)
	}
}

func TestSchemaMisuse(t *testing.T) {
	bareEnvironment(t)
	for says, flags := range map[string]string{
		"without a schema":      "--schema-subject s",
		"names the schema":      "--schema-id 7 --schema-subject s",
		"--schema-type":         "--schema-id 7 --schema-type xml",
		"only Protobuf has one": "--schema-id 7 --schema-message-index 0",
		"no message index":      "--schema-id 7 --schema-type protobuf --schema-message-index x",
		"schema id -1":          "--schema-id -1",
		"no address":            "--schema-registry registry:8081 --schema-subject s",
		"in the environment":    "--schema-registry http://anna:s3cret@h:1 --schema-subject s",
		"--schema-subject":      "--schema-registry http://h:1",
		"--schema-file":         "--schema-registry http://h:1 --schema-subject s --schema-file none.json",
		"--schema-registry-ca":  "--schema-registry http://h:1 --schema-subject s --schema-registry-ca none.pem",
		"without --through":     "--schema-id 7 --through-schema any",
		"takes at least 21":     "--schema-id 7 --message-size 20",
	} {
		status, stdout, stderr := bench(t, append([]string{"run", "--queue", "memory", "--rate", "1", "--duration", "1s"}, strings.Fields(flags)...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, says) || strings.Contains(stderr, "s3cret") {
			t.Errorf("%s: status %d, %q, %q", flags, status, stdout, stderr)
		}
	}
}
