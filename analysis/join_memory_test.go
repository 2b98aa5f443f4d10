//go:build !js

package analysis

import (
	"strings"
	"testing"

	"queuebench/rawlog"
)

// A log that is made so that each of its messages opens a thousand, or each of
// its deliveries waits for its row, is refused before it takes the memory that it
// asks for.
func TestHostileLogsAreRefused(t *testing.T) {
	const n = 20_000
	for name, change := range map[string]func(r *rows, i int64){
		"rows far apart":       func(r *rows, i int64) { r.sent[i].Seq, r.received[i].Seq = i<<blockBits, i<<blockBits },
		"deliveries far apart": func(r *rows, i int64) { r.received[i].Seq = i << blockBits },
		"deliveries before their rows": func(r *rows, i int64) {
			r.received[i].Seq, r.received[i].ReceivedNs = (n-i)<<blockBits, testStart-1e9
		},
	} {
		log := oneStep(n)
		for i := range int64(n) {
			change(&log, i)
		}
		src, m := logOf(t, n, 1000, n*ms, log)
		for i := range m.Steps[0].Parts {
			m.Steps[0].Parts[i].Rows = 1 << 40 // so that each seq may be
		}
		src.put(t, m)
		before := allocated()
		_, err := Read(t.Context(), src, Options{})
		used := allocated() - before
		if err == nil || !strings.Contains(err.Error(), "to join so many messages in flight") || used > mostFuzzed {
			t.Errorf("%s: %d MB were allocated; %v", name, used>>20, err)
		}
		t.Logf("%s: %d MB", name, used>>20)
	}
}

// A joiner that gives memory back holds none in the end.
func TestHeldMemoryIsGivenBack(t *testing.T) {
	s := &StepDigest{StartNs: testStart, Duration: 10 * sec, Interval: sec}
	s.Intervals = newIntervals(s.Duration, s.Interval, nil)
	j := newJoiner(s, []string{"g"})
	j.maxSeq, j.sentWhole, j.receivedWhole = 1<<20, true, true
	for i := range int64(100_000) {
		at := testStart + i*50_000
		if i%3 > 0 { // its delivery comes first
			j.delivery(0, 0, i, at+1e6, rawlog.Null)
		}
		j.row(0, i, at, at, at+1, 0, rawlog.Acked)
		if i%3 == 0 && i%1000 != 0 {
			j.delivery(0, 0, i, at+1e6, rawlog.Null)
		}
	}
	for i := int64(0); i < 100_000; i += 3000 {
		j.delivery(0, 0, i, testStart+9e9, rawlog.Null)
	}
	blocks := int64(len(j.free)) * (blockBytes + blockSize/8)
	for _, p := range j.producers {
		blocks += int64(len(p.blocks)) * (blockBytes + blockSize/8 + blockSize*earlyBytes)
	}
	for _, p := range j.producers {
		blocks += int64(len(p.gone.pages)) * goneBytes
	}
	if counted := s.bucketBytes() + 8*int64(len(s.ReceivedPerSecond)); j.memory.held > blocks+counted || len(j.free) > 40 {
		t.Errorf("%d bytes are held, the blocks take %d and what was counted %d; %d are free", j.memory.held, blocks, counted, len(j.free))
	}
	if len(j.aside) != 0 || j.err != nil {
		t.Errorf("%d stragglers, %v", len(j.aside), j.err)
	}
}
