package analysis

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// varied is a step with so many consumers that receives so many of its messages
// in time.
func varied(t *testing.T, step, repeat int, consumers string, perSecond int) StepDigest {
	s := synthStep(t, step, 1000, 4*sec, 200*ms, schedule(4*perSecond, float64(perSecond), steady(10*ms)))
	s.Repeat = repeat
	s.Settings = map[string]string{"rate": "1000", "consumers": consumers}
	return s
}

func TestScalingOfWhatVaried(t *testing.T) {
	d := synthDigest(
		varied(t, 0, 0, "1", 200), varied(t, 0, 1, "1", 210), varied(t, 0, 2, "1", 100),
		varied(t, 1, 0, "2", 360),
		varied(t, 2, 0, "4", 1000),
	)
	sum := Summarize(d, all())
	if len(sum.Scaling) != 1 {
		t.Fatalf("%+v", sum.Scaling)
	}
	s := sum.Scaling[0]
	if s.Setting != "consumers" || s.Rate != 1000 || len(s.Rows) != 3 || s.Rows[0].Runs != 3 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []struct {
		received, ratio, efficiency float64
		bound                       bool
	}{{200, 1, 1, false}, {360, 1.8, 0.9, false}, {1000, 5, 1.25, true}} {
		near := func(got, want float64) bool { return math.Abs(got/want-1) < 0.005 } // the first of them come 10 ms later
		if r := s.Rows[i]; !near(r.ReceivedPerS, want.received) || !near(r.Ratio, want.ratio) || !near(r.Efficiency, want.efficiency) || r.RateBound != want.bound {
			t.Errorf("row %d: %+v, want %+v", i, r, want)
		}
	}
	var text bytes.Buffer
	if err := WriteText(&text, sum); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "Scaling: throughput against consumers at 1,000 msg/s") || !strings.Contains(text.String(), "it kept up: the rate limits it") {
		t.Errorf("the text is\n%s", text.String())
	}
}

func TestNothingScales(t *testing.T) {
	for name, d := range map[string]*Digest{
		"all kept up":       synthDigest(varied(t, 0, 0, "1", 1000), varied(t, 1, 0, "2", 1000)),
		"one value":         synthDigest(varied(t, 0, 0, "2", 500), varied(t, 1, 0, "2", 500)),
		"no numbers":        synthDigest(varied(t, 0, 0, "thin", 500), varied(t, 1, 0, "thick", 500)),
		"negative and zero": synthDigest(varied(t, 0, 0, "-1", 500), varied(t, 1, 0, "0", 500), varied(t, 2, 0, "Inf", 500)),
	} {
		if got := Summarize(d, all()).Scaling; len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// What was asked for is shown whatever limits it.
	sum := Summarize(synthDigest(varied(t, 0, 0, "1", 1000), varied(t, 1, 0, "2", 1000)), all())
	if got := ScalingOf(sum.Steps, "consumers"); len(got) != 1 || !got[0].Rows[0].RateBound {
		t.Errorf("%+v", got)
	}
}
