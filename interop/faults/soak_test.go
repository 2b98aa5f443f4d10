//go:build linux

package faults

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"queuebench/internal/columns"
	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// sample is what bench takes at a moment of a soak.
type sample struct {
	at                                time.Duration // since the start of the process
	memoryMB, goroutines, descriptors int
	commitP50, commitP99              time.Duration // of the commits of the minute before
	commits                           int
}

// TestSoak drives bench with a Delta queue and its log through versitygw for
// SOAK_DURATION at SOAK_RATE messages a second, and looks at it SOAK_SAMPLES times:
// resident memory and open files by /proc, goroutines by bench's own metrics, the
// latency of commits by the table batches of its log.
func TestSoak(t *testing.T) {
	alongside(t, "SOAK_DURATION")
	d, err := time.ParseDuration(setting("SOAK_DURATION", "20s"))
	if err != nil {
		t.Fatal(err)
	}
	rate, err := strconv.Atoi(setting("SOAK_RATE", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	looks, err := strconv.Atoi(setting("SOAK_SAMPLES", "10"))
	if err != nil || looks < 6 {
		t.Fatalf("SOAK_SAMPLES: %v, it is at least 6", err)
	}
	row := reliability.Try(t, reliability.Row{
		ID: "soak", What: "Delta and its log through versitygw, for long", Often: fmt.Sprintf("%v at %d messages a second", d, rate), Effort: d.Seconds() * float64(rate),
		Holds: "lost 0, duplicates 0, the log complete; " + soakRule,
	})
	gw := versitygw.Start(t)
	dir := t.TempDir()
	b := start(t, dir, gw.Environ(), "run", "--queue", "delta", "--rate", fmt.Sprint(rate), "--duration", d.String(), "--message-size", "100", "--commit-interval", "100ms",
		"--store", gw.Address("soak"), "--log-store", "./logs", "--run-id", "soak", "--metrics-addr", "127.0.0.1:0", "--calibrate=false", "--json", "--part-age", min(5*time.Second, d/10).String())
	var metrics string
	await(t, "the address of the metrics", b, func() bool {
		_, rest, ok := strings.Cut(b.errs.String(), "metrics at ")
		metrics, _, _ = strings.Cut(rest, "\n")
		return ok && strings.Contains(rest, "\n")
	})
	run := filepath.Join(dir, "logs", "soak")
	await(t, "a part", b, func() bool { return hasParts(run, "batches") })
	var samples []sample
	for i := range looks {
		// From the start of the process: so the last look is before the end of the load.
		time.Sleep(time.Until(b.began.Add(d * time.Duration(i+1) / time.Duration(looks+1))))
		if b.ended() {
			break
		}
		s := sample{at: time.Since(b.began)}
		s.memoryMB, _ = residentMB(b.cmd.Process.Pid)
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		s.descriptors = len(fds)
		if s.goroutines, err = goroutines(metrics); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	status := b.ends(t, d+5*time.Minute)
	r, a := b.accounting(t)
	addsUp(t, a, int64(d.Seconds()*float64(rate)))
	if status != 0 || !r.Complete || a.Lost != 0 || a.Duplicates != 0 || a.Failed != 0 || len(r.Unsent) > 0 {
		t.Errorf("status %d, complete %v, %+v, not stored %v\n%s", status, r.Complete, a, r.Unsent, b.errs.String())
	}
	if len(samples) < looks {
		t.Fatalf("it ended before the look %d of %d", len(samples)+1, looks)
	}
	commitsOf(t, run, samples)
	t.Logf("\n%s", soakTable(samples))
	growth := grown(samples, d >= 10*time.Minute)
	for _, text := range growth {
		t.Error(text)
	}
	first, last := samples[0], samples[len(samples)-1]
	row.Happened = fmt.Sprintf("%d acknowledged, lost 0, duplicates 0; from the first look to the last: memory %d to %d MB, goroutines %d to %d, descriptors %d to %d, commit p50 %v to %v, p99 %v to %v",
		a.Acked, first.memoryMB, last.memoryMB, first.goroutines, last.goroutines, first.descriptors, last.descriptors,
		first.commitP50.Round(100*time.Microsecond), last.commitP50.Round(100*time.Microsecond), first.commitP99.Round(100*time.Microsecond), last.commitP99.Round(100*time.Microsecond))
}

// soakRule is what grown holds.
const soakRule = "the median of the last third is at most 1.1 times that of the second third, and a slack more (memory 32 MB, goroutines 16, descriptors 8, commit p50 5 ms; commits from 10 minutes on)"

// grown holds the last third of the looks to the second one: the first is warming up.
func grown(samples []sample, commits bool) (all []string) {
	third := len(samples) / 3
	middle, late := samples[third:2*third], samples[len(samples)-third:]
	for _, m := range []struct {
		name  string
		of    func(sample) float64
		slack float64
		unit  string
	}{
		{"resident memory", func(s sample) float64 { return float64(s.memoryMB) }, 32, " MB"},
		{"goroutines", func(s sample) float64 { return float64(s.goroutines) }, 16, ""},
		{"descriptors", func(s sample) float64 { return float64(s.descriptors) }, 8, ""},
		{"commit p50", func(s sample) float64 { return float64(s.commitP50) / 1e6 }, 5, " ms"},
	} {
		if m.name == "commit p50" && !commits {
			continue
		}
		before, after := medianOf(middle, m.of), medianOf(late, m.of)
		if after > 1.1*before+m.slack {
			all = append(all, fmt.Sprintf("%s grows: %.4g%s in the second third, %.4g%s in the last", m.name, before, m.unit, after, m.unit))
		}
	}
	return all
}

func medianOf(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// What grows is told, and what is warm is not.
func TestWhatGrowsInASoak(t *testing.T) {
	steady := func(i int) sample {
		return sample{memoryMB: min(100, 40+10*i) + i%3, goroutines: 60 + i%5, descriptors: 20, commitP50: 8 * time.Millisecond}
	}
	for want, change := range map[string]func(s *sample, i int){
		"":                func(*sample, int) {},
		"resident memory": func(s *sample, i int) { s.memoryMB += 5 * i },
		"goroutines":      func(s *sample, i int) { s.goroutines += 2 * i },
		"descriptors":     func(s *sample, i int) { s.descriptors += i },
		"commit p50":      func(s *sample, i int) { s.commitP50 += time.Duration(i) * time.Millisecond / 2 },
	} {
		var all []sample
		for i := range 60 {
			s := steady(i)
			change(&s, i)
			all = append(all, s)
		}
		if got := grown(all, true); want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) {
			t.Errorf("%q grows: %q", want, got)
		}
	}
}

// goroutines are those that bench's metrics tell.
func goroutines(url string) (int, error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		if rest, ok := strings.CutPrefix(line, "queuebench_goroutines"); ok {
			fields := strings.Fields(rest)
			return strconv.Atoi(fields[len(fields)-1])
		}
	}
	return 0, fmt.Errorf("the metrics tell no goroutines:\n%s", body)
}

// commitsOf gives each sample the commits since the one before it, by the log.
func commitsOf(t *testing.T, run string, samples []sample) {
	t.Helper()
	type commit struct{ at, took int64 }
	var all []commit
	parts, _ := filepath.Glob(filepath.Join(run, rawlog.Batches.Name, "*", "*", "part-*.parquet"))
	for _, name := range parts {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), "time_ns", "commit_put_ns")
		if err != nil {
			t.Fatal(err)
		}
		for part.Next() {
			c := part.Columns()
			for i := range part.Len() {
				if took := c[1].Ints[i]; took != rawlog.Null {
					all = append(all, commit{c[0].Ints[i], took})
				}
			}
		}
		if part.Err() != nil {
			t.Fatal(part.Err())
		}
	}
	slices.SortFunc(all, func(a, b commit) int { return int(a.at - b.at) })
	if len(all) < len(samples) {
		t.Fatalf("%d commits in the log", len(all))
	}
	// The commits of the log, in as many parts as there are looks.
	for i := range samples {
		share := all[len(all)*i/len(samples) : len(all)*(i+1)/len(samples)]
		var took []int64
		for _, c := range share {
			took = append(took, c.took)
		}
		slices.Sort(took)
		samples[i].commits = len(took)
		samples[i].commitP50, samples[i].commitP99 = time.Duration(took[(len(took)-1)/2]), time.Duration(took[(len(took)*99+99)/100-1])
	}
}

func soakTable(samples []sample) string {
	table := columns.Table{Header: []string{"after", "memory MB", "goroutines", "descriptors", "commits", "commit p50 ms", "commit p99 ms"}}
	for _, s := range samples {
		table.Rows = append(table.Rows, []string{s.at.Round(time.Second).String(), fmt.Sprint(s.memoryMB), fmt.Sprint(s.goroutines), fmt.Sprint(s.descriptors), fmt.Sprint(s.commits),
			fmt.Sprintf("%.1f", float64(s.commitP50)/1e6), fmt.Sprintf("%.1f", float64(s.commitP99)/1e6)})
	}
	var out strings.Builder
	_ = table.Write(&out) // into memory
	return out.String()
}
