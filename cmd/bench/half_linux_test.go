package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// processManifest reads the manifest of a process of a run.
func processManifest(t *testing.T, run, process string) *rawlog.Manifest {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(run, rawlog.ManifestNameOf(process)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := rawlog.ReadManifest(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ends waits for a process and checks its exit status.
func (p *process) ends(t *testing.T, status int) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		t.Fatalf("it did not end:\n%s", p.stderr.String())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("status %d, not %d:\n%s\n%s", got, status, p.stdout.String(), p.stderr.String())
	}
}

func TestTwoHalvesInTwoProcesses(t *testing.T) {
	gw := versitygw.Start(t)
	gw.CreateBucket(t, "halves")
	for _, k := range []struct{ name, store, log string }{
		{"folder", "./lake", "./logs"},
		{"versitygw", gw.Address("halves/queue"), "./logs"},
	} {
		t.Run(k.name, func(t *testing.T) {
			bareEnvironment(t)
			for _, e := range gw.Environ() {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			place := []string{"--run-id", "r-1", "--store", k.store, "--log-store", k.log, "--partitions", "2", "--commit-interval", "50ms"}
			consumers := startBench(t, append([]string{"consume", "--groups", "2", "--remove"}, place...)...)
			others := startBench(t, append([]string{"consume", "--groups", "2", "--index", "1"}, place...)...)
			producers := startBench(t, append([]string{"produce", "--rate", "1000", "--duration", "1500ms", "--producers", "2", "--message-size", "16"}, place...)...)
			producers.ends(t, 0)
			consumers.ends(t, 0)
			others.ends(t, 0)

			run := lastLine(producers.stdout.String())
			if at := lastLine(consumers.stdout.String()); at != run {
				t.Errorf("the halves recorded to %s and %s", run, at)
			}
			sent := processManifest(t, run, "produce").Steps[0]
			if a := sent.Accounting; a.Scheduled != 1500 || a.Acked != 1500 || a.Lost != 0 || sent.Producers != 2 {
				t.Errorf("sent %+v", sent)
			}
			for i, process := range []string{"consume", "consume-1"} {
				m := processManifest(t, run, process)
				got := m.Steps[0]
				if a := got.Accounting; a.Received != 1500 || a.Duplicates != 0 || a.Foreign != 0 || a.OutOfOrder != 0 {
					t.Errorf("%s: %+v", process, a)
				}
				if want := fmt.Sprint([]string{fmt.Sprintf("group-%d", 2*i), fmt.Sprintf("group-%d", 2*i+1)}); fmt.Sprint(got.Groups) != want {
					t.Errorf("%s has the groups %v, not %v", process, got.Groups, want)
				}
				if !m.Complete || got.DurationNs != int64(1500*time.Millisecond) || got.Rate != 1000 || got.StartedNs-sent.StartedNs > 1e6 || sent.StartedNs-got.StartedNs > 1e6 {
					t.Errorf("%s: %+v, start %d", process, got, sent.StartedNs)
				}
			}
			if status, out, errs := bench(t, "clean", "r-1", "--store", k.store, "--log-store", k.log); status != 0 || !strings.Contains(out, "removed 0 objects") {
				t.Errorf("--remove left something: status %d: %s%s", status, out, errs)
			}
			// Each half of a run is there once.
			for _, args := range [][]string{{"produce", "--rate", "10", "--duration", "1s"}, {"consume", "--groups", "2"}, {"run", "--rate", "10", "--duration", "1s"}} {
				if status, _, errs := bench(t, append(args, place...)...); status != 2 || !strings.Contains(errs, "r-1") {
					t.Errorf("%v again: status %d: %s", args, status, errs)
				}
			}
		})
	}
}

func TestAConsumeHalfThatWasKilledGoesOn(t *testing.T) {
	bareEnvironment(t)
	place := []string{"--run-id", "r-1", "--store", "./lake", "--log-store", "./logs", "--partitions", "2", "--commit-interval", "50ms", "--groups", "2", "--consumers", "2"}
	first := startBench(t, append([]string{"consume"}, place...)...)
	producers := startBench(t, append([]string{"produce", "--rate", "1000", "--duration", "9s", "--producers", "3"}, place[:len(place)-4]...)...)
	recorded := func() (n int) {
		parts, _ := filepath.Glob("logs/r-1/received/*/*/part-consumer-*-1.parquet")
		return len(parts)
	}
	for until := time.Now().Add(30 * time.Second); recorded() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no part was stored:\n%s", first.stderr.String())
		}
	}
	first.cmd.Process.Signal(syscall.SIGKILL)
	<-first.done
	resumed := startBench(t, append([]string{"consume", "--resume", "--json"}, place...)...)
	producers.ends(t, 0)
	resumed.ends(t, 0)
	var out jsonResult
	if err := json.Unmarshal([]byte(strings.SplitN(resumed.stdout.String(), "\n", 2)[0]), &out); err != nil {
		t.Fatal(err)
	}
	m := processManifest(t, "logs/r-1", "consume")
	a := m.Steps[0].Accounting
	if !m.Complete || a.Received != 9000 || a.Duplicates != 0 || a.Foreign != 0 || a.OutOfOrder != 0 || len(out.Broken) != 0 {
		t.Errorf("complete %v, %+v, broken %v", m.Complete, a, out.Broken)
	}
	rows, next := map[string]int64{}, map[string]int{}
	for _, p := range m.Steps[0].Parts {
		rows[p.Table] += p.Rows
		if p.Table == "received" {
			if p.Index != next[p.Actor] {
				t.Errorf("%s has part %d where %d is due", p.Actor, p.Index, next[p.Actor])
			}
			next[p.Actor]++
		}
	}
	if rows["received"] != 2*9000 {
		t.Errorf("%d rows for two groups of 9000 deliveries", rows["received"])
	}
	if status, _, errs := bench(t, append([]string{"consume", "--resume"}, place...)...); status != 2 || !strings.Contains(errs, "nothing to resume") {
		t.Errorf("resumed again: status %d: %s", status, errs)
	}
}

// The clock of another process is measured from the start to the end of a half.
// Here both are of one boot, so what is true is known.
func TestAHalfMeasuresAnotherClock(t *testing.T) {
	bareEnvironment(t)
	server := startBench(t, "clock", "serve", "--addr", "127.0.0.1:0")
	var address string
	for until := time.Now().Add(20 * time.Second); address == ""; time.Sleep(5 * time.Millisecond) {
		address, _, _ = strings.Cut(server.stdout.String(), "\n")
		if time.Now().After(until) {
			t.Fatalf("it serves nothing: %s", server.stderr.String())
		}
	}
	place := []string{"--run-id", "r-1", "--store", "./lake", "--log-store", "./logs", "--commit-interval", "50ms"}
	consumers := startBench(t, append([]string{"consume", "--clock-peer", address}, place...)...)
	startBench(t, append([]string{"produce", "--rate", "500", "--duration", "1s"}, place...)...).ends(t, 0)
	consumers.ends(t, 0)
	server.cmd.Process.Signal(syscall.SIGINT)
	server.ends(t, 0)
	m := processManifest(t, "logs/r-1", "consume")
	if len(m.ClockOffsets) != 1 || len(m.ClockOffsets[0].Points) < 2 {
		t.Fatalf("%+v", m.ClockOffsets)
	}
	o := m.ClockOffsets[0]
	true0, slack, _, ok := clock.Between(o.Peer, o.Own)
	if !ok || o.Own != m.Clock {
		t.Fatalf("%+v", o)
	}
	for _, p := range o.Points {
		if wrong := p.OffsetNs - true0; wrong > p.ErrorNs+slack || -wrong > p.ErrorNs+slack {
			t.Errorf("%d ± %d ns, in truth %d", p.OffsetNs, p.ErrorNs, true0)
		}
	}
}
