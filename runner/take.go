package runner

import (
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/envelope"
)

// take records a batch that was received at now.
func (r *receiver) take(batch []queue.Delivery, now int64) {
	r.logMu.Lock()
	defer r.logMu.Unlock()
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	if second := r.second(now); second > r.live.second {
		r.live = r.tallies.give(r.live, second)
	}
	var deliveries int64
	for len(batch) > 0 {
		if r.elsewhere != nil {
			deliveries += r.takeOther(&batch[0], now)
			batch = batch[1:]
			continue
		}
		first, n := r.startOfRun(batch)
		if n > 0 {
			if deliveries == 0 {
				r.endPoll(now)
			}
			r.takeRun(first, batch[:n], now)
			deliveries += int64(n)
		}
		batch = batch[max(n, 1):]
	}
	if r.half != nil && deliveries > 0 {
		r.half.last.Store(now)
	}
	r.deliveries.Add(deliveries)
	r.stamped = now
	r.log.SetWatermark(now)
	r.live.deliveries += deliveries
	if r.tallies.wanted.Load() {
		r.live = r.tallies.give(r.live, r.live.second)
	}
}

// startOfRun decodes the first delivery of a batch and counts those that go on
// from it: of one producer and partition, with seqs that ascend by 1. n is 0 if
// the first is no message of the step.
func (r *receiver) startOfRun(batch []queue.Delivery) (first envelope.ID, n int) {
	partition := batch[0].Partition
	id, err := envelope.Decode(batch[0].Payload)
	if err != nil || id.Tag != r.tag || int(id.Producer) >= len(r.tracks) && !r.grow(id.Producer) {
		r.notOurs(err)
		return id, 0
	}
	if id.Kind != envelope.Data {
		r.mark(id, &batch[0])
		return id, 0
	}
	t := &r.tracks[id.Producer]
	if r.half != nil && !r.attends(t, id, &batch[0]) {
		return id, 0
	}
	if id.Seq >= t.len || partition < 0 || int(partition) >= r.partitions {
		r.corrupt.Add(1)
		return id, 0
	}
	n = 1
	for next := id.Seq + 1; n < len(batch) && next < t.len && batch[n].Partition == partition; n, next = n+1, next+1 {
		if seq, ok := t.head.Seq(batch[n].Payload); !ok || seq != next || r.recorded.again(id.Producer, seq, partition, batch[n].Offset) {
			break
		}
	}
	return id, n
}

// takeRun counts and records deliveries of one producer and partition, whose
// seqs ascend by 1 from first.
func (r *receiver) takeRun(first envelope.ID, run []queue.Delivery, now int64) {
	r.count(first, int64(len(run)), run[0].Partition, now)
	row := r.row(first, run[0].Partition, now)
	for seq := first.Seq; len(run) > 0; {
		rows := r.log.Reserve(len(run))
		for i := range rows {
			d := &run[i]
			rows[i] = row
			rows[i].Seq, rows[i].Offset, rows[i].BrokerNs, rows[i].BrokerKind = seq, d.Offset, d.BrokerNs, d.BrokerKind
			seq++
		}
		r.log.Publish(len(rows))
		run = run[len(rows):]
	}
}

// row is what the rows of a delivery have in common, with the seq of the first.
func (r *receiver) row(first envelope.ID, partition int32, now int64) rawlog.ReceivedRow {
	return rawlog.ReceivedRow{Consumer: int32(r.id), Group: r.group.name, Producer: int32(first.Producer), Seq: first.Seq, ReceivedNs: now, Partition: partition, PolledNs: r.poll.at}
}

// count counts n messages of one producer, whose seqs ascend by 1 from first.
func (r *receiver) count(first envelope.ID, n int64, partition int32, now int64) {
	t := &r.tracks[first.Producer]
	got, high := &r.group.got[first.Producer], &t.high[partition]
	from, to := first.Seq, first.Seq+n
	if from > *high && got.AddRange(from, to) {
		*high = to - 1
		r.fresh(t, from, to, now)
	} else {
		for seq := from; seq < to; seq++ {
			if !got.Add(seq) {
				continue
			}
			if seq < *high {
				r.outOfOrder.Add(1)
			} else {
				*high = seq
			}
			r.fresh(t, seq, seq+1, now)
		}
	}
}

// fresh counts messages that the group did not have before.
func (r *receiver) fresh(t *track, from, to, now int64) {
	if r.loop != nil && len(r.loop.lines) > 0 {
		r.freshOf(r.loop.lines[t.producer], from, to, now)
		return
	}
	r.group.fresh.Add(to - from)
	if !t.timed {
		return
	}
	start := r.scheduleStart()
	for seq := from; seq < to; seq++ {
		// A latency beyond the histogram's 30 days is in the log all the same.
		_ = r.live.latencies.Record(now - start - t.share.At(seq))
	}
}

// scheduleStart is when the schedule began, by the own clock.
func (r *receiver) scheduleStart() int64 {
	if r.half != nil {
		return r.half.started.Load()
	}
	return r.start.Load()
}

// misframe counts a delivery whose frame is not the one that was asked for.
func (r *receiver) misframe(err error) {
	if r.misframed.Add(1) == 1 {
		r.whyMisframed = err.Error()
	}
}

func (r *receiver) notOurs(err error) {
	switch err {
	case nil:
		r.stale.Add(1)
	case envelope.ErrCorrupt:
		r.corrupt.Add(1)
	default:
		r.foreign.Add(1)
	}
}
