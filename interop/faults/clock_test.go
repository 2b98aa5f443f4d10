//go:build unix && interop

package faults

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// steppedNow is what the package time gets for the function Now: a wall clock that is
// set while the program runs. WALL_STEPS has milliseconds since the start and seconds
// by which it is then ahead, in turn.
const steppedNow = `
var wallSteps = readWallSteps()

func readWallSteps() (steps [][2]int64) {
	text, _ := syscall.Getenv("WALL_STEPS")
	var n, sign int64 = 0, 1
	var have []int64
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ' ':
			have = append(have, sign*n)
			n, sign = 0, 1
		case text[i] == '-':
			sign = -1
		default:
			n = 10*n + int64(text[i]-'0')
		}
	}
	for i := 0; i+1 < len(have); i += 2 {
		steps = append(steps, [2]int64{have[i] * 1000000, have[i+1]})
	}
	return steps
}

func wallStep(mono int64) (seconds int64) {
	for _, s := range wallSteps {
		if mono-startNano >= s[0] {
			seconds = s[1]
		}
	}
	return seconds
}
`

// withSteps builds bench with a wall clock that can be stepped, which neither a time
// namespace nor a library in front of the C library does to a Go program.
func withSteps(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	original := filepath.Join(runtime.GOROOT(), "src", "time", "time.go")
	body, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const reads = "	sec, nsec, mono := runtimeNow()\n	if mono == 0 {\n"
	text := string(body)
	if strings.Count(text, reads) != 1 {
		t.Fatalf("%s is not what this test knows: time.Now reads the clock in another way", original)
	}
	text = strings.Replace(text, reads, "	sec, nsec, mono := runtimeNow()\n	sec += wallStep(mono)\n	if mono == 0 {\n", 1)
	head, rest, ok := strings.Cut(text, "import (\n")
	if !ok {
		t.Fatalf("%s imports nothing", original)
	}
	text = head + "import (\n	\"syscall\"\n" + rest + steppedNow
	changed := filepath.Join(dir, "time.go")
	if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	file, bin := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "bench")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-tags", "min", "-overlay", file, "-o", bin, "../../cmd/bench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// The wall clock is set forth and back while a run goes on: no latency, watermark or
// second knows of it. One that is set by more than the store takes in a signature ends
// the run clearly.
func TestStepsOfTheWallClock(t *testing.T) {
	t.Parallel()
	row := reliability.Try(t, reliability.Row{
		ID: "ends/clock-steps", What: "the wall clock set by +10 min, −10 min and +10 min during a run (bench built with such a clock); by an hour, beyond what S3 takes in a signature", Often: "once each", Effort: 1,
		Holds: "no difference of two times knows of it; the hour: status 1 at once, what happened and what to do, a readable log",
	})
	bin := withSteps(t)
	gw := versitygw.Start(t)
	dir := t.TempDir()
	b := startWith(t, exec.Command(bin), dir, append(gw.Environ(), "WALL_STEPS=2000 600 4000 -600 6000 600"), "run", "--queue", "delta", "--rate", "1000", "--duration", "8s", "--commit-interval", "50ms",
		"--store", gw.Address("steps"), "--log-store", "./logs", "--run-id", "mine", "--part-age", "500ms", "--quiet", "--calibrate=false", "--json")
	if status := b.ends(t, 2*time.Minute); status != 0 {
		t.Fatalf("status %d: %s", status, b.errs.String())
	}
	_, a := b.accounting(t)
	addsUp(t, a, 8000)
	if a.Acked != 8000 || a.Lost != 0 || a.Duplicates != 0 {
		t.Errorf("%+v", a)
	}
	run := filepath.Join(dir, "logs", "mine")
	readable(t, run)
	// 600 s would be seen in any of these.
	const most = int64(60 * time.Second)
	intended, received := times(t, run, rawlog.Sent.Name, "intended_ns"), times(t, run, rawlog.Received.Name, "received_ns")
	sent, acked := times(t, run, rawlog.Sent.Name, "sent_ns"), times(t, run, rawlog.Sent.Name, "acked_ns")
	for m, at := range intended {
		for what, later := range map[string]int64{"received": received[m], "sent": sent[m], "acked": acked[m]} {
			if d := later - at; d < 0 || d > most {
				t.Fatalf("message %+v: %s %v after it was intended", m, what, time.Duration(d))
			}
		}
	}
	parts, _ := filepath.Glob(filepath.Join(run, "*", "*", "*", "part-*.parquet"))
	first := intended[message{0, 0}]
	for _, name := range parts {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body))
		if err != nil {
			t.Fatal(err)
		}
		if p := part.Part(); !p.Last && p.WatermarkNs != 0 && (p.WatermarkNs < first-most || p.WatermarkNs > first+most) {
			t.Errorf("%s: the watermark is %v from the start", name, time.Duration(p.WatermarkNs-first))
		}
	}

	hour := t.TempDir()
	b = startWith(t, exec.Command(bin), hour, append(gw.Environ(), "WALL_STEPS=3000 3600"), delta("--store", gw.Address("hour"), "--log-store", "./logs")...)
	b.endsClearly(t, ending{1, []string{"RequestTimeTooSkewed", "the clocks of this host and of the store differ too much: set them"}, true}, filepath.Join(hour, "logs", "mine"), nil)
	row.Happened = "so it was"
}

// times are a time of each message in a table of a log in a folder.
func times(t *testing.T, run, table, column string) map[message]int64 {
	t.Helper()
	all := map[message]int64{}
	parts, _ := filepath.Glob(filepath.Join(run, table, "*", "*", "part-*.parquet"))
	for _, name := range parts {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), "producer", "seq", column)
		if err != nil {
			t.Fatal(err)
		}
		for part.Next() {
			c := part.Columns()
			for i := range part.Len() {
				all[message{c[0].Ints[i], c[1].Ints[i]}] = c[2].Ints[i]
			}
		}
		if part.Err() != nil {
			t.Fatal(part.Err())
		}
	}
	return all
}
