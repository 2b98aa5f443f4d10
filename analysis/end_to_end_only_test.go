//go:build !js

package analysis

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// A reading of end-to-end latencies alone has those of a full one, and the same
// accounting, whatever happened.
func TestEndToEndOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for i := range 8 {
		log := commits(r, 3000, 100*ms, []float64{0, 0.05}[i%2])
		if i > 3 {
			log = chaos(r, 3000, 3*sec)
		}
		src, _ := logOf(t, 1+r.IntN(6000), 20_000, 3*time.Second, log)
		whole, err := Read(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, single := range []bool{false, true} {
			only, err := Read(t.Context(), src, Options{EndToEndOnly: true, single: single})
			if err != nil {
				t.Fatal(err)
			}
			a, b := &whole.Steps[0], &only.Steps[0]
			if a.Accounting != b.Accounting || !reflect.DeepEqual(a.ReceivedPerSecond, b.ReceivedPerSecond) {
				t.Errorf("case %d: accounting %+v, want %+v", i, b.Accounting, a.Accounting)
			}
			for k := range a.Intervals {
				x, y := &a.Intervals[k], &b.Intervals[k]
				if !reflect.DeepEqual(x.Latency[EndToEnd], y.Latency[EndToEnd]) || x.Infinite[EndToEnd] != y.Infinite[EndToEnd] || x.Scheduled != y.Scheduled {
					t.Fatalf("case %d, interval %d: %+v, want %+v", i, k, y, x)
				}
				if y.OwnLag.N+y.Latency[Publish].N+y.Latency[SendLag].N+y.Latency[EndToEndFromSend].N+y.Infinite[Publish] > 0 {
					t.Fatalf("case %d, interval %d has what was not read", i, k)
				}
			}
			s := Summarize(only, View{})
			if findingOf(s.Steps[0].Findings, "end-to-end-only") == nil || findingOf(s.Steps[0].Findings, "accounting-breach") != nil {
				t.Errorf("case %d: %d findings, without end-to-end-only or with a breach", i, len(s.Steps[0].Findings))
			}
			if err := WriteText(new(bytes.Buffer), s); err != nil {
				t.Error(err)
			}
			if err := WriteDigest(new(bytes.Buffer), only); err == nil {
				t.Error("a digest was written that lacks latencies")
			}
		}
	}
}
