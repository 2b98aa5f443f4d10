package main

import (
	"testing"
)

func TestPacingAndDelayAreReadAndKept(t *testing.T) {
	bareEnvironment(t)
	refused(t, 2, `--pacing: "fast" is no way to wait: say precise or sleep`, "run --queue memory --rate 10 --pacing fast")
	refused(t, 2, "--consumer-delay -1s: it is between 0 and an hour", "run --queue memory --rate 10 --consumer-delay -1s")
	status, stdout, stderr := bench(t, "run", "--queue", "memory", "--rate", "200", "--duration", "200ms", "--pacing", "sleep", "--consumer-delay", "2ms")
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	m, rows := readLog(t, lastLine(stdout))
	if m.Settings["pacing"] != "sleep" || m.Settings["consumer-delay"] != "2ms" || rows["received"] != 40 {
		t.Errorf("settings %v, rows %v", m.Settings, rows)
	}
}
