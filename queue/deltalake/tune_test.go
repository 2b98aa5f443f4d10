package deltalake

import (
	"testing"
	"time"

	"queuebench/objectstore"
)

func TestTune(t *testing.T) {
	m := Times{DataPut: 3300 * time.Microsecond, CommitPut: 2300 * time.Microsecond, Miss: 1060 * time.Microsecond, CommitGet: 1350 * time.Microsecond, DataGet: 1350 * time.Microsecond}
	to := Target{Rate: 10_000, Partitions: 1, Consumers: 1, Pipeline: 4, Prices: objectstore.Standard}
	// By hand: 50 + 3.3 + 2.3 + (10+1.06)/2 + 1.35 + 1.35.
	if got := ExpectedP50(100*time.Millisecond, 10*time.Millisecond, 4, m); got != 63_830*time.Microsecond {
		t.Errorf("the sum is %v", got)
	}
	check := func(name string, to Target, reached bool) Tuning {
		t.Helper()
		got := Tune(to, m)
		if got.Reached != reached || reached && (to.P50 > 0 && got.P50 > to.P50 || to.DollarsPerMillion > 0 && got.DollarsPerMillion > to.DollarsPerMillion) {
			t.Errorf("%s: %v", name, got)
		}
		// Nothing that also keeps to the target is better.
		for _, T := range commitChoices {
			for _, poll := range pollChoices {
				T, poll := T*time.Millisecond, poll*time.Millisecond
				if poll > T {
					continue
				}
				p50, cost := ExpectedP50(T, poll, 4, m), CostPerSecond(T, poll, 1, to.Prices)/to.Rate*1e6
				if reached && (to.P50 > 0 && p50 <= to.P50 && cost < got.DollarsPerMillion || to.DollarsPerMillion > 0 && cost <= to.DollarsPerMillion && p50 < got.P50) {
					t.Errorf("%s: chose %v, and %v, %v are better", name, got, T, poll)
				}
				if !reached && (to.P50 > 0 && p50 < got.P50 || to.DollarsPerMillion > 0 && cost < got.DollarsPerMillion) {
					t.Errorf("%s: chose %v, and %v, %v come nearer", name, got, T, poll)
				}
			}
		}
		return got
	}
	fast, slow := to, to
	fast.P50, slow.P50 = 25*time.Millisecond, 300*time.Millisecond
	f, s := check("fast", fast, true), check("slow", slow, true)
	if f.CommitInterval >= s.CommitInterval || f.DollarsPerMillion <= s.DollarsPerMillion {
		t.Errorf("25 ms: %v; 300 ms: %v", f, s)
	}
	cheap, rich := to, to
	cheap.DollarsPerMillion, rich.DollarsPerMillion = 0.002, 0.2
	if c, r := check("cheap", cheap, true), check("rich", rich, true); c.P50 <= r.P50 {
		t.Errorf("$0.002: %v; $0.2: %v", c, r)
	}
	impossible, free := to, to
	impossible.P50, free.DollarsPerMillion = time.Millisecond, 1e-9
	check("impossible", impossible, false)
	check("free", free, false)
}

func TestMeasureCleansUp(t *testing.T) {
	s := newMemStore()
	m, err := Measure(t.Context(), s, "name")
	if err != nil || m.DataPut <= 0 || m.CommitPut <= 0 || m.Miss <= 0 || m.CommitGet <= 0 || m.DataGet <= 0 {
		t.Errorf("measured %+v, %v", m, err)
	}
	if keys := s.keys(""); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}
