package main

import (
	"strings"
	"testing"

	"queuebench/rawlog"
	"queuebench/runner/calibration"
)

func TestARunCarriesItsCalibration(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, strings.Fields("run --queue memory --rate 2000 --duration 100ms --calibrate")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	m, _ := readLog(t, lastLine(stdout))
	c := m.Calibration
	if c == nil || c.Wait.Rate != 2000 || c.Wait.N != 1000 || c.ClockReadNs <= 0 || m.Settings["calibrate"] != "true" {
		t.Fatalf("calibration %+v", c)
	}
	// What it found stands in the log and was shown, whatever this machine is.
	for _, text := range calibration.Findings(c) {
		if !strings.Contains(strings.Join(m.Warnings, "\n"), text) || !strings.Contains(stderr, text) {
			t.Errorf("%q is not in %q or not in %s", text, m.Warnings, stderr)
		}
	}
	status, stdout, stderr = bench(t, strings.Fields("run --queue memory --rate 2000 --duration 100ms --calibrate=false")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	if m, _ := readLog(t, lastLine(stdout)); m.Calibration != nil {
		t.Errorf("left out, and there is %+v", m.Calibration)
	}
}

func TestCalibrateRefusesWhatItCannotMeasure(t *testing.T) {
	for _, line := range []string{"calibrate x", "calibrate --duration 1ms", "calibrate --duration 1h", "calibrate --duration x"} {
		if status, _, stderr := bench(t, strings.Fields(line)...); status != 2 || stderr == "" {
			t.Errorf("%s: status %d, %s", line, status, stderr)
		}
	}
}

func TestCalibrationAsTables(t *testing.T) {
	slack, steal, throttled := int64(1), 1.25, int64(0)
	wait := rawlog.WaitLag{Rate: 10_000, N: 10_000, P50Ns: 80, P90Ns: 400, P99Ns: 21_000, P999Ns: 99_000, MaxNs: 1_500_000}
	floor := calibration.Floor{Rate: 1000, N: 1000, EndToEnd: calibration.Latency{P50Ns: 9000, P99Ns: 50_000, MaxNs: 1e6}, Holds: true}
	r := &calibration.Report{
		Calibration: rawlog.Calibration{Wait: wait, ClockReadNs: 41.4, ClockResolutionNs: 20, ClockSource: "tsc", TimerSlackNs: &slack, DefaultSlackNs: &throttled, StealPercent: &steal, ThrottledNs: &throttled},
		Sleep:       wait, Records: []calibration.RecordCost{{Table: "sent", AppendNs: 12.4, CPUNs: 90, Allocs: 0.0123, Bytes: 1.5}},
		Floors: []calibration.Floor{floor}, Findings: []string{"calibration: something is wrong"},
	}
	var b strings.Builder
	if err := printCalibration(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"80ns", "21.0µs", "1.50ms", "9.00µs", "no higher rate held", "12ns", "0.0123", "clock: 41ns a reading, steps of 20ns, source tsc", "CPU steal: 1.2 %", "\ncalibration: something is wrong\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
