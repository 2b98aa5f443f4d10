package analysis

import (
	"math/bits"
)

// finish counts what is left when all rows were seen.
func (j *joiner) finish() {
	for _, p := range j.producers {
		for _, b := range p.blocks {
			for i := range b.state {
				if s := j.leftOf(b, i); s != nil && (s.state != openMessage || s.got != 0) {
					j.missing(p.id, s)
				}
			}
		}
	}
	for key, s := range j.aside {
		j.missing(key.producer, s)
	}
	j.sending.finish()
	j.receiving.finish()
	if j.by != nil {
		j.by.finish(&j.step.Breakdown)
	}
	j.step.Slowest = j.slowest.finish(j.step)
	a := &j.step.Accounting
	a.RecordsUsed = a.Scheduled - a.Unknown
}

// missing counts a message that lacks its row, or deliveries.
func (j *joiner) missing(producer int32, s *straggler) {
	a := &j.step.Accounting
	if s.state&isUnknown != 0 {
		return
	}
	if s.state&hasRow == 0 {
		for g := range j.groups {
			if s.got>>g&1 != 0 {
				a.Received--
				if s.early != nil {
					j.perSecond(s.early[g].received, -1)
				}
				if j.sentWhole {
					a.Foreign++
				}
			}
		}
		if !j.sentWhole {
			a.Scheduled++
			a.Unknown++
		}
		return
	}
	if s.state&wasAcked == 0 {
		return
	}
	iv := &j.step.Intervals[intervalIndex(j.step.Intervals, s.intended-j.start)]
	if !j.receivedWhole {
		a.Attempted--
		a.Acked--
		a.Unknown++
		iv.Unknown++
		return
	}
	lost := int64(len(j.groups) - bits.OnesCount64(s.got))
	a.Lost += lost
	iv.Infinite[EndToEnd] += lost
	iv.Infinite[EndToEndFromSend] += lost
	if j.by != nil && j.by.inside(s.intended) {
		j.by.lost(int64(producer), len(j.groups), s.got)
	}
}
