//go:build !js

package analysis

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"queuebench/rawlog"
)

// commits is a log of messages that are acknowledged and received in batches
// with one stamp, by partition: nearly all of it counts in batches. A share of
// the messages has something that makes it different.
func commits(r *rand.Rand, n int, every time.Duration, trouble float64) rows {
	producers, partitions, groups := 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(2)
	broker, blocks, skew := r.IntN(2) == 0, r.IntN(2) == 0, int64(r.IntN(2))*r.Int64N(40e6)
	var out rows
	for i := range n {
		at := testStart + int64(i)*50_000
		due := testStart + ((at-testStart)/int64(every)+1)*int64(every)
		partition := int32(r.IntN(partitions))
		row := rawlog.SentRow{Producer: int32(i % producers), Seq: int64(i / producers), IntendedNs: at, SentNs: at + r.Int64N(1+int64(i%7)*1000),
			AckedNs: due + 3e6, Status: rawlog.Acked, Partition: partition, Offset: int64(i)}
		if blocks && i%500 < 50 {
			row.BlockedNs = r.Int64N(2000)
		}
		odd := r.Float64() < trouble
		lost := false
		if odd {
			switch r.IntN(6) {
			case 0:
				row.Status, row.SentNs, row.AckedNs, row.Partition, lost = rawlog.Overrun, 0, 0, -1, true
			case 1:
				row.Status, row.AckedNs = rawlog.Unconfirmed, 0
			case 2:
				row.Status = rawlog.Failed
			case 3:
				row.SentNs = at - 1000 // a clock that steps back
			case 4:
				lost = true
			}
		}
		out.sent = append(out.sent, row)
		if lost {
			continue
		}
		for g := range groups {
			d := rawlog.ReceivedRow{Consumer: int32(g), Group: []string{"a", "b"}[g], Producer: row.Producer, Seq: row.Seq,
				ReceivedNs: due + 8e6 + int64(partition)*1e5 - skew, Partition: partition, Offset: int64(i)}
			if broker && !(odd && r.IntN(3) == 0) {
				d.BrokerNs, d.BrokerKind = due+int64(i%3)*1e6, "append"
			}
			if odd && r.IntN(4) == 0 {
				d.ReceivedNs += r.Int64N(500e6)
			}
			if odd && r.IntN(8) == 0 {
				d.PolledNs = d.ReceivedNs - 1e6
			}
			out.received = append(out.received, d)
			if odd && r.IntN(3) == 0 {
				d.ReceivedNs += r.Int64N(500e6)
				out.received = append(out.received, d)
			}
		}
	}
	slices.SortStableFunc(out.received, func(a, b rawlog.ReceivedRow) int {
		return cmp.Or(cmp.Compare(a.ReceivedNs, b.ReceivedNs), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

// Rows that are counted together give the digest, to the last bit, that they
// give one by one.
func TestBatchesCountAsRowsDo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	for i := range 16 {
		n := []int{3, 700, 1500, 4000}[i%4]
		log := commits(r, n, []time.Duration{5 * ms, 100 * ms, 300 * ms}[i%3], []float64{0, 0.001, 0.05, 0.5}[i/4])
		src, m := logOf(t, 1+r.IntN(2*n), 20_000, time.Duration(n)*50*time.Microsecond+sec, log)
		for _, groups := range [][]string{m.Steps[0].Groups, nil} {
			m.Steps[0].Groups = groups
			src.put(t, m)
			var digests [2][]byte
			for k := range digests {
				d, err := Read(t.Context(), src, Options{single: k == 1, Edges: []time.Duration{123 * ms}})
				if err != nil {
					t.Fatal(err)
				}
				digests[k] = write(t, d)
			}
			if !bytes.Equal(digests[0], digests[1]) {
				t.Fatalf("case %d, %d messages: in batches\n%.3000s\none by one\n%.3000s", i, n, digests[0], digests[1])
			}
		}
	}
}
