package analysis

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// numbers are those of a text, in order.
func numbers(t *testing.T, text string) (out []float64) {
	t.Helper()
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }) {
		if f = strings.Trim(f, "."); f == "" {
			continue
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// durations are those of a text, in order: "20s", "1200ms".
func durations(text string) (out []time.Duration) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:", r) }) {
		if d, err := time.ParseDuration(f); err == nil && d > 0 {
			out = append(out, d)
		}
	}
	return out
}

// part is what stands after a word, up to the next semicolon.
func part(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	rest, _, _ = strings.Cut(rest, ";")
	return rest
}

func afterColon(text string) string { _, rest, _ := strings.Cut(text, ":"); return rest }

// methodExamples compute what docs/method.md says, by name of the example.
var methodExamples = map[string]func(t *testing.T, in string) string{
	"rank": func(t *testing.T, in string) string {
		x := numbers(t, in)
		return fmt.Sprint(stats.Rank(stats.FromPercent(x[0]), int64(x[1])))
	},
	"support": func(t *testing.T, in string) string {
		return fmt.Sprintf("%d messages", stats.MinSamples(stats.FromPercent(numbers(t, in)[0])))
	},
	"lag": func(t *testing.T, in string) string {
		d := durations(in)
		s := &StepDigest{StartNs: testStart, Duration: sec, Interval: sec, Intervals: newIntervals(sec, sec, nil)}
		j := newJoiner(s, nil)
		j.maxSeq, j.sentWhole, j.receivedWhole = 1, true, true
		j.row(0, 0, testStart+int64(d[0]), testStart+int64(d[1]), rawlog.Null, int64(d[2]), rawlog.Unconfirmed)
		j.finish()
		return fmt.Sprintf("send lag %s, own lag %s", FormatLatency(s.Intervals[0].Latency[SendLag].Max), FormatLatency(s.Intervals[0].OwnLag.Max))
	},
	"interval": func(_ *testing.T, in string) string { return formatDuration(DefaultInterval(durations(in)[0])) },
	"warmup": func(_ *testing.T, in string) string {
		d, _ := View{}.warmupOf(&StepDigest{Duration: durations(in)[0]})
		return formatDuration(d)
	},
	"cut": func(_ *testing.T, in string) string {
		d := durations(in)
		_, from, to := within(&StepDigest{Duration: d[0], Intervals: newIntervals(d[0], d[1], nil)}, d[2], d[0]-d[3])
		return formatDuration(from) + " to " + formatDuration(to)
	},
	"steady": func(t *testing.T, in string) string {
		var m []msg
		levels := numbers(t, afterColon(in))
		for i, level := range levels {
			at := time.Duration(i) * 100 * ms
			m = append(m, msg{intended: at, sent: at, acked: at, received: at + time.Duration(level)*ms})
		}
		d := time.Duration(len(levels)) * 100 * ms
		s := synthStep(t, 0, 10, d, 100*ms, m)
		if got := s.steadyState(d); got.Found {
			return "from " + formatDuration(got.From)
		}
		return "never"
	},
	"throughput": func(t *testing.T, in string) string {
		var per []int64
		for _, v := range numbers(t, in) {
			per = append(per, int64(v))
		}
		d := time.Duration(len(per)) * sec
		x := throughput(&StepDigest{Duration: d, Complete: true, ReceivedPerSecond: per}, 0, d)
		return fmt.Sprintf("mean %.3g, sd %.3g, cov %.3g", x.ReceivedPerS, x.SD, x.CoV)
	},
	"growth": func(t *testing.T, in string) string {
		x := numbers(t, in)
		for i := range x {
			x[i] *= 1e6
		}
		v := stats.Growth(x)
		is := map[bool]string{true: "growing", false: "not growing"}
		return fmt.Sprintf("z %.3g, %s per second, %s", v.Z, formatNs(v.Slope), is[v.Growing])
	},
	"recovery": func(t *testing.T, in string) string {
		received, p99 := numbers(t, part(in, "received")), numbers(t, part(in, "p99 in ms"))
		due := numbers(t, part(in, "due"))[0]
		var seconds []stats.Second
		for i := range received {
			seconds = append(seconds, stats.Second{Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Scheduled: int64(due), Received: int64(received[i]), P99: p99[i] * 1e6})
		}
		at := int64(durations(in)[0])
		if r := stats.Recovery(seconds, at, at); r.Found {
			return FormatLatency(r.After)
		}
		return "not recovered"
	},
	"uneven": func(t *testing.T, in string) string {
		s := calm(t)
		for i, n := range numbers(t, in) {
			s.Breakdown.Shares = append(s.Breakdown.Shares, Share{By: ByPartition, Key: strconv.Itoa(i), Latency: [NumKinds]statsCompact{EndToEnd: manyOf(int64(n), ms)}})
		}
		f := findingOf(Summarize(with(s, nil), View{}).Steps[0].Findings, "uneven-partitions")
		if f == nil {
			return "even"
		}
		n := f.Numbers["largest_share"] * f.Numbers["partitions"]
		return fmt.Sprintf("uneven, %.1f times its share", n)
	},
	"stamps": func(t *testing.T, in string) string {
		var s Stamps
		last := 0.0
		for _, v := range numbers(t, in) {
			if v != last {
				last = v
				s.brokerStamp(int64(v) * 1000)
			}
		}
		return fmt.Sprintf("%d stamps in steps of %s", s.Broker, strings.ReplaceAll(formatDuration(time.Duration(s.BrokerUnitNs)), "1.00 µs", "1 µs"))
	},
	"even": func(t *testing.T, in string) string {
		x := numbers(t, in)
		var values []int64
		for i := range int(x[0]) {
			values = append(values, int64(math.Round((x[1]+(x[2]-x[1])*float64(i)/(x[0]-1))*1e6)))
		}
		from, to, ok := evenly(compactOf(values), 0)
		if !ok {
			return "not even"
		}
		return "from " + FormatLatency(from) + " to " + FormatLatency(to)
	},
	"phases": func(t *testing.T, in string) string {
		rate, interval := numbers(t, in)[0], durations(in)[0]
		d := with(synthStep(t, 0, rate, 20*sec, 200*ms, schedule(int(20*rate), rate, func(_ int, at time.Duration) time.Duration { return interval - at%interval })), func(d *Digest) {
			d.Manifest.Queue.CommitInterval = interval
		})
		f := findingOf(Summarize(d, all()).Steps[0].Findings, "phase-locked")
		if f == nil {
			return "not locked"
		}
		return fmt.Sprintf("%.0f phases", f.Numbers["phases"])
	},
	"knee": func(t *testing.T, in string) string {
		var steps []StepDigest
		for i, p99 := range numbers(t, afterColon(in)) {
			steps = append(steps, synthStep(t, i, float64(100*(i+1)), 10*sec, 200*ms, schedule(1000*(i+1), float64(100*(i+1)), func(int, time.Duration) time.Duration { return time.Duration(p99) * ms })))
		}
		f := findingOf(Summarize(synthDigest(steps...), View{}).Findings, "knee")
		if f == nil {
			return "none"
		}
		name := []string{"", "1st", "2nd", "3rd", "4th"}
		return fmt.Sprintf("between the %s and the %s", name[int(f.Numbers["below_per_s"]/100)], name[int(f.Numbers["above_per_s"]/100)])
	},
}

// Every example of docs/method.md comes out as it says, and each that can be
// computed stands there.
func TestMethodExamples(t *testing.T) {
	b, err := os.ReadFile("../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	methodExamples := maps.Clone(methodExamples)
	maps.Copy(methodExamples, moreExamples)
	seen := map[string]bool{}
	name := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if after, opens := strings.CutPrefix(line, "```example "); opens {
			name = after
			if methodExamples[name] == nil && !slices.Contains(runnersExamples, name) {
				t.Errorf("nothing computes the example %q", name)
			}
			continue
		}
		if strings.HasPrefix(line, "```") {
			name = ""
		}
		if name == "" || methodExamples[name] == nil {
			continue
		}
		in, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Errorf("%s: %q has no arrow", name, line)
			continue
		}
		seen[name] = true
		if got := methodExamples[name](t, in); got != want {
			t.Errorf("%s: %s gives %s, the document says %s", name, in, got, want)
		}
	}
	for name := range methodExamples {
		if !seen[name] {
			t.Errorf("the document has no example %s", name)
		}
	}
}
