package analysis

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// frozen holds up what is intended between two moments until the second.
func frozen(n int, from, to time.Duration) []msg {
	return schedule(n, 100, func(_ int, at time.Duration) time.Duration {
		if at >= from && at < to {
			return to - at + 10*ms
		}
		return 10 * ms
	})
}

func TestRecoveryFromFaults(t *testing.T) {
	fault := func(at time.Duration) Event { return Event{At: at, Kind: "fault", Text: "a stop"} }
	const grid = 200 * ms
	for name, c := range map[string]struct {
		msgs     []msg
		interval time.Duration
		events   []Event
		want     []string
	}{
		"a freeze of 2 s":            {frozen(2000, 8*sec, 10*sec), grid, []Event{fault(8 * sec)}, []string{"recovered after 2.00 s"}},
		"intervals of 2 s":           {frozen(2000, 8*sec, 10*sec), 2 * sec, []Event{fault(8 * sec)}, []string{"recovered after 2.00 s"}},
		"a fault that does not show": {frozen(2000, 0, 0), grid, []Event{fault(8 * sec)}, []string{"did not show"}},
		"too late in the step":       {frozen(2000, 17*sec, 18*sec), grid, []Event{fault(17 * sec)}, []string{"for at least 1.00 s, when the step ended"}},
		"no level before":            {frozen(2000, 2*sec, 3*sec), grid, []Event{fault(2 * sec)}, []string{"fewer than 3 whole seconds"}},
		"another one in between":     {frozen(2000, 8*sec, 9*sec), grid, []Event{fault(12 * sec), fault(8 * sec)}, []string{"did not show", "for at least 1.00 s, when the next fault struck"}},
		"none":                       {frozen(2000, 8*sec, 10*sec), grid, []Event{{At: 8 * sec, Kind: "retry"}}, nil},
	} {
		s := synthStep(t, 0, 100, 20*sec, c.interval, c.msgs)
		s.Events = c.events
		sum := Summarize(synthDigest(s), all())
		got := sum.Steps[0].Recoveries
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		var text bytes.Buffer
		if err := WriteText(&text, sum); err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if line := got[i].Line(); !strings.Contains(line, want) || !strings.Contains(text.String(), line) {
				t.Errorf("%s: %q, want %q in\n%s", name, line, want, text.String())
			}
		}
	}
}

func TestRecoveryWithLostMessages(t *testing.T) {
	msgs := frozen(2000, 0, 0)
	for i := 800; i < 900; i++ {
		msgs[i].received = never
	}
	s := synthStep(t, 0, 100, 20*sec, 200*ms, msgs)
	s.Events = []Event{{At: 8 * sec, Kind: "fault", Text: "a kill"}}
	d := synthDigest(s)
	r := Summarize(d, all()).Steps[0].Recoveries
	if len(r) != 1 || !r[0].Recovered || r[0].AfterNs != int64(sec) || r[0].Consistent {
		t.Errorf("%+v", r)
	}
	// Where the log ends with the fault, nothing after it is known.
	d.Steps[0].Complete = false
	d.Steps[0].ReceivedPerSecond = d.Steps[0].ReceivedPerSecond[:9]
	if r := Summarize(d, all()).Steps[0].Recoveries; len(r) != 1 || r[0].Recovered || r[0].AfterNs != 0 {
		t.Errorf("of a log that ends: %+v", r)
	}
}
