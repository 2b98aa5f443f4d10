//go:build !js

package analysis

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"queuebench/internal/parquettest"
	"queuebench/rawlog"
)

// fuzzedLog is a small log with all that a reader tells apart: two steps, two
// groups, two partitions, what is lost, late, repeated and overrun, commits,
// seconds and a fault. Its parts are bare, so that what is altered is decoded.
func fuzzedLog(t testing.TB) (memorySource, *rawlog.Manifest) {
	first, second := deltaLike(48, 60, 100*ms), deltaLike(16, 20, 100*ms)
	other := slices.Clone(first.received)
	for i := range first.sent {
		first.sent[i].Partition = int32(i & 1)
		first.received[i].Partition, other[i].Partition = int32(i&1), int32(i&1)
		first.received[i].BrokerNs = first.sent[i].AckedNs - 1e6
		other[i].Consumer, other[i].Group = 1, "h"
		other[i].ReceivedNs += 2e6
	}
	first.sent[47].Status, first.sent[47].SentNs, first.sent[47].AckedNs = rawlog.Overrun, 0, 0
	first.sent[46].Status, first.sent[46].AckedNs = rawlog.Failed, 0
	twice := first.received[3]
	twice.ReceivedNs = first.received[44].ReceivedNs + 1
	first.received = append(append(first.received[:20], first.received[21:45]...), twice)
	first.received = append(first.received, other...)
	for i := range int64(3) {
		row := rawlog.NewSecondRow("process", testStart+(i+1)*3e8)
		row.Received, row.Backlog, row.CPUNs = 20, i, 3e6
		first.seconds = append(first.seconds, row)
		first.batches = append(first.batches, rawlog.BatchRow{Actor: "producer-0", TimeNs: testStart + i*1e8, Partition: 0, Offset: i, Messages: 6, Bytes: 600, Tries: 1,
			WaitNs: 9e7, EncodeNs: 1e5, DataPutNs: 3e6, CommitPutNs: 2e6, DiscoverNs: rawlog.Null, CommitGetNs: rawlog.Null, DataGetNs: rawlog.Null, DecodeNs: rawlog.Null, DeliverNs: rawlog.Null})
	}
	first.events = []rawlog.EventRow{{TimeNs: testStart + 5e8, Actor: "process", Kind: "fault", Text: "it stops", DurationNs: 1e8}}
	src, m := logOf(t, 1000, 60, 800*ms, first, second)
	m.Queue.Partitions, m.Queue.CommitInterval = 2, 100*ms
	for name, b := range src {
		if rawlog.IsPartName(name) {
			src[name] = parquettest.Bare(t, b)
		}
	}
	src.put(t, m)
	return src, m
}

// alter changes bytes of an object from at on: it flips bits, overwrites, puts
// bytes in between, or cuts the object there.
func alter(b []byte, how, at int, patch []byte) []byte {
	at = min(at, len(b))
	switch how {
	case 0:
		b = slices.Clone(b)
		for i, x := range patch {
			if at+i < len(b) {
				b[at+i] ^= x
			}
		}
		return b
	case 1:
		b = slices.Clone(b)
		copy(b[at:], patch)
		return b
	case 2:
		return slices.Concat(b[:at], patch, b[at:])
	}
	return b[:at:at]
}

// FuzzRead alters one object of a log, and its numbers in run.json: what is
// read is a digest that can be summarized, drawn, written and read again, or an
// error, never a panic. Its steps have some ten intervals, of which each costs
// the memory of its counters: TestReadIntervals and others have many.
func FuzzRead(f *testing.F) {
	src, m := fuzzedLog(f)
	names := slices.Sorted(maps.Keys(src))
	if _, err := Read(f.Context(), src, Options{}); err != nil {
		f.Fatal(err)
	}
	manifest := slices.Index(names, rawlog.ManifestName)
	f.Add(uint8(0), uint32(0), []byte{}, int64(0), int64(4e9))
	f.Add(uint8(3), uint32(100), []byte{1, 2, 3}, testStart, int64(1<<63-1))
	f.Add(uint8(9), uint32(2000), []byte{0xff}, int64(-1<<63), int64(1))
	f.Add(uint8(manifest), uint32(0), []byte{}, testStart+1e8, int64(4e8))
	for which, name := range names {
		for how := range 4 {
			f.Add(uint8(how<<6|which), uint32(len(src[name])/2), []byte{0x55, 1}, testStart, int64(8e8))
			f.Add(uint8(how<<6|which), uint32(8+5*how), []byte{2}, testStart, int64(8e8))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, start, duration int64) {
		s, own := maps.Clone(src), *m
		name := names[int(which&63)%len(names)]
		own.Steps = slices.Clone(m.Steps)
		if which&32 == 0 { // mostly of a length whose seconds are soon looked at
			duration %= int64(1000 * sec)
		}
		if start != 0 {
			own.Steps[0].StartedNs, own.Steps[0].DurationNs = start, duration
		}
		s.put(t, &own)
		if name == rawlog.ManifestName { // without its blanks a change does more
			var b bytes.Buffer
			if err := json.Compact(&b, s[name]); err != nil {
				t.Fatal(err)
			}
			s[name] = b.Bytes()
		}
		s[name] = alter(s[name], int(which>>6), int(at), patch[:min(len(patch), 64)])
		before := allocated()
		defer func() {
			if used := allocated() - before; used > mostFuzzed {
				t.Errorf("%d MB were allocated", used>>20)
			}
		}()
		d, err := Read(t.Context(), s, Options{Interval: coarseInterval(duration), Edges: []time.Duration{time.Duration(start), time.Duration(duration)}})
		if err != nil {
			return
		}
		readAgain(t, d)
	})
}

// coarseInterval makes at most some ten intervals of a step.
func coarseInterval(step int64) time.Duration {
	return max(100*ms, 40*DefaultInterval(time.Duration(max(1, min(step, 1<<57)))))
}
