//go:build interop

package kafka

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"queuebench/runner/envelope"
)

// foreignMessage is a message as another client reads it.
type foreignMessage struct {
	Partition, Offset, Ms int64
	Stamp, Key, Value     string
	Headers               [][2]string
}

// foreignClient checks that the messages on a topic are what the log says, as
// librdkafka reads them: each one that was acknowledged lies where the
// acknowledgement said, nothing else does, and what was received is what lies
// there, with its stamp.
func foreignClient(t *testing.T, bootstrap string) {
	python := os.Getenv("PYTHON")
	if python == "" {
		t.Fatal("PYTHON names no interpreter: run `make test-interop`")
	}
	topic := topicName("read-by-others")
	createTopic(t, bootstrap, topic, 3)
	const messages = 5000
	r, status := bench(t, "run", "--queue", "kafka", "--brokers", bootstrap, "--topic", topic, "--rate", "2500", "--duration", "2s", "--producers", "2",
		"--keys", "100", "--header", "origin=bench", "--message-size", "uniform:16..900", "-X", "compression.type=lz4", "-X", "linger.ms=5")
	if status != 0 {
		t.Fatalf("status %d", status)
	}
	if a := r.Steps[0].Accounting; a.Acked != messages || a.Received != messages {
		t.Fatalf("accounting %+v", a)
	}

	cmd := exec.CommandContext(t.Context(), python, "read_topic.py", bootstrap, topic)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read_topic.py: %v\n%s", err, stderr.String())
	}
	type place struct{ partition, offset int64 }
	type message struct {
		id envelope.ID
		foreignMessage
	}
	there, marks := map[place]message{}, 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m.foreignMessage); err != nil {
			t.Fatal(err)
		}
		payload, err := hex.DecodeString(m.Value)
		if err != nil {
			t.Fatal(err)
		}
		if m.id, err = envelope.Decode(payload); err != nil {
			t.Fatalf("a message that bench did not write lies at %d/%d: %v", m.Partition, m.Offset, err)
		}
		if m.id.Kind == envelope.End {
			marks++
			continue
		}
		if m.Stamp != "append" || len(m.Key) != len("key-00") || len(m.Headers) != 1 || m.Headers[0] != [2]string{"origin", "bench"} {
			t.Fatalf("a message lies there as %+v", m.foreignMessage)
		}
		there[place{m.Partition, m.Offset}] = m
	}
	if len(there) != messages || marks != 2*3 {
		t.Errorf("%d messages and %d end marks lie on the topic, want %d and 6", len(there), marks, messages)
	}
	check := func(table string, columns []string, stamped bool) {
		seen := map[place]bool{}
		rows(t, r.Address, table, columns, func(v []int64) {
			p := place{v[2], v[3]}
			m, ok := there[p]
			if !ok || int64(m.id.Producer) != v[0] || m.id.Seq != v[1] || seen[p] {
				t.Fatalf("%s: message %d of producer %d is said to lie at %v, where there is %+v", table, v[1], v[0], p, m.id)
			}
			if stamped && v[4] != m.Ms*1e6 {
				t.Fatalf("%s: the stamp of message %v is said to be %d, it is %d ms", table, p, v[4], m.Ms)
			}
			seen[p] = true
		})
		if len(seen) != messages {
			t.Errorf("%s has %d messages", table, len(seen))
		}
	}
	check("sent", []string{"producer", "seq", "partition", "offset"}, false)
	check("received", []string{"producer", "seq", "partition", "offset", "broker_ns"}, true)
}
