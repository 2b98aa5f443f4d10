//go:build !js

package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"queuebench/rawlog"
)

func actor(kind string, id int32) string { return fmt.Sprintf("%s-%d", kind, id) }

// naive is what a join gives, computed from all rows at once with maps.
type naive struct {
	groups     []string
	producers  int
	accounting Accounting
	perSecond  []int64
	intervals  []Interval
}

// naiveJoin is the independent calculation that Read is held to, for a log that
// is whole.
func naiveJoin(r rows, start int64, intervals []Interval) naive {
	type key struct {
		producer int32
		seq      int64
	}
	var n naive
	sent := map[key]rawlog.SentRow{}
	producers := map[int32]bool{}
	a := &n.accounting
	for _, row := range r.sent {
		producers[row.Producer] = true
		sent[key{row.Producer, row.Seq}] = row
		a.Scheduled++
		switch row.Status {
		case rawlog.Overrun:
			a.Overrun++
			continue
		case rawlog.Acked:
			a.Acked++
		case rawlog.Failed:
			a.Failed++
		default:
			a.Unconfirmed++
		}
		a.Attempted++
	}
	n.producers = len(producers)
	deliveries := slices.Clone(r.received)
	slices.SortStableFunc(deliveries, func(a, b rawlog.ReceivedRow) int { return cmp.Compare(a.ReceivedNs, b.ReceivedNs) })
	first := map[string]map[key]rawlog.ReceivedRow{}
	type highKey struct {
		consumer, producer, partition int32
	}
	high := map[highKey]int64{}
	for _, row := range deliveries {
		if first[row.Group] == nil {
			first[row.Group] = map[key]rawlog.ReceivedRow{}
			n.groups = append(n.groups, row.Group)
		}
		k := key{row.Producer, row.Seq}
		s, known := sent[k]
		if !known {
			a.Foreign++
			continue
		}
		if _, again := first[row.Group][k]; again {
			a.Duplicates++
			continue
		}
		first[row.Group][k] = row
		h := highKey{row.Consumer, row.Producer, row.Partition}
		if last, ok := high[h]; ok && row.Seq < last {
			a.OutOfOrder++
		} else {
			high[h] = row.Seq
		}
		a.Received++
		if row.ReceivedNs < s.IntendedNs {
			a.Negative++
		}
		if s.Status != rawlog.Acked {
			a.ReceivedUnacked++
		}
		if second := (row.ReceivedNs - start) / 1e9; row.ReceivedNs >= start && second < 1e6 && start > 0 {
			for int64(len(n.perSecond)) <= second {
				n.perSecond = append(n.perSecond, 0)
			}
			n.perSecond[second]++
		}
	}
	slices.Sort(n.groups)
	for _, row := range sent {
		if row.Status != rawlog.Acked {
			continue
		}
		for _, g := range n.groups {
			if _, came := first[g][key{row.Producer, row.Seq}]; !came {
				a.Lost++
			}
		}
	}
	a.RecordsUsed = a.Scheduled

	n.intervals = slices.Clone(intervals)
	values := make([][numSeries][]int64, len(intervals))
	for k, row := range sent {
		i := slices.IndexFunc(intervals, func(iv Interval) bool {
			at := time.Duration(row.IntendedNs - start)
			return iv.Start <= at && at < iv.End
		})
		if i < 0 {
			continue
		}
		iv, h := &n.intervals[i], &values[i]
		iv.Scheduled++
		iv.Blocked += time.Duration(row.BlockedNs)
		put := func(series int, v int64) { h[series] = append(h[series], v) }
		if row.Status == rawlog.Overrun {
			iv.Infinite[EndToEnd] += int64(len(n.groups))
			iv.Infinite[EndToEndFromSend] += int64(len(n.groups))
			iv.Infinite[Publish]++
			continue
		}
		put(int(SendLag), row.SentNs-row.IntendedNs)
		put(ownSeries, max(0, row.SentNs-row.IntendedNs-row.BlockedNs))
		if row.Status == rawlog.Acked {
			put(int(Publish), row.AckedNs-row.IntendedNs)
		} else {
			iv.Infinite[Publish]++
		}
		for _, g := range n.groups {
			d, came := first[g][k]
			switch {
			case came:
				put(int(EndToEnd), d.ReceivedNs-row.IntendedNs)
				put(int(EndToEndFromSend), d.ReceivedNs-row.SentNs)
				if d.BrokerNs != 0 {
					put(int(BrokerToConsumer), d.ReceivedNs-d.BrokerNs)
				}
			case row.Status == rawlog.Acked:
				iv.Infinite[EndToEnd]++
				iv.Infinite[EndToEndFromSend]++
			}
		}
	}
	for i := range n.intervals {
		for s := range numSeries {
			*n.intervals[i].series(s) = compactOf(values[i][s])
		}
	}
	return n
}
