package duckdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// install gets DuckDB by the lock file beside this test, once.
func install(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/@duckdb/node-api"); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if out, err := exec.Command("npm", "ci").CombinedOutput(); err != nil {
		t.Fatalf("npm ci in interop/duckdb: %v (it needs Node with npm and its registry)\n%s", err, out)
	}
}

type percentile struct {
	Ns     int64 `json:"ns"`
	Beyond bool  `json:"beyond,omitempty"`
}

// step is what the check reads of a step of a summary.
type step struct {
	Step      int     `json:"step"`
	Repeat    int     `json:"repeat"`
	Rate      float64 `json:"rate"`
	WarmupNs  int64   `json:"warmup_ns"`
	Latencies struct {
		EndToEnd struct {
			N           int64                 `json:"n"`
			Percentiles map[string]percentile `json:"percentiles"`
		} `json:"end_to_end"`
	} `json:"latencies"`
}

const never = int64(1) << 62

// nearestRank is the value of rank ⌈q·n⌉, q in hundredths.
func nearestRank(sorted []int64, hundredths int) percentile {
	v := sorted[(hundredths*len(sorted)+99)/100-1]
	return percentile{Ns: v, Beyond: v == never}
}

// writeStep writes the rows of one repeat and returns what its latencies are.
func writeStep(l *logwriter.Log, rng *rand.Rand, stepIndex, repeat int, started, warmup int64, lossy bool) step {
	const producers, perProducer = 2, 3000
	groups := []string{"one", "two's"}
	var latencies []int64
	received := []*logwriter.ReceivedWriter{l.Received(stepIndex, repeat, "consumer-0"), l.Received(stepIndex, repeat, "consumer-1")}
	for p := range producers {
		w := l.Sent(stepIndex, repeat, "producer-"+string(rune('0'+p)))
		for seq := range perProducer {
			intended := started + int64(seq)*1_000_003
			row := rawlog.SentRow{Producer: int32(p), Seq: int64(seq), IntendedNs: intended, SentNs: intended + 5, AckedNs: intended + 900, Status: rawlog.Acked, Partition: -1, Offset: -1}
			lost := 0.0
			if lossy {
				lost = 0.02
				switch rng.IntN(50) {
				case 0:
					row.Status = rawlog.Failed
					lost = 0.5
				case 1:
					row.Status, row.AckedNs = rawlog.Unconfirmed, 0
					lost = 0.5
				case 2:
					row.Status, row.SentNs, row.AckedNs = rawlog.Overrun, 0, 0
					lost = 1
				}
			}
			w.Append(row)
			for g, group := range groups {
				latency := never
				if rng.Float64() >= lost {
					latency = 1_000_000 + rng.Int64N(200_000_000)
					got := rawlog.ReceivedRow{Consumer: int32(g), Group: group, Producer: int32(p), Seq: int64(seq), ReceivedNs: intended + latency, Partition: 0, Offset: int64(seq)}
					if rng.IntN(20) == 0 { // a duplicate, which may come first
						again := got
						again.ReceivedNs += rng.Int64N(1000)
						received[g].Append(again)
					}
					received[g].Append(got)
				}
				awaited := row.Status == rawlog.Acked || row.Status == rawlog.Overrun
				if intended >= started+warmup && (latency != never || awaited) {
					latencies = append(latencies, latency)
				}
			}
		}
	}
	slices.Sort(latencies)
	s := step{Step: stepIndex, Repeat: repeat, Rate: 1000, WarmupNs: warmup}
	s.Latencies.EndToEnd.N = int64(len(latencies))
	s.Latencies.EndToEnd.Percentiles = map[string]percentile{"50": nearestRank(latencies, 50), "99": nearestRank(latencies, 99)}
	return s
}

// writeRun writes a run into a folder and returns its summary.
func writeRun(t *testing.T, dir string) []step {
	t.Helper()
	store, err := objectstore.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: "run", SpoolDir: t.TempDir() + "/spool", PartAge: 50 * time.Millisecond, PartRows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(20, 26))
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "run"}
	var steps []step
	for i := range 2 {
		for repeat := range 2 {
			started := int64(1_764_000_000_123_456_789) + int64(len(steps))*1e12
			steps = append(steps, writeStep(l, rng, i, repeat, started, int64(i)*700_000_000, i == 1 && repeat == 1))
			if err := l.CloseStep(t.Context(), i, repeat); err != nil {
				t.Fatal(err)
			}
			m.Steps = append(m.Steps, rawlog.Step{Step: i, Repeat: repeat, StartedNs: started, DurationNs: int64(i) * 7_000_000_000, Parts: l.Parts(i, repeat)})
		}
	}
	if err := l.WriteManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return steps
}

// check runs check.mjs and returns what it printed and its error.
func check(t *testing.T, run string, steps []step, args ...string) (string, error) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"schema": "queuebench.summary/1", "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "summary.json")
	if err := os.WriteFile(file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"check.mjs", run, file}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func TestDuckDBComputesTheSamePercentiles(t *testing.T) {
	install(t)
	run := filepath.Join(t.TempDir(), "a run's folder")
	steps := writeRun(t, run)
	if lossy := steps[3].Latencies.EndToEnd; !lossy.Percentiles["99"].Beyond || lossy.Percentiles["50"].Beyond {
		t.Fatalf("the lossy step does not lose what it is there for: %+v", lossy)
	}
	out, err := check(t, run, steps, "--tolerance", "0")
	t.Logf("\n%s", out)
	if err != nil {
		t.Fatalf("check.mjs: %v", err)
	}

	var rows []struct {
		Step, Repeat int
		N            int64
		P50          *int64 `json:"p50_ns"`
		P99          *int64 `json:"p99_ns"`
	}
	cmd := exec.CommandContext(t.Context(), "node", "query.mjs", run)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err = errors.Join(err, json.Unmarshal(printed, &rows)); err != nil || len(rows) != len(steps) {
		t.Fatalf("query.mjs: %v\n%s", err, printed)
	}
	for i, row := range rows {
		want := steps[i].Latencies.EndToEnd
		is := func(p percentile, got *int64) bool { return p.Beyond == (got == nil) && (got == nil || *got == p.Ns) }
		if row.Step != steps[i].Step || row.Repeat != steps[i].Repeat || row.N != want.N || !is(want.Percentiles["50"], row.P50) || !is(want.Percentiles["99"], row.P99) {
			t.Errorf("row %d of query.mjs is %s, want %+v", i, printed, steps[i])
		}
	}

	// The check can fail: each of these is another summary.
	for name, change := range map[string]func(*step){
		"a p99 1 % lower":  func(s *step) { raise(s, "99", 0.99) },
		"one message more": func(s *step) { s.Latencies.EndToEnd.N++ },
		"another cut":      func(s *step) { s.WarmupNs += 100_000_000 },
	} {
		changed := firstOf(steps)
		change(&changed[0])
		var exit *exec.ExitError
		if out, err := check(t, run, changed); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out, "differ in 1 of 1 steps") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	near := firstOf(steps)
	raise(&near[0], "50", 1.004)
	if out, err := check(t, run, near); err != nil {
		t.Errorf("a p50 0.4 %% higher: %v\n%s", err, out)
	}
}

// firstOf is a copy of the first step.
func firstOf(steps []step) []step {
	first := slices.Clone(steps[:1])
	first[0].Latencies.EndToEnd.Percentiles = maps.Clone(first[0].Latencies.EndToEnd.Percentiles)
	return first
}

func raise(s *step, q string, by float64) {
	p := s.Latencies.EndToEnd.Percentiles[q]
	p.Ns = int64(float64(p.Ns) * by)
	s.Latencies.EndToEnd.Percentiles[q] = p
}

func TestMisuseIsSaid(t *testing.T) {
	install(t)
	cmd := exec.CommandContext(t.Context(), "node", "check.mjs")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage:") {
		t.Errorf("without arguments: %v, %s", err, out)
	}
}

func TestLockFileNamesNoHost(t *testing.T) {
	body, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), `"resolved"`) || strings.Contains(string(body), "http") {
		t.Error("package-lock.json names where packages came from")
	}
}
