package scenario

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"queuebench/stats"
)

// seconds are good where the text has a dot; else nothing was received.
func seconds(text string) (all []stats.Second) {
	for i, c := range text {
		s := stats.Second{Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Scheduled: 100, Received: 100, P99: 1e6}
		if c != '.' {
			s.Received, s.P99 = 0, math.NaN()
		}
		all = append(all, s)
	}
	return all
}

func outcome(text string, faults ...int64) *Outcome {
	return &Outcome{
		Counts:   map[string]int64{"lost": 2, "duplicates": 0},
		Quantile: func(q float64) (int64, bool, bool) { return 100e6, q > 0.995, q < 0.9999 },
		Seconds:  seconds(text), Faults: faults,
	}
}

func TestJudge(t *testing.T) {
	fault := "environment: [{name: p, start: [x]}]\nfaults: [{at: 5s, signal: STOP, process: p}]\n"
	for _, c := range []struct {
		text string
		o    *Outcome
		want string
	}{
		{"expect: {lost: 2}", outcome(""), "lost: 2 held 2"},
		{"expect: {lost: 1}", outcome(""), "lost: 1 broken 2"},
		{"expect: {duplicates: 0}", outcome(""), "duplicates: 0 held 0"},
		{"expect: {overrun: 0}", outcome(""), "overrun: 0 not decided it is not known"},
		{"expect: {p99_below: 150ms}", outcome(""), "p99_below: 150ms held 100ms"},
		{"expect: {p99_below: 100ms}", outcome(""), "p99_below: 100ms broken 100ms"},
		{"expect: {p99.9_below: 1h}", outcome(""), "p99.9_below: 1h0m0s broken > deadline"},
		{"expect: {p99.999_below: 1h}", outcome(""), "p99.999_below: 1h0m0s not decided too few messages for this percentile"},
		{fault + "expect: {recovered_within: 3s}", outcome(".....xx.....", 5e9), "recovered_within: 3s SIGSTOP to p held 2s"},
		{fault + "expect: {recovered_within: 1s}", outcome(".....xx.....", 5e9), "recovered_within: 1s SIGSTOP to p broken 2s"},
		{fault + "expect: {recovered_within: 3s}", outcome(".....xx....", 5e9), "recovered_within: 3s SIGSTOP to p not decided the load ended before 5 good seconds"},
		{fault + "expect: {recovered_within: 3s}", outcome(".....xxxxxx", 5e9), "recovered_within: 3s SIGSTOP to p broken not within 6s"},
		{fault + "expect: {recovered_within: 3s}", outcome("..xx.....", 2e9), "recovered_within: 3s SIGSTOP to p not decided fewer than 3 seconds before the first fault: there is no level to go back to"},
		{fault + "expect: {recovered_within: 3s}", outcome("..........", -1), "recovered_within: 3s SIGSTOP to p not decided the fault did not strike"},
		{"expect: {recovered_within: 3s}", outcome(".........."), "recovered_within: 3s not decided the scenario has no fault"},
		{strings.Replace(fault, "process: p}", "process: p, recovered_within: 1s}", 1) + "expect: {recovered_within: 9s, lost: 5}", outcome(".....xx.....", 5e9),
			"lost: 5 held 2|recovered_within: 1s SIGSTOP to p broken 2s"},
		// The second fault strikes before the first is over: what follows is its own.
		{"environment: [{name: p, start: [x]}]\nfaults: [{at: 5s, signal: STOP, process: p}, {name: again, at: 8s, signal: HUP, process: p}]\nexpect: {recovered_within: 4s}",
			outcome(".....x..xx.......", 5e9, 8e9), "recovered_within: 4s SIGSTOP to p not decided the next fault came before 5 good seconds|recovered_within: 4s again held 2s"},
	} {
		f, err := read(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, v := range f.Judge(c.o) {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(v.Expectation, " ", v.Fault, " ", v.State, " ", v.Found)), " "))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q:\n%s, want\n%s", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

func TestLatenciesOfAnotherProcessAreNotDecided(t *testing.T) {
	f, err := read("environment: [{name: p, start: [x]}]\nfaults: [{at: 5s, signal: STOP, process: p}]\nexpect: {lost: 2, p99_below: 1s, recovered_within: 9s}")
	if err != nil {
		t.Fatal(err)
	}
	o := outcome(".....xx.....", 5e9)
	o.Apart = "elsewhere"
	for i, want := range []string{"held 2", "not decided elsewhere", "not decided elsewhere"} {
		if v := f.Judge(o)[i]; v.State.String()+" "+v.Found != want {
			t.Errorf("%+v, want %s", v, want)
		}
	}
}

// What is missing where a step was cut off is not known to be lost; what is too
// much is too much all the same.
func TestNothingIsHeldOfAStepThatWasCutOff(t *testing.T) {
	f, err := read("expect: {lost: 5, duplicates: 0, p99_below: 1s}")
	if err != nil {
		t.Fatal(err)
	}
	o := outcome("")
	o.Cut, o.Counts["duplicates"] = true, 1
	want := []State{Undecided, Broken, Undecided}
	for i, v := range f.Judge(o) {
		if v.State != want[i] {
			t.Errorf("%+v, want %v", v, want[i])
		}
	}
}
