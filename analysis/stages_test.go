//go:build !js

package analysis

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/rawlog"
)

// staged is the log of a step with 40 commits and fetches, whose stages take
// their number in ms, and one slow one.
func staged(t *testing.T, settings map[string]string) memorySource {
	t.Helper()
	r := atDistance(40, 100*ms, 70*ms)
	for i := range int64(40) {
		of := func(actor string, stages ...queue.Stage) {
			tr := queue.Trace{Offset: i, Messages: 1, Bytes: 10, Tries: 1}
			for _, s := range stages {
				took := time.Duration(s+1) * time.Millisecond
				if i == 39 {
					took *= 100
				}
				tr.Set(s, took)
			}
			r.batches = append(r.batches, rawlog.NewBatchRow(actor, testStart+i*int64(100*ms), tr))
		}
		of("producer-0", queue.StageWait, queue.StageEncode, queue.StageDataPut, queue.StageCommitPut)
		of("consumer-0", queue.StageDiscover, queue.StageCommitGet, queue.StageDataGet, queue.StageDecode, queue.StageDeliver)
	}
	src, m := logOf(t, 1000, 10, 4*sec, r)
	m.Queue = queue.Info{Kind: "delta", Partitions: 1, CommitInterval: 100 * time.Millisecond, LosesNothing: true, DeliversOnce: true}
	m.Settings = settings
	src.put(t, m)
	return src
}

// atDistance are messages at a distance, each received so long after it was due.
func atDistance(n int64, every, latency time.Duration) (r rows) {
	for i := range n {
		at := testStart + i*int64(every)
		r.sent = append(r.sent, rawlog.SentRow{Seq: i, IntendedNs: at, SentNs: at + 1, AckedNs: at + int64(50*ms), Status: rawlog.Acked, Partition: -1, Offset: -1})
		r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: i, ReceivedNs: at + int64(latency), Partition: -1, Offset: -1})
	}
	return r
}

func TestStagesAndTheirSum(t *testing.T) {
	src := staged(t, map[string]string{"poll-interval": "5ms", "pipeline": "4"})
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadDigest(bytes.NewReader(write(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Digest{d, again} {
		s := Summarize(d, View{})
		x := s.Steps[0].Stages
		if x == nil || len(x.Stages) != int(queue.NumStages) {
			t.Fatalf("%+v", x)
		}
		for i, st := range x.Stages {
			want := int64(i+1) * int64(ms)
			if st.Stage != queue.Stage(i).String() || st.N != 40 || st.P50Ns < want*995/1000 || st.P50Ns > want*1005/1000 || st.MaxNs != 100*want || st.Supported {
				t.Errorf("%+v, expected a median of %d", st, want)
			}
		}
		// T/2 50 + data PUT 3 + commit PUT 4 + (5 + 6)/2 + commit GET 6 + data GET 7.
		sum := x.Sum
		const want = int64(50+3+4+6+7)*int64(1e6) + 5_500_000
		if sum == nil || sum.SumNs < want*995/1000 || sum.SumNs > want*1005/1000 || sum.MedianNs < 69*int64(ms) || sum.MedianNs > 71*int64(ms) || sum.Ratio < 0.9 || sum.Ratio > 0.95 {
			t.Errorf("%+v, expected %d", sum, want)
		}
		var text bytes.Buffer
		if err := WriteText(&text, s); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"Stages of a message's way", "data PUT", "T/2 50.0 ms + data PUT 3.00 ms + commit PUT 4.00 ms + (poll 5.00 ms + miss 6.00 ms)/2 + commit GET 6.00 ms + data GET 7.00 ms = 75.5 ms", "0.93 times that"} {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%q is not in\n%s", part, text.String())
			}
		}
		body, err := json.Marshal(s)
		if err != nil || !bytes.Contains(body, []byte(`"stage":"commit_put"`)) || !bytes.Contains(body, []byte(`"sum_ns":`)) {
			t.Errorf("JSON: %v", err)
		}
	}
}

// Where the sum does not hold there is none: another design, intervals that are
// not known.
func TestNoSumWhereItDoesNotHold(t *testing.T) {
	for _, settings := range []map[string]string{
		{"poll-interval": "5ms", "preset": "pathway"},
		{"poll-interval": "5ms", "commit-interval": "auto"},
		{},
	} {
		d, err := Read(t.Context(), staged(t, settings), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if x := Summarize(d, View{}).Steps[0].Stages; x == nil || x.Sum != nil {
			t.Errorf("%v: %+v", settings, x)
		}
	}
}

func TestDigestsRefuseStagesThatNoLogHas(t *testing.T) {
	good := StageStats{Stage: "wait", N: 1}
	for _, bad := range [][]StageStats{{good, good}, {{Stage: "<b>", N: 1}}, {{Stage: "wait"}}, {{Stage: "wait", N: 1, MaxNs: -1}}} {
		if checkStages(bad) == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if err := checkStages(slices.Clone([]StageStats{good})); err != nil {
		t.Error(err)
	}
}
