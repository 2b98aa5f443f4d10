package main

import (
	"os"
	"strings"
	"testing"
)

func TestArrivalsAreRecordedWithTheStep(t *testing.T) {
	bareEnvironment(t)
	m := manifestOf(t, "run --queue memory --quiet --arrivals poisson --rate-profile 0s:1000,100ms~3000 --duration 200ms --seed 4 --repeats 2")
	a, b := m.Steps[0], m.Steps[1]
	if a.Arrivals != "poisson" || a.RateProfile != "0s:1000,100ms~3000" || a.Rate != 2500 || a.Settings["rate"] != "2500" || m.Settings["rate-profile"] != "0s:1000,100ms~3000" {
		t.Errorf("step %+v", a)
	}
	if a.Accounting.Scheduled == b.Accounting.Scheduled && a.Accounting.Scheduled == 500 {
		t.Errorf("both repeats have %d messages", a.Accounting.Scheduled)
	}
	again := manifestOf(t, "run --queue memory --quiet --arrivals poisson --rate-profile 0s:1000,100ms~3000 --duration 200ms --seed 4")
	if got := again.Steps[0].Accounting.Scheduled; got != a.Accounting.Scheduled {
		t.Errorf("the same seed gives %d messages, and gave %d", got, a.Accounting.Scheduled)
	}
}

func TestWhatEndsAStep(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]struct{ messages, ms int64 }{
		"--rate 1000 --messages 150":                                        {150, 150},
		"--rate 1000 --messages 150 --duration 100ms":                       {100, 100},
		"--rate 1000 --messages 50 --duration 1s":                           {50, 50},
		"--rate 6000 --arrivals burst --burst-size all --messages 3000":     {3000, 500},
		"--rate 1000 --arrivals burst --burst-size 60 --duration 150ms":     {150, 150},
		"--rate 20000 --arrivals pathway-burst --duration 550ms":            {11_000, 550},
		"--rate 1000 --payload-file lines --payload-repeats 40":             {120, 120},
		"--rate 1000 --payload-file lines --duration 100ms":                 {100, 100},
		"--rate-profile 0s:1000,50ms:0,100ms:1000 --messages 100":           {100, 150},
		"--rate 1000 --arrivals jitter --duration 100ms --producers 3":      {100, 100},
		"--rate 1000 --payload-file lines --payload-repeats 9 --duration 1": {27, 27},
	} {
		fileOf(t, "lines", "one\ntwo\nthree\n")
		s := manifestOf(t, "run --queue memory --quiet "+line).Steps[0]
		if s.Accounting.Scheduled != want.messages || s.Accounting.Received != want.messages || s.DurationNs != want.ms*1e6 {
			t.Errorf("%s: %d messages, %d received, in %d ns", line, s.Accounting.Scheduled, s.Accounting.Received, s.DurationNs)
		}
	}
}

func TestPathwayBurstHasItsOwnMessageSize(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"--arrivals pathway-burst":                     "18",
		"--arrivals pathway-burst --message-size 200":  "200",
		"--arrivals poisson":                           "100",
		"--arrivals constant --message-size 100:100%":  "100:100%",
		"--arrivals pathway-burst --compressibility 1": "18",
	} {
		if m := manifestOf(t, "run --queue memory --quiet --rate 100000 --duration 50ms "+line); m.Settings["message-size"] != want {
			t.Errorf("%s: messages of %q bytes are recorded", line, m.Settings["message-size"])
		}
	}
	m := manifestOf(t, "run --queue memory --quiet --rate 100000 --duration 50ms --vary arrivals=constant,pathway-burst")
	for i, want := range []string{"100", "18"} {
		if got := m.Steps[i].Settings["message-size"]; got != want {
			t.Errorf("step %d: messages of %q bytes are recorded", i, got)
		}
	}
}

func TestArrivalsAndPayloadsThatCannotBeAreMisuse(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"run --rate 10 --arrivals pareto":                                        "say constant, poisson, jitter, burst, pathway-burst",
		"run --rate 10 --arrivals burst":                                         "needs --burst-size",
		"run --rate 10 --arrivals burst --burst-size 0":                          "a number of messages, or all",
		"run --rate 10 --arrivals burst --burst-size some":                       "a number of messages, or all",
		"run --rate 10 --burst-size 5":                                           "does nothing with --arrivals constant",
		"run --rate 10 --rate-profile 0s:5":                                      "--rate-profile and --rate both name the rate",
		"sweep --rates 10 --rate-profile 0s:5":                                   "--rate-profile and --rates both name the rate",
		"run --rate-profile 5":                                                   "write TIME:RATE",
		"run --rate-profile 0s:5,10s:6 --duration 10s":                           "make the step longer",
		"run --rate-profile 0s:5,10s:6 --duration 20s --arrivals pathway-burst":  "--arrivals burst --burst-size 10000",
		"run --rate-profile 0s:5,10s:0 --messages 51":                            "not due within",
		"run --rate 10 --messages 0":                                             "--messages 0 is not positive",
		"run --rate 10 --messages -3":                                            "--messages -3 is not positive",
		"run --rate 10 --payload-repeats 2":                                      "without --payload-file",
		"run --rate 0.001 --duration 1ns --arrivals poisson":                     "no message is due",
		"run --rate 1000000000 --duration 1h --arrivals poisson":                 "too many to be drawn",
		"run --rate 10 --message-size uniform:10..20":                            "identity takes 16",
		"run --rate 10 --message-size lognormal:mean=100":                        "p99",
		"run --rate 10 --message-size 99999999999":                               "larger than",
		"run --rate 10 --compressibility 1.5":                                    "between 0, random bytes, and 1",
		"run --rate 10 --compressibility NaN":                                    "between 0, random bytes, and 1",
		"run --rate 10 --keys -1":                                                "--keys -1 is negative",
		"run --rate 10 --key-distribution zipf:1":                                "needs a number of keys",
		"run --rate 10 --keys 5 --key-distribution zipf":                         "such as zipf:0.99",
		"run --rate 10 --keys 5 --key-distribution none":                         "leave the number out",
		"run --rate 10 --header a=b":                                             "--header does nothing with --queue delta",
		"run --rate 10 --queue memory --header ab":                               "write name=value",
		"run --rate 10 --queue memory --header =b":                               "write name=value",
		"run --rate 10 --payload-file absent":                                    "no such file",
		"run --rate 10 --payload-file . --message-size 50":                       "--message-size does nothing with --payload-file",
		"run --rate 10 --payload-file . --compressibility 0.5":                   "--compressibility does nothing with --payload-file",
		"run --rate 10 --payload-file .":                                         "no regular file",
		"sweep --rates 10 --vary arrivals=poisson,never":                         `"never" is no kind of arrivals`,
		"run --rate 10 --queue memory --vary message-size=100,uniform:1..2":      "identity takes 16",
		"run --rate 10 --queue memory --vary header=a --duration 1s --repeats 2": "write name=value",
	} {
		refused(t, 2, want, line)
	}
	fileOf(t, "empty", "")
	fileOf(t, "lines", "a\nb\n")
	for line, want := range map[string]string{
		"run --rate 10 --payload-file empty":                                  "empty is empty",
		"run --rate 10 --payload-file lines --payload-repeats 0":              "--payload-repeats 0 is not between 1 and",
		"run --rate 10 --payload-file lines --payload-repeats 9 --messages 5": "give one",
	} {
		if status, stdout, stderr := bench(t, strings.Fields(line)...); status != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("bench %s: status %d, %s", line, status, stderr)
		}
	}
	if _, err := os.Stat("queuebench-data"); err == nil {
		t.Error("something was begun")
	}
}
