//go:build interop

package kafka

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/identity"
)

// sum is running-sum as a process.
type sum struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer
}

func (s *sum) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.Write(p)
}

func startSum(t *testing.T, args ...string) *sum {
	t.Helper()
	s := &sum{cmd: exec.Command(program(t, "running-sum"), args...)}
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(syscall.SIGKILL) })
	return s
}

func (s *sum) end(sig syscall.Signal) error {
	_ = s.cmd.Process.Signal(sig) // fails only if it has ended
	return s.cmd.Wait()
}

// runningSum measures the example through the broker: each input is covered by
// exactly one output, the last output is the sum of what lies on the input's
// topic, and the latency is split where the broker stamped both.
func runningSum(t *testing.T, bootstrap string) {
	for _, c := range []struct {
		format, identity string
		partitions       int32
		killed           bool
	}{
		{"json", "json:/id", 2, false},
		{"delimited", "payload", 1, false},
		{"json", "json:/id", 2, true},
	} {
		name := c.format
		if c.killed {
			name += ", killed and started again"
		}
		t.Run(name, func(t *testing.T) {
			in, out := topicName("numbers"), topicName("sums")
			createTopic(t, bootstrap, in, c.partitions)
			createTopic(t, bootstrap, out, 1)
			args := []string{"--brokers", bootstrap, "--in", in, "--out", out, "--format", c.format, "--group", in, "--transactional-id", in}
			pipeline := startSum(t, args...)
			if c.killed {
				go func() {
					time.Sleep(4 * time.Second)
					pipeline.end(syscall.SIGKILL)
					again := startSum(t, args...)
					t.Cleanup(func() { t.Logf("%s", again.output.String()) })
				}()
			}
			const rate, seconds = 500, 6
			r, status := bench(t, "run", "--queue", "kafka", "--brokers", bootstrap, "--topic", in, "--through", out, "--through-identity", "json:/covers",
				"--format", c.format, "--identity", c.identity, "--message-size", "120", "--rate", strconv.Itoa(rate), "--duration", strconv.Itoa(seconds)+"s", "--drain-timeout", "90s",
				"-X", "linger.ms=1")
			if status != 0 || len(r.Steps) != 1 {
				t.Fatalf("status %d, %+v; the pipeline says %s", status, r, pipeline.output.String())
			}
			a := r.Steps[0].Accounting
			if a.Scheduled != rate*seconds || a.Acked != a.Scheduled || a.Received != a.Scheduled || a.Lost != 0 || a.Duplicates != 0 || a.Foreign != 0 {
				t.Errorf("accounting %+v; the pipeline says %s", a, pipeline.output.String())
			}
			inputs, outputs := records(t, bootstrap, in), records(t, bootstrap, out)[0]
			checkSums(t, inputs, outputs, c.format, seconds, c.killed)
			checkSplit(t, r.Address, inputs, outputs, c.identity)
		})
	}
}

// checkSums adds the inputs up and compares.
func checkSums(t *testing.T, inputs map[int32][]*kgo.Record, outputs []*kgo.Record, format string, seconds int, killed bool) {
	t.Helper()
	var want, count int64
	for _, partition := range inputs {
		for _, r := range partition {
			value := int64(0)
			if format == "json" {
				var v struct{ Value int64 }
				if err := json.Unmarshal(r.Value, &v); err != nil {
					t.Fatalf("%s: %v", r.Value, err)
				}
				value = v.Value
			} else if fields := strings.Split(string(r.Value), ","); r.Offset == 0 {
				if string(r.Value) != "id,value,pad" {
					t.Errorf("the first line is %q", r.Value)
				}
				continue
			} else if v, err := strconv.ParseInt(fields[1], 10, 64); err != nil {
				t.Fatalf("%s: %v", r.Value, err)
			} else {
				value = v
			}
			want += value
			count++
		}
	}
	var last struct {
		Sum, Count int64
		Covers     string
	}
	for _, r := range outputs {
		before := last.Count
		if err := json.Unmarshal(r.Value, &last); err != nil {
			t.Fatalf("%s: %v", r.Value, err)
		}
		spans, err := identity.NewReader(mustPlace("json:/covers")).Read(&queue.Delivery{Payload: r.Value})
		covered := int64(0)
		for _, s := range spans {
			covered += s.N
		}
		if err != nil || covered != last.Count-before {
			t.Errorf("an output covers %d inputs, and is the sum of %d more than the one before: %v", covered, last.Count-before, err)
		}
		headers := map[string]string{}
		for _, h := range r.Headers {
			headers[h.Key] = string(h.Value)
		}
		if ms, err := strconv.ParseInt(headers["pathway_time"], 10, 64); err != nil || time.Since(time.UnixMilli(ms)).Abs() > time.Hour || headers["pathway_diff"] != "1" {
			t.Errorf("headers %v", headers)
		}
	}
	if last.Sum != want || last.Count != count {
		t.Errorf("the last output says that %d inputs sum to %d; the topic has %d, which sum to %d", last.Count, last.Sum, count, want)
	}
	// One in each commit interval of 1 s in which there was an input, so at most
	// one more than seconds, but where the process began again.
	if n := len(outputs); n < 2 || n > seconds+2 && !killed {
		t.Errorf("%d outputs in %d seconds", n, seconds)
	}
}

func mustPlace(text string) identity.Place {
	p, err := identity.ParsePlace(text)
	if err != nil {
		panic(err) // a text of this test
	}
	return p
}

// checkSplit splits each message's latency at the stamps of the broker, which
// are those of this host in whole milliseconds: to the input's topic, through the
// pipeline, from the output's topic.
func checkSplit(t *testing.T, run string, inputs map[int32][]*kgo.Record, outputs []*kgo.Record, where string) {
	t.Helper()
	type key struct{ producer, seq int64 }
	appended := map[key]time.Time{}
	reader := identity.NewReader(mustPlace(where))
	for _, partition := range inputs {
		for _, r := range partition {
			if spans, err := reader.Read(&queue.Delivery{Payload: r.Value}); err == nil {
				appended[key{int64(spans[0].First.Producer), spans[0].First.Seq}] = r.Timestamp
			}
		}
	}
	stamps := map[int64]int64{}
	for _, r := range outputs {
		stamps[r.Offset] = r.Timestamp.UnixNano()
	}
	intended := map[key]int64{}
	rows(t, run, "sent", []string{"producer", "seq", "intended_ns", "broker_ns"}, func(v []int64) {
		k := key{v[0], v[1]}
		if intended[k] = v[2]; v[3] != appended[k].UnixNano() {
			t.Errorf("the acknowledgement of message %v has the stamp %d, it lies there with %d", k, v[3], appended[k].UnixNano())
		}
	})
	var to, through, from []time.Duration
	const ms = int64(time.Millisecond)
	rows(t, run, "received", []string{"producer", "seq", "received_ns", "broker_ns", "offset"}, func(v []int64) {
		k := key{v[0], v[1]}
		in := appended[k].UnixNano()
		if v[3] == rawlog.Null || v[3] != stamps[v[4]] {
			t.Fatalf("message %v has the stamp %d of its output at %d, which is %d", k, v[3], v[4], stamps[v[4]])
		}
		// A stamp of whole milliseconds lies up to one before what it stamps.
		if in+ms <= intended[k] || v[3]+ms <= in || v[2] < v[3] {
			t.Fatalf("message %v: intended %d, on the input's topic %d, on the output's %d, received %d", k, intended[k], in, v[3], v[2])
		}
		to = append(to, time.Duration(in-intended[k]))
		through = append(through, time.Duration(v[3]-in))
		from = append(from, time.Duration(v[2]-v[3]))
	})
	if len(to) != len(appended) || len(to) == 0 {
		t.Errorf("%d rows of %d inputs", len(to), len(appended))
	}
	median := func(d []time.Duration) time.Duration { slices.Sort(d); return d[len(d)/2].Round(time.Millisecond / 10) }
	t.Logf("medians of %d messages: intended → input's topic %v → output's topic %v → received %v", len(to), median(to), median(through), median(from))
	var summary struct {
		Steps []struct {
			Untrimmed map[string]struct {
				N           int64
				Percentiles map[string]struct{ Ns int64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(analyze(t, "summary", "--json", run)), &summary); err != nil {
		t.Fatal(err)
	}
	for name, leg := range map[string][]time.Duration{"to_broker": to, "through_pipeline": through, "broker_to_consumer": from} {
		slices.Sort(leg)
		want := leg[(len(leg)+1)/2-1]
		if got := summary.Steps[0].Untrimmed[name]; got.N != int64(len(leg)) || time.Duration(got.Percentiles["50"].Ns)-want > want.Abs()/100 || want-time.Duration(got.Percentiles["50"].Ns) > want.Abs()/100 {
			t.Errorf("the summary says of %s: %+v, the rows have %d with a median of %v", name, got, len(leg), want)
		}
	}
}
