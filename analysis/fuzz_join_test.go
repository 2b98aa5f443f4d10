package analysis

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
)

// joinInput is rows of any content, as columns that a stream hands over.
type joinInput struct {
	sent, received [8][]int64
	status, group  []int32
}

// decodeJoin makes rows of bytes, four for each run of them: what they are and
// how many, how far they lie from the ones before. Extreme numbers come where an
// eighth of them asks for it.
func decodeJoin(b []byte) *joinInput {
	in := &joinInput{}
	extremes := []int64{rawlog.Null, math.MaxInt64, math.MinInt64 + 1, -1, 0, 1 << 40, testStart, testStart - 1}
	var seq, at, got int64
	at, got = testStart, testStart+50e6
	for len(b) >= 4 {
		op, count, step, more := b[0], int64(b[1]%64)+1, int64(int8(b[2])), b[3]
		b = b[4:]
		pick := func(v int64, bit int) int64 {
			if op&0x80 != 0 && more>>bit&1 != 0 {
				return extremes[int(op)>>1&7]
			}
			return v
		}
		seq += step
		at += step * 10_000
		if op&1 == 0 {
			for range count {
				row := [8]int64{pick(int64(more&1), 5), pick(seq, 0), pick(at, 1), pick(at+int64(more)*100, 2), pick(at+5e6, 3), 0, pick(int64(op>>4&1)*700, 4), int64(more >> 1 & 1)}
				for c := range row {
					in.sent[c] = append(in.sent[c], row[c])
				}
				in.status = append(in.status, int32(op>>1&3)%4-int32(op>>3&1)*int32(more>>7))
				seq++
				at += 20_000
			}
			continue
		}
		seq -= count * int64(op>>1&1) // what was just sent, or what is to come
		got += int64(more>>4) * 1e6
		for range count {
			row := [8]int64{pick(int64(more&1), 5), pick(seq, 0), pick(got, 1), 0, int64(more >> 1 & 1), rawlog.Null, rawlog.Null, 0}
			if op&8 != 0 {
				row[5] = pick(got-2e6, 2)
			}
			if op&16 != 0 {
				row[6] = pick(got-3e6, 3)
			}
			for c := range row {
				in.received[c] = append(in.received[c], row[c])
			}
			in.group = append(in.group, int32(more>>2&1)-int32(more>>3&1)*int32(more>>7))
			seq++
		}
	}
	return in
}

// emptied are counters of joins that are done: to make and to clear them anew
// would cost more than a join.
type emptied struct{ sending, receiving []*liveInterval }

// join counts the rows, one by one or not. A run of clones: streams change what
// they are handed.
func (in *joinInput) join(t *testing.T, whole, single bool, producers int, again *emptied) (*StepDigest, error) {
	s := &StepDigest{StartNs: testStart, Duration: sec, Interval: 500 * ms}
	s.Intervals = newIntervals(s.Duration, s.Interval, []time.Duration{100 * ms})
	m := &rawlog.Manifest{Queue: queue.Info{Partitions: producers}}
	j := newJoiner(s, []string{"a", "b"})
	j.single, j.sentWhole, j.receivedWhole, j.maxSeq = single, whole, true, 1<<30
	j.by = newBreaker(s, m, &rawlog.Step{Producers: producers}, []string{"consumer-0"}, j.groups, 100*ms, sec)
	if !whole {
		j.until = testStart + 600e6
	}
	read := &reading{ctx: t.Context()}
	values := func(all [8][]int64, codes int, dict []string, code []int32) (v []rawlog.Values) {
		for c := range all {
			v = append(v, rawlog.Values{Ints: all[c]})
		}
		v[codes] = rawlog.Values{Codes: code, Dict: dict}
		return v
	}
	var sent []*sentStream
	var received []*receivedStream
	if n := len(in.status); n > 0 {
		sent = append(sent, &sentStream{stream: stream{read: read, n: n, cols: values(in.sent, 5, []string{"acked", "failed", "overrun", "unconfirmed"}, in.status)}})
	}
	if n := len(in.group); n > 0 {
		received = append(received, &receivedStream{stream: stream{read: read, n: n, cols: values(in.received, 3, []string{"a", "b"}, in.group)[:7]}})
	}
	j.sending.free, j.receiving.free = again.sending, again.receiving
	err := j.run(sent, received)
	if *again = (emptied{}); err == nil {
		*again = emptied{j.sending.free, j.receiving.free}
	}
	return s, err
}

// FuzzJoin joins rows of any content: what is counted together is what is
// counted one by one, and memory has a bound.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{0, 63, 0, 0, 0, 63, 0, 0, 3, 63, 0, 0x10, 3, 63, 0, 4}, true, uint8(1))
	f.Add([]byte{0, 63, 0, 0, 3, 63, 0, 0x10, 4, 9, 0, 0, 2, 9, 0, 0, 11, 20, 250, 0, 27, 4, 0, 0}, true, uint8(2))
	f.Add([]byte{0x86, 5, 0, 0xff, 0x81, 3, 1, 0xff, 0x80, 9, 7, 1, 0x83, 9, 7, 2}, false, uint8(2))
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x0f0f3f001f033f00), false, uint8(0))
	var again emptied
	f.Fuzz(func(t *testing.T, b []byte, whole bool, producers uint8) {
		in := decodeJoin(b[:min(len(b), 400)])
		before := allocated()
		batches, err := in.join(t, whole, false, int(producers%3), &again)
		if used := allocated() - before; used > mostFuzzed {
			t.Fatalf("%d MB were allocated for %d rows", used>>20, len(in.status)+len(in.group))
		}
		single, errSingle := in.join(t, whole, true, int(producers%3), &again)
		if err != nil || errSingle != nil {
			if err == nil || errSingle == nil || !strings.Contains(err.Error(), "in flight") {
				t.Fatalf("%v, one by one %v", err, errSingle)
			}
			return
		}
		if !reflect.DeepEqual(batches, single) {
			t.Fatalf("in batches\n%+v\none by one\n%+v", batches, single)
		}
	})
}
