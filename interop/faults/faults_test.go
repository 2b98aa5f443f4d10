//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/internal/faultproxy"
	"queuebench/internal/versitygw"
)

// setting is an environment variable of `make faults`, or what `make test` takes.
func setting(t *testing.T, name, value string) string {
	t.Helper()
	if v := os.Getenv(name); v != "" {
		return v
	}
	return value
}

// plans are what happens. The chances are those of a bad day.
func plans(d time.Duration) map[string]faultproxy.Plan {
	within := func(from, to time.Duration) func(time.Duration) bool {
		return func(since time.Duration) bool { return since >= from && since < to }
	}
	return map[string]faultproxy.Plan{
		"answers lost": {Chance: map[faultproxy.Kind]float64{
			faultproxy.LostByError: .02, faultproxy.LostByCut: .02, faultproxy.CutBefore: .02, faultproxy.ServerError: .02, faultproxy.Truncated: .02}},
		"overloaded": {Chance: map[faultproxy.Kind]float64{faultproxy.SlowDown: .05}, PerPrefix: 400},
		"far away":   {Latency: 10 * time.Millisecond, Jitter: 30 * time.Millisecond, Bandwidth: 30 << 20, Chance: map[faultproxy.Kind]float64{faultproxy.Slow: .005}, SlowFor: time.Second},
		"half open":  {Chance: map[faultproxy.Kind]float64{faultproxy.HalfOpen: .003}, SlowFor: time.Minute},
		"gone":       {Down: within(d/3+2*time.Second, d/3+2*time.Second+min(60*time.Second, d/3))},
	}
}

type outcome struct {
	Complete bool     `json:"complete"`
	Broken   []string `json:"broken"`
	Unsent   []string `json:"unsent"`
	Steps    []struct {
		Accounting struct {
			Scheduled, Attempted, Acked, Failed, Unconfirmed, Overrun, Received, Lost, Duplicates, Foreign int64
		} `json:"accounting"`
	} `json:"steps"`
}

// A Delta queue and the raw log's uploads go through the same bad network.
func TestDeltaThroughFaults(t *testing.T) {
	d, err := time.ParseDuration(setting(t, "FAULTS_DURATION", "6s"))
	if err != nil {
		t.Fatal(err)
	}
	rate := setting(t, "FAULTS_RATE", "2000")
	n, err := strconv.ParseFloat(rate, 64)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "bench")
	if out, err := exec.Command("go", "build", "-tags", "min", "-o", bin, "../../cmd/bench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	gw := versitygw.Start(t)
	var told sync.Mutex
	for name, plan := range plans(d) {
		t.Run(name, func(t *testing.T) {
			if d < time.Minute { // longer ones are measured, and stand alone
				t.Parallel()
			}
			plan.Seed = 7
			p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, plan)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			drain := 90 * time.Second
			at := "s3://" + gw.Bucket + "/" + strings.ReplaceAll(name, " ", "-")
			cmd := exec.CommandContext(t.Context(), bin, "run", "--queue", "delta", "--rate", rate, "--duration", d.String(), "--drain-timeout", drain.String(),
				"--commit-interval", "100ms", "--message-size", "100", "--store", at, "--endpoint", p.Endpoint, "--region", "us-east-1",
				"--part-age", "2s", "--calibrate=false", "--quiet", "--json")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), gw.Environ()...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			memory := watchMemory(cmd.Process.Pid)
			err = cmd.Wait()
			took, levels := time.Since(began), memory()
			var r outcome
			line := out.String()
			if i := strings.IndexByte(line, '{'); i < 0 || json.NewDecoder(strings.NewReader(line[i:])).Decode(&r) != nil || len(r.Steps) != 1 {
				t.Fatalf("%v after %v:\n%s%s", err, took, out.String(), errs.String())
			}
			told.Lock()
			defer told.Unlock()
			a := r.Steps[0].Accounting
			t.Logf("%s: %v; %+v; %s; memory %s", name, took.Round(time.Second), a, counted(p.Counts()), levels)
			if err != nil || !r.Complete || len(r.Broken) > 0 || len(r.Unsent) > 0 {
				t.Errorf("%v, complete %v, broken %v, not stored %v\n%s", err, r.Complete, r.Broken, r.Unsent, errs.String())
			}
			if want := int64(n * d.Seconds()); a.Scheduled != want || a.Attempted+a.Overrun != want || a.Acked+a.Failed+a.Unconfirmed != a.Attempted {
				t.Errorf("it does not add up: %+v of %d", a, want)
			}
			if a.Lost != 0 || a.Duplicates != 0 || a.Foreign != 0 || a.Received < a.Acked {
				t.Errorf("lost or repeated: %+v", a)
			}
			if limit := d + drain + 30*time.Second; took > limit {
				t.Errorf("it ended after %v, not within %v", took, limit)
			}
			if d >= time.Minute {
				levels.flat(t)
			}
			if len(p.Counts()) < 2 && plan.Latency == 0 {
				t.Errorf("nothing happened: %v", p.Counts())
			}
		})
	}
}

func counted(c map[faultproxy.Kind]int64) string {
	var texts []string
	for k, n := range c {
		texts = append(texts, fmt.Sprintf("%d %s", n, k))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// levels are resident megabytes, once a second.
type levels []int

func (l levels) String() string {
	if len(l) == 0 {
		return "not known"
	}
	return fmt.Sprintf("%d MB in the middle, %d at most", l[len(l)/2], slices.Max(l))
}

// flat holds the second half to the first: a leak grows.
func (l levels) flat(t *testing.T) {
	t.Helper()
	if half := len(l) / 2; half > 10 {
		before, after := slices.Max(l[:half]), slices.Max(l[half:])
		if after > before+before/4+32 {
			t.Errorf("memory grows: at most %d MB in the first half, %d in the second", before, after)
		}
	}
}

// watchMemory reads a process's resident memory until the function is called.
func watchMemory(pid int) (stop func() levels) {
	var all levels
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				continue
			}
			if _, rest, ok := strings.Cut(string(body), "VmRSS:"); ok {
				if kb, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
					all = append(all, kb/1024)
				}
			}
		}
	}()
	return func() levels { close(quit); <-done; return all }
}
