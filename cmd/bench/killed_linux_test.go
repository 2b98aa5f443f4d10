package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// TestKill9AtRandomMoments kills runs of the queue in memory and of a Delta
// table in a folder, each at another moment, and analyses what they left.
func TestKill9AtRandomMoments(t *testing.T) {
	bareEnvironment(t)
	const runs, atOnce = 20, 4
	rng := rand.New(rand.NewPCG(20, 9))
	var mu sync.Mutex
	withData := 0
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range runs {
		after := time.Duration(rng.Int64N(int64(800 * time.Millisecond)))
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			log := killAfter(t, i, after)
			if log == "" {
				return
			}
			analysed, err := checkKilled(t.Context(), log)
			if err != nil {
				t.Errorf("run %d, killed %v after it began: %v", i, after, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if analysed {
				withData++
			}
		})
	}
	wg.Wait()
	if withData < runs*3/4 {
		t.Errorf("only %d of %d runs had recorded anything when they were killed", withData, runs)
	}
}

// killRate makes a message fall due every 200 µs.
const (
	killRate   = 5000
	killPeriod = int64(time.Second) / killRate
)

// killAfter starts run i, kills it so long after it began (its first object is
// there; of three in four, the first rows of both tables), and returns the folder
// of its log; "" when it failed.
func killAfter(t *testing.T, i int, after time.Duration) string {
	args := []string{"run", "--rate", fmt.Sprint(killRate), "--duration", "60s", "--part-age", "50ms", "--calibrate=false",
		"--run-id", fmt.Sprintf("killed-%d", i), "--log-store", "./logs", "--queue", "memory"}
	if i%2 == 1 {
		args = append(args, "--queue", "delta", "--store", "./lake", "--commit-interval", "20ms")
	}
	p := startBench(t, args...)
	log := filepath.Join("logs", fmt.Sprintf("killed-%d", i))
	began := func() bool {
		tables := map[string]bool{}
		for _, f := range filesBelow(log) {
			if rel, err := filepath.Rel(log, f); err == nil && (rel == rawlog.ManifestName || rawlog.IsPartName(rel)) {
				table, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
				tables[table] = true
			}
		}
		return tables[rawlog.ManifestName] && (i%4 == 0 || tables[rawlog.Sent.Name] && tables[rawlog.Received.Name])
	}
	for end := time.Now().Add(30 * time.Second); !began(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-p.done:
			t.Errorf("run %d ended by itself: %s", i, p.stderr.String())
			return ""
		default:
		}
		if time.Now().After(end) {
			t.Errorf("run %d did not begin in 30 s: %s", i, p.stderr.String())
			return ""
		}
	}
	time.Sleep(after)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Errorf("run %d: %v", i, err)
	}
	<-p.done
	return log
}

// actorLog is what one actor left of a table.
type actorLog struct {
	parts []rawlog.Part
	rows  [][2]int64 // seq and time, ns since the epoch
}

// watermark is that of the last part before one that is missing.
func (a *actorLog) watermark() int64 {
	slices.SortFunc(a.parts, func(x, y rawlog.Part) int { return x.Index - y.Index })
	w := int64(math.MinInt64)
	for i, p := range a.parts {
		if p.Index != i {
			break
		}
		w = p.Watermark()
	}
	return w
}

// checkKilled holds the log of a killed run, of one producer and one consumer,
// against its schedule and against its analysis. It says whether there was
// anything to analyse.
func checkKilled(ctx context.Context, dir string) (analysed bool, err error) {
	sent, received := new(actorLog), new(actorLog)
	for _, f := range filesBelow(dir) {
		a, time := sent, "intended_ns"
		switch {
		case !rawlog.IsPartName(filepath.ToSlash(f)): // of an upload that was killed
			continue
		case strings.HasPrefix(f, filepath.Join(dir, rawlog.Received.Name)):
			a, time = received, "received_ns"
		case !strings.HasPrefix(f, filepath.Join(dir, rawlog.Sent.Name)):
			continue
		}
		body, err := os.ReadFile(f)
		if err != nil {
			return false, err
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), "seq", time)
		if err != nil {
			return false, fmt.Errorf("%s: %w", f, err)
		}
		a.parts = append(a.parts, part.Part())
		for part.Next() {
			for i := range part.Len() {
				a.rows = append(a.rows, [2]int64{part.Columns()[0].Ints[i], part.Columns()[1].Ints[i]})
			}
		}
		if part.Err() != nil {
			return false, fmt.Errorf("%s: %w", f, part.Err())
		}
	}
	sentTo, receivedTo := sent.watermark(), received.watermark()
	if err := checkSchedule(sent.rows, sentTo); err != nil {
		return false, err
	}

	src, err := logstore.Open(ctx, "./"+dir, objectstore.Options{})
	if err != nil {
		return false, err
	}
	digest, err := analysis.Read(ctx, src, analysis.Options{})
	if errors.Is(err, analysis.ErrNoData) && len(sent.rows) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	none := time.Duration(0)
	summary := analysis.Summarize(digest, analysis.View{Warmup: &none})
	if len(summary.Steps) != 1 {
		return false, fmt.Errorf("%d steps", len(summary.Steps))
	}
	step := summary.Steps[0]
	if summary.Complete || step.Complete || !has(summary.Findings, "run-incomplete") || !has(step.Findings, "step-incomplete") {
		return false, fmt.Errorf("it is not marked incomplete: %+v %+v", summary.Findings, step.Findings)
	}
	if has(step.Findings, "accounting-breach") {
		return false, fmt.Errorf("its sums are breached: %+v", step.Findings)
	}
	// Deliveries at the watermark and later do not count. A message before it
	// that was not received by then was on its way: unknown, and not lost.
	delivered, any := map[int64]bool{}, map[int64]bool{}
	for _, d := range received.rows {
		if d[1] < receivedTo {
			delivered[d[0]], any[d[0]] = true, true
		}
	}
	known := int64(0)
	for _, r := range sent.rows {
		any[r[0]] = true
		if r[1] < min(sentTo, receivedTo) && delivered[r[0]] {
			known++
		}
	}
	want := analysis.Accounting{Scheduled: int64(len(any)), Attempted: known, Acked: known, Received: known, Unknown: int64(len(any)) - known, RecordsUsed: known}
	if a := step.Accounting; a != want {
		return false, fmt.Errorf("%d rows, %d deliveries, watermarks at %d and %d: accounting\n got %+v\nwant %+v", len(sent.rows), len(received.rows), sentTo, receivedTo, a, want)
	}
	return true, nil
}

// checkSchedule fails unless each message of the schedule before the watermark
// has its row, once, and none has a time that is not the schedule's.
func checkSchedule(rows [][2]int64, watermark int64) error {
	if len(rows) == 0 {
		return nil
	}
	start := rows[0][1] - rows[0][0]*killPeriod
	seen := map[int64]bool{}
	for _, r := range rows {
		if seen[r[0]] {
			return fmt.Errorf("message %d has two rows", r[0])
		}
		seen[r[0]] = true
		if r[1] != start+r[0]*killPeriod {
			return fmt.Errorf("message %d was intended for %d, want %d", r[0], r[1], start+r[0]*killPeriod)
		}
	}
	for seq := int64(0); start+seq*killPeriod < watermark; seq++ {
		if !seen[seq] {
			return fmt.Errorf("message %d, which is before the watermark, has no row: %d rows, watermark at %v", seq, len(rows), time.Duration(watermark-start))
		}
	}
	return nil
}

func has(findings []analysis.Finding, id string) bool {
	return slices.ContainsFunc(findings, func(f analysis.Finding) bool { return f.ID == id })
}
