package main

import (
	"testing"
	"time"
)

func TestPacingAndDelayAreReadAndKept(t *testing.T) {
	bareEnvironment(t)
	refused(t, 2, `--pacing: "fast" is no way to wait: say precise or sleep`, "run --queue memory --rate 10 --pacing fast")
	refused(t, 2, "--consumer-delay -1s: it is between 0 and an hour", "run --queue memory --rate 10 --consumer-delay -1s")
	begin := time.Now()
	status, stdout, stderr := bench(t, "run", "--queue", "memory", "--rate", "200", "--duration", "200ms", "--pacing", "sleep", "--consumer-delay", "20ms")
	if took := time.Since(begin); took < 39*20*time.Millisecond {
		t.Errorf("40 messages of 20 ms each took %v", took)
	}
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	m, rows := readLog(t, lastLine(stdout))
	if m.Settings["pacing"] != "sleep" || m.Settings["consumer-delay"] != "20ms" || rows["received"] != 40 {
		t.Errorf("settings %v, rows %v", m.Settings, rows)
	}
}
