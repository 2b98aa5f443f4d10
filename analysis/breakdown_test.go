//go:build !js

package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

type shareKey struct{ by, key string }

// naiveShares breaks a log down by maps, from all rows at once.
func naiveShares(log rows, from, to int64) map[shareKey]*Share {
	type id struct {
		producer int32
		seq      int64
	}
	values := map[shareKey]*[NumKinds][]int64{}
	out := map[shareKey]*Share{}
	at := func(by, key string) (*Share, *[NumKinds][]int64) {
		k := shareKey{by, key}
		if out[k] == nil {
			out[k], values[k] = &Share{By: by, Key: key}, &[NumKinds][]int64{}
		}
		return out[k], values[k]
	}
	deliveries := slices.Clone(log.received)
	slices.SortStableFunc(deliveries, func(a, b rawlog.ReceivedRow) int { return cmp.Compare(a.ReceivedNs, b.ReceivedNs) })
	first := map[string]map[id]rawlog.ReceivedRow{}
	for _, d := range deliveries {
		if first[d.Group] == nil {
			first[d.Group] = map[id]rawlog.ReceivedRow{}
		}
		if k := (id{d.Producer, d.Seq}); first[d.Group][k].ReceivedNs == 0 {
			first[d.Group][k] = d
		}
	}
	for _, row := range log.sent {
		if row.IntendedNs < from || row.IntendedNs >= to {
			continue
		}
		p, v := at(ByProducer, actor("producer", row.Producer))
		if row.Status == rawlog.Overrun {
			p.Infinite[Publish]++
		} else {
			v[SendLag] = append(v[SendLag], row.SentNs-row.IntendedNs)
			if row.Status == rawlog.Acked {
				v[Publish] = append(v[Publish], row.AckedNs-row.IntendedNs)
			} else {
				p.Infinite[Publish]++
			}
		}
		for g, got := range first {
			group, _ := at(ByGroup, g)
			d, came := got[id{row.Producer, row.Seq}]
			if !came {
				if row.Status == rawlog.Acked || row.Status == rawlog.Overrun {
					for _, s := range []*Share{p, group} {
						s.Infinite[EndToEnd]++
						s.Infinite[EndToEndFromSend]++
					}
				}
				continue
			}
			for _, k := range []shareKey{{ByProducer, p.Key}, {ByGroup, g}, {ByConsumer, actor("consumer", d.Consumer)}, {ByPartition, strconv.Itoa(int(d.Partition))}} {
				_, v := at(k.by, k.key)
				v[EndToEnd] = append(v[EndToEnd], d.ReceivedNs-row.IntendedNs)
				v[EndToEndFromSend] = append(v[EndToEndFromSend], d.ReceivedNs-row.SentNs)
				if d.BrokerNs != 0 {
					v[BrokerToConsumer] = append(v[BrokerToConsumer], d.ReceivedNs-d.BrokerNs)
				}
			}
		}
	}
	for k, s := range out {
		for kind := range NumKinds {
			s.Latency[kind] = compactOf(values[k][kind]).Coarse()
		}
	}
	return out
}

// A breakdown is that of the plain calculation over all rows, whatever happened,
// and its sums are those of the step.
func TestBreakdownAgainstAPlainJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]int{}
	for i := range 4 {
		duration := time.Duration(2+i) * time.Second
		log := chaos(r, 2500, duration)
		src, m := logOf(t, 1+r.IntN(2500), 1000, duration, log)
		m.Queue.Partitions = 2
		src.put(t, m)
		warmup := 500 * ms
		d, err := Read(t.Context(), src, Options{View: View{Warmup: &warmup, Cooldown: 300 * ms}})
		if err != nil {
			t.Fatal(err)
		}
		b := &d.Steps[0].Breakdown
		if b.From != warmup || b.To != duration-300*ms || b.Left != 0 {
			t.Errorf("case %d: from %s to %s, %d left", i, b.From, b.To, b.Left)
		}
		want := naiveShares(log, testStart+int64(b.From), testStart+int64(b.To))
		count := map[string]int{}
		for k := range want {
			count[k.by]++
		}
		for _, got := range b.Shares {
			seen[got.By]++
			w := want[shareKey{got.By, got.Key}]
			if w == nil {
				t.Fatalf("case %d: a share %s %s", i, got.By, got.Key)
			}
			delete(want, shareKey{got.By, got.Key})
			for k := range NumKinds {
				x, y := got.Latency[k], w.Latency[k]
				if math.Abs(x.Sum-y.Sum) > 1e-9*math.Abs(y.Sum)+1 {
					t.Errorf("case %d: %s %s %s: sum %g, want %g", i, got.By, got.Key, k, x.Sum, y.Sum)
				}
				x.Sum, y.Sum = 0, 0
				// Of a partition only the receiving side is known here: the
				// acknowledgements of this log tell none.
				if !reflect.DeepEqual(x, y) || got.Infinite[k] != w.Infinite[k] {
					t.Fatalf("case %d: %s %s %s:\n got %+v, %d infinite\nwant %+v, %d infinite", i, got.By, got.Key, k, x, got.Infinite[k], y, w.Infinite[k])
				}
			}
		}
		for k := range want {
			if count[k.by] > 1 {
				t.Errorf("case %d: no share %s %s", i, k.by, k.key)
			}
		}
		// The partitions together are the step.
		x := Summarize(d, View{Warmup: &warmup, Cooldown: 300 * ms}).Steps[0]
		var sum stats.Compact
		for _, s := range b.shares(ByPartition) {
			sum = stats.Sum(sum, s.Latency[EndToEnd])
		}
		if l := latencyOf(x, EndToEnd); l.N-l.Infinite != sum.N {
			t.Errorf("case %d: %d latencies by partition, %d of the step", i, sum.N, l.N-l.Infinite)
		}
	}
	for _, by := range []string{ByProducer, ByConsumer, ByGroup, ByPartition} {
		if seen[by] == 0 {
			t.Errorf("nothing was broken down by %s", by)
		}
	}
}

// Keys beyond the first 32 are gathered and counted.
func TestBreakdownFoldsManyKeys(t *testing.T) {
	const n, partitions = 4000, 50
	r := oneStep(n)
	for i := range r.sent {
		r.sent[i].Partition = int32(i % partitions)
		r.received[i].Partition = int32(i % partitions)
	}
	src, m := logOf(t, 1500, 1000, 4*sec, r)
	m.Queue.Partitions = partitions
	src.put(t, m)
	zero := time.Duration(0)
	d, err := Read(t.Context(), src, Options{View: View{Warmup: &zero}})
	if err != nil {
		t.Fatal(err)
	}
	shares := d.Steps[0].Breakdown.Shares
	if len(shares) != maxKeys+1 {
		t.Fatalf("%d shares", len(shares))
	}
	rest := shares[maxKeys]
	if rest.Key != OtherKeys || rest.Folded != partitions-maxKeys || rest.Latency[EndToEnd].N != n/partitions*(partitions-maxKeys) {
		t.Errorf("%s gathers %d keys with %d messages", rest.Key, rest.Folded, rest.Latency[EndToEnd].N)
	}
	if got := shares[7]; got.Key != "7" || got.Latency[Publish].N != n/partitions || got.Latency[SendLag].N != n/partitions {
		t.Errorf("partition 7: %+v", got)
	}
}

// With one key of each there is nothing to break down.
func TestNoBreakdownOfOneKey(t *testing.T) {
	src, _ := logOf(t, 1500, 1000, 2*sec, oneStep(2000))
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Steps[0].Breakdown.Shares); n != 0 {
		t.Errorf("%d shares", n)
	}
}

// Stamps are counted per run of equal ones, with the unit of the broker's.
func TestStamps(t *testing.T) {
	r := oneStep(2000)
	for i := range r.received {
		r.received[i].BrokerNs = (r.sent[i].IntendedNs/1e7 + 1) * 1e7
		r.received[i].BrokerKind = "append"
	}
	src, _ := logOf(t, 700, 1000, 2*sec, r)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Steps[0].Stamps; s.Deliveries != 2000 || s.BrokerDeliveries != 2000 || s.Broker != 200 || s.BrokerUnitNs != 1e6 {
		t.Errorf("%+v", s)
	}
}

// The text has a row for each share, and says what it covers where that is not
// the cut.
func TestTextOfABreakdown(t *testing.T) {
	r := chaos(rand.New(rand.NewPCG(9, 9)), 2000, 4*sec)
	src, m := logOf(t, 3000, 1000, 4*sec, r)
	m.Queue.Partitions = 2
	src.put(t, m)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	header, rows := BreakdownTable(Summarize(d, View{}), 0)
	if len(rows) < 2 || len(rows) != len(d.Steps[0].Breakdown.Shares) || len(rows[0]) != len(header) {
		t.Fatalf("%d rows of %d cells", len(rows), len(header))
	}
	for v, want := range map[time.Duration]string{400 * ms: "broken down\n", sec: "broken down, from 400 ms to 4 s\n"} {
		var text strings.Builder
		if err := WriteText(&text, Summarize(d, view(v))); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: no %q in\n%s", err, want, text.String())
		}
	}
}
