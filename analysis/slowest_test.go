//go:build !js

package analysis

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"queuebench/rawlog"
)

// The slowest messages are those of the rows: all of the slowest overall within
// the cut, and the slowest of each slice of the step, with the row's own times.
func TestSlowestMessages(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	rs := oneStep(4000)
	for i := range rs.received {
		rs.received[i].ReceivedNs = rs.sent[i].IntendedNs + int64(5*ms) + r.Int64N(int64(20*ms))
		rs.received[i].Partition = int32(i % 3)
		if i < 300 {
			rs.received[i].ReceivedNs += int64(sec) // a slow start, which the warm-up cuts
		}
	}
	// One comes before its row, one was never acknowledged, one never sent.
	rs.sent[2000].Status, rs.sent[2000].AckedNs, rs.received[2000].ReceivedNs = rawlog.Unconfirmed, 0, rs.sent[2000].IntendedNs+int64(3*sec)
	slices.SortFunc(rs.received, func(a, b rawlog.ReceivedRow) int { return cmp.Compare(a.ReceivedNs, b.ReceivedNs) })
	src, _ := logOf(t, 5000, 1000, 4*sec, rs)
	w := 500 * ms
	v := View{Warmup: &w}
	d, err := Read(t.Context(), src, Options{View: v})
	if err != nil {
		t.Fatal(err)
	}
	got := d.Steps[0].Slowest
	if len(got) <= slowestOverall || len(got) > MaxSlowest || !slices.IsSortedFunc(got, func(a, b SlowMessage) int { return slower(&a, &b) }) {
		t.Fatalf("%d messages", len(got))
	}

	type message struct{ latency, seq int64 }
	var all []message
	slices1 := map[int64]message{}
	for i := range rs.received {
		x := &rs.received[i]
		m := message{x.ReceivedNs - rs.sent[x.Seq].IntendedNs, x.Seq}
		at := rs.sent[x.Seq].IntendedNs - testStart
		if at >= int64(w) {
			all = append(all, m)
		}
		if slice := at * slowestSlices / int64(4*sec); m.latency > slices1[slice].latency {
			slices1[slice] = m
		}
	}
	slices.SortFunc(all, func(a, b message) int { return cmp.Compare(b.latency, a.latency) })
	want := map[int64]bool{}
	for _, m := range all[:slowestOverall] {
		want[m.seq] = true
	}
	for _, m := range slices1 {
		want[m.seq] = true
	}
	for i := range got {
		m := &got[i]
		if !want[m.Seq] {
			t.Errorf("message %d with %d ns is none of the slowest", m.Seq, m.Latency())
		}
		delete(want, m.Seq)
		row := &rs.sent[m.Seq]
		j := slices.IndexFunc(rs.received, func(x rawlog.ReceivedRow) bool { return x.Seq == m.Seq })
		acked := row.AckedNs - testStart
		if row.Status != rawlog.Acked {
			acked = rawlog.Null
		}
		if m.Intended != row.IntendedNs-testStart || m.Sent != row.SentNs-testStart || m.Acked != acked || m.Received != rs.received[j].ReceivedNs-testStart ||
			m.Partition != int64(rs.received[j].Partition) || m.Group != "g" || m.Consumer == "" || m.Producer != 0 {
			t.Errorf("%+v of %+v and %+v", m, row, rs.received[j])
		}
		var sum int64
		for _, s := range m.Stages() {
			sum += s.Ns
		}
		if sum != m.Latency() {
			t.Errorf("stages %+v of %d ns", m.Stages(), m.Latency())
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if longest, ok := got[0].Longest(); got[0].Seq != 2000 || !ok || longest.Name != "sent to received" {
		t.Errorf("the slowest is %+v, its longest stage %+v", got[0], longest)
	}

	// A view lists those that it looks at.
	in := SlowestOf(&d.Steps[0], View{Warmup: &w, From: sec, To: 2 * sec})
	if len(in) < slowestSlices/4 || slices.ContainsFunc(in, func(m SlowMessage) bool { return m.Intended < int64(sec) || m.Intended >= int64(2*sec) }) {
		t.Errorf("%d from 1 s to 2 s", len(in))
	}

	// A digest keeps them, in some 60 bytes each.
	var with, without bytes.Buffer
	if err := PackDigest(&with, d); err != nil {
		t.Fatal(err)
	}
	back, err := ReadDigest(bytes.NewReader(with.Bytes()))
	if err != nil || !reflect.DeepEqual(back.Steps[0].Slowest, got) {
		t.Fatalf("%v; %d came back", err, len(back.Steps[0].Slowest))
	}
	bare := *d
	bare.Steps = slices.Clone(d.Steps)
	bare.Steps[0].Slowest = nil
	if err := PackDigest(&without, &bare); err != nil {
		t.Fatal(err)
	}
	if size := with.Len() - without.Len(); size > 60*len(got) {
		t.Errorf("%d messages take %d bytes", len(got), size)
	}
	if old, err := ReadDigest(bytes.NewReader(without.Bytes())); err != nil || old.Steps[0].Slowest != nil {
		t.Errorf("a digest without them: %v", err)
	}
}

// Damaged columns are refused.
func TestSlowestRefusals(t *testing.T) {
	good := newSlowestRecord([]SlowMessage{{Seq: 1, Group: "g", Sent: rawlog.Null, Acked: rawlog.Null, Broker: 5, Received: 9}})
	for name, spoil := range map[string]func(r *slowestRecord){
		"lengths":   func(r *slowestRecord) { r.SentNs = nil },
		"groups":    func(r *slowestRecord) { r.Group = []string{"a", "b"} },
		"too many":  func(r *slowestRecord) { r.Seq = make([]int64, MaxSlowest+1) },
		"no column": func(r *slowestRecord) { r.IntendedNs = nil },
	} {
		bad := *good
		spoil(&bad)
		if err := bad.into(&StepDigest{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var s StepDigest
	if err := good.into(&s); err != nil || len(s.Slowest) != 1 || s.Slowest[0].Broker != 5 || s.Slowest[0].Sent != rawlog.Null {
		t.Errorf("%+v, %v", s.Slowest, err)
	}
}
