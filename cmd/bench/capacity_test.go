package main

import (
	"encoding/json"
	"strings"
	"testing"

	"queuebench/rawlog"
)

// A queue that serves a message in 100 µs holds 10,000 a second. The rates that
// this search tries lie far from that, but for one, so that a busy host can
// change the answer and not whether there is one.
func TestCapacityFindsTheLimitOfAKnownQueue(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, "capacity", "--queue", "memory", "--service-time", "100us", "--min", "3500",
		"--step-duration", "1s", "--confirm-duration", "1s", "--tolerance", "40%", "--json", "--quiet")
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	r := jsonOf(t, stdout)
	f := r.Capacity
	if f == nil || !f.Converged || f.Rate < 6000 || f.Rate > 10_500 || f.NotHeld <= f.Rate || f.Why == "" {
		t.Fatalf("capacity %+v", f)
	}
	m, _ := readLog(t, lastLine(stdout))
	kept, _ := json.Marshal(m.Capacity)
	told, _ := json.Marshal(f)
	if string(kept) != string(told) {
		t.Errorf("run.json has %s\nthe result %s", kept, told)
	}
	if len(m.Steps) != len(f.Tries) || len(r.Steps) != len(f.Tries) {
		t.Fatalf("%d steps, %d tries", len(m.Steps), len(f.Tries))
	}
	confirmed := map[float64]bool{}
	for i, try := range f.Tries {
		if m.Steps[i].Rate != try.Rate || m.Steps[i].Step != try.Step || (m.Steps[i].Settings["purpose"] == "confirm") != try.Confirm {
			t.Errorf("step %+v is not try %+v", m.Steps[i], try)
		}
		if try.Confirm {
			confirmed[try.Rate] = try.Held
		}
	}
	if held, tried := confirmed[f.NotHeld]; !confirmed[f.Rate] || held || !tried {
		t.Errorf("confirmed: %v", confirmed)
	}
}

func TestASearchWithoutAnAnswerSaysWhyAndFails(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"everything holds", "--min 100 --max 200", "every rate held, up to 200"},
		{"nothing holds", "--min 1000 --max 2000 --service-time 5ms", "the lowest rate that may be tried, 1000 messages per second, did not hold"},
		{"messages fail", "--min 100 --max 200 --drop-every 50", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bareEnvironment(t)
			args := append([]string{"capacity", "--queue", "memory", "--step-duration", "700ms", "--quiet"}, strings.Fields(c.line)...)
			status, stdout, stderr := bench(t, args...)
			if c.want == "" {
				// A broken promise is the graver news.
				if status != 3 {
					t.Errorf("status %d, %s", status, stderr)
				}
				return
			}
			if status != 1 || !strings.Contains(stderr, "there is no capacity to tell: "+c.want) || !strings.Contains(stdout, "capacity: none to tell: "+c.want) {
				t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
			}
			m, _ := readLog(t, lastLine(stdout))
			if m.Capacity == nil || m.Capacity.Converged || m.Capacity.Rate != 0 || !strings.Contains(m.Capacity.Reason, c.want) {
				t.Errorf("run.json: %+v", m.Capacity)
			}
		})
	}
}

func TestCapacityMisuse(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"capacity --min 0":                                  "--min: rate 0 is not positive",
		"capacity --min 1000 --max 1000":                    "above the lowest",
		"capacity --tolerance 60%":                          "between 0.1 % and 50 %",
		"capacity --tolerance much":                         "write 5% or 0.05",
		"capacity --step-duration -1s":                      "--step-duration -1s is not positive",
		"capacity --step-duration 5s --confirm-duration 4s": "no shorter than what it confirms",
		"capacity --rate 5":                                 "rate",
		"capacity --message-size 3":                         "identity takes 16",
		"capacity --max 2000000000":                         "above 1000000000",
	} {
		refused(t, 2, want, line)
	}
	status, _, stderr := bench(t, "capacity", "--queue", "memory", "--step-duration", "300ms")
	if status != 2 || !strings.Contains(stderr, "takes at least 66") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestCapacityText(t *testing.T) {
	for want, f := range map[string]rawlog.Capacity{
		"capacity: 9690 messages per second, held for 20s; 9932 did not hold: it grew\nnote: careful": {
			Converged: true, Rate: 9690, NotHeld: 9932, Why: "it grew", ConfirmNs: 20e9, Warnings: []string{"careful"}},
		"capacity: none to tell: every rate held": {Reason: "every rate held"},
	} {
		if got := capacityText(&f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
