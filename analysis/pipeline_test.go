//go:build !js

package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
)

// The legs of a pipeline are what a plain loop over the rows makes of the stamps:
// those of the first delivery of each message, in whatever order rows came, and of
// none that lacks a stamp on either side.
func TestPipelineIsSplitAtTheStamps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n, producers = 4000, 2
	var all rows
	var toBroker, through []int64
	for i := range n {
		at := testStart + int64(i)*int64(10*sec)/n
		ms := at / 1e6 * 1e6 // a stamp in whole milliseconds may lie before
		row := rawlog.SentRow{Producer: int32(i % producers), Seq: int64(i / producers), IntendedNs: at, SentNs: at + 1e5, AckedNs: at + 3e6, Status: rawlog.Acked,
			Partition: 0, Offset: int64(i), BrokerNs: ms + int64(r.IntN(3))*1e6, BrokerKind: "append"}
		output := (at/500e6 + 1) * 500e6 // one for each half second
		switch i % 10 {
		case 3:
			row.BrokerNs, row.BrokerKind = 0, "" // not told
		case 7:
			row.Status, row.AckedNs, row.BrokerNs, row.BrokerKind = rawlog.Unconfirmed, 0, 0, ""
		case 8:
			row.SentNs, row.AckedNs, row.Status, row.BrokerNs, row.Offset, row.Partition = 0, 0, rawlog.Overrun, 0, -1, -1
		}
		all.sent = append(all.sent, row)
		if row.BrokerNs != 0 {
			toBroker = append(toBroker, row.BrokerNs-at)
		}
		if i%10 == 8 || i%10 == 9 { // overrun, or lost
			continue
		}
		d := rawlog.ReceivedRow{Group: "g", Producer: row.Producer, Seq: row.Seq, ReceivedNs: output + 4e6, BrokerNs: output, BrokerKind: "append", Offset: output}
		if i%20 == 1 {
			d.BrokerNs, d.BrokerKind = 0, ""
		} else if row.BrokerNs != 0 {
			through = append(through, output-row.BrokerNs)
		}
		all.received = append(all.received, d)
		if i%5 == 0 { // covered again by a later output
			d.BrokerNs, d.ReceivedNs = d.BrokerNs+500e6, d.ReceivedNs+500e6
			all.received = append(all.received, d)
		}
	}
	// Fates become known out of order.
	for i := 0; i+20 < n; i += 20 {
		r.Shuffle(20, func(a, b int) { all.sent[i+a], all.sent[i+b] = all.sent[i+b], all.sent[i+a] })
	}
	slices.SortStableFunc(all.received, func(a, b rawlog.ReceivedRow) int { return int(a.ReceivedNs - b.ReceivedNs) })
	for _, partRows := range []int{700, 100_000} {
		src, m := logOf(t, partRows, n/10, 10*sec, all)
		m.Consumed = &queue.Info{Kind: "test", Partitions: 1}
		src.put(t, m)
		d, err := Read(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := Summarize(d, View{Warmup: new(time.Duration)}).Steps[0]
		for kind, want := range map[Kind][]int64{ToBroker: toBroker, ThroughPipeline: through} {
			slices.Sort(want)
			got := x.Latencies[kind.String()]
			p50, exact := got.Percentiles["50"].Ns, want[(len(want)+1)/2-1]
			if got.N != int64(len(want)) || got.MinNs != want[0] || got.MaxNs != want[len(want)-1] || p50-exact > exact/200 || exact-p50 > exact/200 {
				t.Errorf("%v: %d from %d to %d with p50 %d, want %d from %d to %d with %d", kind, got.N, got.MinNs, got.MaxNs, p50, len(want), want[0], want[len(want)-1], exact)
			}
		}
		if len(x.Latencies) != 7 {
			t.Errorf("%d latencies", len(x.Latencies))
		}
	}
	// Without a pipeline nobody looks at these stamps.
	src, _ := logOf(t, 100_000, n/10, 10*sec, all)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if x := Summarize(d, View{}).Steps[0]; len(x.Latencies) != 5 {
		t.Errorf("%d latencies without a pipeline", len(x.Latencies))
	}
}
