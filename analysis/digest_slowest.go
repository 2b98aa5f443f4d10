package analysis

import (
	"fmt"
	"slices"

	"queuebench/rawlog"
)

// slowestRecord has the slowest messages of a step in columns, a value for each.
// Times are in ns: intended since the step's start, the others since intended.
// Readers that do not know it pass it over, and digests without it have none.
type slowestRecord struct {
	Producer   []int64  `json:"producer"`
	Seq        []int64  `json:"seq"`
	Partition  []int64  `json:"partition"`
	Group      []string `json:"group,omitempty"`    // left out where none has one
	Consumer   []string `json:"consumer,omitempty"` // left out where none is known
	IntendedNs []int64  `json:"intended_ns"`
	SentNs     []*int64 `json:"sent_ns"`
	AckedNs    []*int64 `json:"acked_ns"`
	BrokerNs   []*int64 `json:"broker_ns,omitempty"` // left out where there is none
	ReceivedNs []int64  `json:"received_ns"`
}

func newSlowestRecord(all []SlowMessage) *slowestRecord {
	if len(all) == 0 {
		return nil
	}
	r := &slowestRecord{}
	for i := range all {
		m := &all[i]
		since := func(ns int64) *int64 {
			if ns == rawlog.Null {
				return nil
			}
			d := ns - m.Intended
			return &d
		}
		r.Producer, r.Seq, r.Partition = append(r.Producer, m.Producer), append(r.Seq, m.Seq), append(r.Partition, m.Partition)
		r.Group, r.Consumer = append(r.Group, m.Group), append(r.Consumer, m.Consumer)
		r.IntendedNs, r.ReceivedNs = append(r.IntendedNs, m.Intended), append(r.ReceivedNs, m.Latency())
		r.SentNs, r.AckedNs, r.BrokerNs = append(r.SentNs, since(m.Sent)), append(r.AckedNs, since(m.Acked)), append(r.BrokerNs, since(m.Broker))
	}
	if !slices.ContainsFunc(r.BrokerNs, func(p *int64) bool { return p != nil }) {
		r.BrokerNs = nil
	}
	empty := func(s string) bool { return s != "" }
	if !slices.ContainsFunc(r.Group, empty) {
		r.Group = nil
	}
	if !slices.ContainsFunc(r.Consumer, empty) {
		r.Consumer = nil
	}
	return r
}

func (r *slowestRecord) into(s *StepDigest) error {
	if r == nil {
		return nil
	}
	n := len(r.Seq)
	if n > MaxSlowest {
		return fmt.Errorf("%d slowest messages, at most %d are kept", n, MaxSlowest)
	}
	for _, k := range []int{len(r.Producer), len(r.Partition), len(r.IntendedNs), len(r.SentNs), len(r.AckedNs), len(r.ReceivedNs)} {
		if k != n {
			return fmt.Errorf("%d slowest messages with columns of other lengths", n)
		}
	}
	for _, k := range []int{len(r.Group), len(r.Consumer), len(r.BrokerNs)} {
		if k != n && k != 0 {
			return fmt.Errorf("%d slowest messages with columns of other lengths", n)
		}
	}
	for i := range n {
		at := r.IntendedNs[i]
		since := func(p []*int64) int64 {
			if len(p) == 0 || p[i] == nil {
				return rawlog.Null
			}
			return at + *p[i]
		}
		m := SlowMessage{
			Producer: r.Producer[i], Seq: r.Seq[i], Partition: r.Partition[i], Intended: at,
			Sent: since(r.SentNs), Acked: since(r.AckedNs), Broker: since(r.BrokerNs), Received: at + r.ReceivedNs[i],
		}
		if len(r.Group) > 0 {
			m.Group = r.Group[i]
		}
		if len(r.Consumer) > 0 {
			m.Consumer = r.Consumer[i]
		}
		s.Slowest = append(s.Slowest, m)
	}
	return nil
}
