package analysis

import (
	"math"

	"queuebench/rawlog"
)

// The columns that the stamps of a pipeline are joined by, in the places of those
// that the main join reads: the stamp on the input's topic stands for the time at
// which a message was sent, and that on the output's for the time at which it was
// received.
var (
	inputColumns  = []string{"producer", "seq", "intended_ns", "broker_ns", "acked_ns", "status", "blocked_ns"}
	outputColumns = []string{"producer", "seq", "broker_ns", "group", "partition", "received_ns", "polled_ns"}
)

// pipeline splits the latencies of a step at the brokers' stamps, where a pipeline
// lies between its producers and its consumers and the input's topic has stamps. It
// is a join of its own, after the main one, so that no other log pays for it.
// Messages without both stamps are in neither leg.
func (r *reading) pipeline(out *StepDigest, m *rawlog.Manifest, s *stepParts, planned *rawlog.Step, groups []string) error {
	if m.Consumed == nil || out.NoEndToEnd != "" {
		return nil
	}
	sent, received, err := r.openStamps(s)
	defer func() {
		for _, x := range sent {
			x.close()
		}
		for _, x := range received {
			x.close()
		}
	}()
	if err != nil || len(sent) == 0 || len(received) == 0 {
		return err
	}
	legs := &StepDigest{Step: out.Step, Repeat: out.Repeat, StartNs: out.StartNs, Duration: out.Duration, Interval: out.Interval}
	for _, iv := range out.Intervals {
		legs.Intervals = append(legs.Intervals, Interval{Start: iv.Start, End: iv.End})
	}
	j := newJoiner(legs, groups)
	j.memory = &r.memory
	j.sending.free, j.receiving.free = r.sending, r.receiving
	j.maxSeq = s.rows(rawlog.Sent.Name)
	j.watermarks(s, planned)
	if !j.sentWhole {
		j.maxSeq += cutSlack
	}
	if err := j.run(sent, received); err != nil {
		return err
	}
	r.sending, r.receiving = j.sending.free, j.receiving.free
	for i := range out.Intervals {
		from, to := &legs.Intervals[i], &out.Intervals[i]
		to.Latency[ToBroker], to.Latency[ThroughPipeline] = from.Latency[SendLag], from.Latency[EndToEndFromSend]
	}
	return nil
}

// openStamps opens the streams of a step; none where no input of a producer's first
// rows has a stamp.
func (r *reading) openStamps(s *stepParts) (sent []*sentStream, received []*receivedStream, err error) {
	stamped := false
	for _, actor := range s.actors(rawlog.Sent.Name) {
		x := &sentStream{stream: stream{read: r, columns: inputColumns, times: []int{2, 4}, parts: s.tables[rawlog.Sent.Name][actor]}}
		ok, err := x.load()
		if err != nil {
			return sent, nil, err
		}
		if !ok {
			continue
		}
		sent = append(sent, x)
		if err := x.firstRows(3, func(stamps []int64) {
			for _, ns := range stamps {
				stamped = stamped || ns != rawlog.Null
			}
		}); err != nil {
			return sent, nil, err
		}
	}
	if !stamped {
		return sent, nil, nil
	}
	for i, actor := range s.actors(rawlog.Received.Name) {
		// A stamp is of the broker's clock, which is nobody's here.
		x := &receivedStream{number: int64(i), stream: stream{read: r, columns: outputColumns, loaded: withoutStamp, parts: s.tables[rawlog.Received.Name][actor]}}
		ok, err := x.load()
		if err != nil {
			return sent, received, err
		}
		if ok {
			received = append(received, x)
		}
	}
	return sent, received, nil
}

// withoutStamp puts outputs that have none beyond every watermark.
func withoutStamp(cols []rawlog.Values) {
	for i, ns := range cols[2].Ints {
		if ns == rawlog.Null {
			cols[2].Ints[i] = math.MaxInt64
		}
	}
}
