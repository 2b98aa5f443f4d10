//go:build interop

package kafka

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// burst is the case of a burst that a slow consumer drains, on the broker: the
// 14,485 lines of a 10 MB file are handed over at once, the broker stamps them
// within a moment, many to one millisecond, and the latency climbs in a straight
// line. The summary must say that this is a drain.
func burst(t *testing.T, bootstrap string) {
	const messages, each = 14485, 73 * time.Microsecond
	topic := topicName("burst")
	createTopic(t, bootstrap, topic, 1)
	var text strings.Builder
	for i := range messages {
		fmt.Fprintf(&text, "%07d %s\n", i, strings.Repeat("x", 715))
	}
	lines := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(lines, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, status := bench(t, "run", "--queue", "kafka", "--brokers", bootstrap, "--topic", topic, "--payload-file", lines,
		"--arrivals", "burst", "--burst-size", "all", "--messages", fmt.Sprint(messages), "--rate", fmt.Sprint(messages), "--consumer-delay", each.String(), "--pacing", "precise")
	if status != 0 {
		t.Fatalf("status %d", status)
	}
	if a := r.Steps[0].Accounting; a.Acked != messages || a.Received != messages {
		t.Errorf("accounting %+v", a)
	}
	var intended int64
	rows(t, r.Address, "sent", []string{"intended_ns"}, func(v []int64) { intended = v[0] })
	var received [][2]int64 // received, stamp
	rows(t, r.Address, "received", []string{"received_ns", "broker_ns"}, func(v []int64) { received = append(received, [2]int64{v[0], v[1]}) })
	slices.SortFunc(received, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	stamps := map[int64]int{}
	for _, row := range received {
		stamps[row[1]]++
	}
	first, last := received[0], received[len(received)-1]
	if len(stamps) > messages/10 || stamps[0] > 0 {
		t.Errorf("%d stamps of %d messages", len(stamps), messages)
	}
	slope, r2 := line(received)
	t.Logf("%d messages, stamps of the broker within %v, %.0f to one; latency from %v to %v, %v more from one message to the next, r² = %.5f", messages,
		time.Duration(last[1]-first[1]), float64(messages)/float64(len(stamps)), time.Duration(first[0]-intended).Round(time.Microsecond),
		time.Duration(last[0]-intended).Round(time.Microsecond), time.Duration(slope), r2)
	if r2 < 0.98 {
		t.Errorf("the latencies are no straight line: r² = %.5f", r2)
	}
	summary := analyze(t, "summary", r.Address)
	for _, want := range []string{"This is the time to drain a burst", "run a schedule below its service rate"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q:\n%s", want, summary)
		}
	}
}

// line is the slope of the times of messages over their numbers, by least
// squares, and the share of their variance that it explains.
func line(times [][2]int64) (slope, r2 float64) {
	n := float64(len(times))
	var x, y float64
	for i, v := range times {
		x += float64(i) / n
		y += float64(v[0]-times[0][0]) / n
	}
	var xx, xy, yy float64
	for i, v := range times {
		dx, dy := float64(i)-x, float64(v[0]-times[0][0])-y
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	return xy / xx, xy * xy / (xx * yy)
}
