package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/internal/version"
	"queuebench/queue/deltalake"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/hostinfo"
	"queuebench/runner/tailing"
	"queuebench/stats"
)

// tailSchema names the form of tail --json.
const tailSchema = "queuebench.tail/1"

// How long the log may take to store what it has at the end, and after Ctrl-C.
const (
	tailClose        = 2 * time.Minute
	tailCloseHurried = 1200 * time.Millisecond
)

// recordTail tails and keeps the log.
func recordTail(c *cli.Context, run string, cfg tailing.Config, q *deltalake.Queue, stores *opened, show *command.Line) error {
	spool, err := filepath.Abs(c.String("spool"))
	if err != nil {
		return err
	}
	cfg.SpoolDir = filepath.Join(spool, run)
	if err := makeSpool(cfg.SpoolDir); err != nil {
		return err
	}
	defer prune(spool)
	log, err := logwriter.New(logwriter.Options{Store: stores.log, Run: run, Clock: cfg.Clock.Identity(), SpoolDir: cfg.SpoolDir, PartAge: c.Duration("part-age"), Strike: secret.From(c.Context).Strike})
	if err != nil {
		return err
	}
	cfg.Log = log
	all := settings(c)
	all["table"], all["column"] = cfg.Tail.Table, cfg.Tail.Column
	info := q.Info()
	info.CommitInterval = c.Duration("commit-interval") // else it is not known
	info.Durability = "The table is written by others: what their acknowledgement means is not known here."
	info.LosesNothing, info.DeliversOnce = false, false
	m := &rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: run, Program: rawlog.Program{Name: "bench", Version: version.Number(), Go: goVersion()},
		Host: hostinfo.Describe(), Clock: cfg.Clock.Identity(), Queue: info, Store: stores.store, LogStore: stores.logAt,
		Settings: all, Warnings: append([]string{}, stores.warnings...), Steps: []rawlog.Step{}, StartedNs: cfg.Clock.Now(),
	}
	if err := log.Begin(c.Context, m); err != nil {
		_, closeErr := log.Close(c.Context)
		return errors.Join(err, closeErr)
	}
	if !c.Bool("quiet") {
		cfg.Status = func(s tailing.Status) {
			show.Set("tail %.0f s  %d rows, %d/s  version %d", s.Elapsed.Seconds(), s.Rows, s.PerSecond, s.Version)
		}
	}
	r, err := tailing.Run(c.Context, cfg)
	show.Close()
	interrupted := c.Context.Err() != nil
	err = errors.Join(endTail(c.Context, log, m, r, err), err)
	if perr := printTail(c, m, r, stores); perr != nil {
		return errors.Join(err, perr)
	}
	switch {
	case interrupted:
		return command.Interrupted(errors.Join(errors.New("interrupted: the log is complete up to its watermark"), withoutCancel(err)))
	case err != nil:
		return err
	case r.Step.Accounting.Received == 0:
		return fmt.Errorf("no row came: the newest version of the table was %d when it began; --start earliest reads what is there", cfg.Tail.Present)
	}
	return nil
}

// endTail stores what is left of the log, and the manifest.
func endTail(ctx context.Context, log *logwriter.Log, m *rawlog.Manifest, r *tailing.Result, err error) error {
	patience := tailClose
	if ctx.Err() != nil {
		patience = tailCloseHurried
	}
	m.Complete = err == nil
	switch {
	case ctx.Err() != nil:
		m.Reason = "interrupted"
	case err != nil:
		m.Reason = "a step failed"
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	stepErr := log.CloseStep(closing, 0, 0)
	r.Step.Parts = log.Parts(0, 0)
	m.Steps, m.EndedNs = append(m.Steps, r.Step), r.Step.EndedNs
	manifestErr := log.WriteManifest(closing, m)
	_, closeErr := log.Close(closing)
	if closeErr != nil { // which says the same, of the whole log
		stepErr = nil
	}
	return errors.Join(stepErr, manifestErr, closeErr)
}

// jsonTail is what tail --json prints.
type jsonTail struct {
	Schema   string            `json:"schema"`
	Run      string            `json:"run"`
	Address  string            `json:"address"`
	Complete bool              `json:"complete"`
	Reason   string            `json:"reason,omitempty"`
	Failure  string            `json:"failure,omitempty"`
	Received int64             `json:"received"`
	Tail     *rawlog.Tail      `json:"tail"`
	Requests map[string]int64  `json:"requests,omitempty"`
	Cost     *rawlog.Cost      `json:"cost,omitempty"`
	Latency  jsonLatency       `json:"broker_to_consumer_whole_step"`
	Settings map[string]string `json:"settings"`
}

func printTail(c *cli.Context, m *rawlog.Manifest, r *tailing.Result, stores *opened) error {
	if c.Bool("json") {
		body, err := json.Marshal(jsonTail{
			Schema: tailSchema, Run: m.Run, Address: stores.address, Complete: m.Complete, Reason: m.Reason, Failure: r.Step.Failure,
			Received: r.Step.Accounting.Received, Tail: r.Step.Tail, Requests: r.Step.Requests, Cost: r.Step.Cost,
			Latency: latencyOf(r.Latency, 0, resultQuantiles, r.Step.Tail.Versions), Settings: m.Settings,
		})
		if err != nil {
			return err
		}
		return command.Print(c.App.Writer, "%s\n%s\n", body, stores.address)
	}
	if err := tailText(c.App.Writer, r); err != nil {
		return err
	}
	return command.Print(c.App.Writer, "%s\n", stores.address)
}

func tailText(out io.Writer, r *tailing.Result) error {
	t := r.Step.Tail
	from := "no stamp, so there is no latency"
	switch t.Stamp {
	case deltalake.StampCommit:
		from = "latency from the time of the commit"
	case deltalake.StampColumn:
		from = fmt.Sprintf("latency from the column %s (%s)", t.StampColumn, t.StampType)
	}
	if t.Stamp != "" {
		from += fmt.Sprintf(", steps of %v, by the writer's clock", time.Duration(t.ResolutionNs))
	}
	fmt.Fprintf(out, "tail of %s, column %s; %s\n", t.Table, t.Column, from)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rows\tversions\tthere before\twithout stamp\tretractions\tn\tp50\tp99\tp99.9\tmax\t")
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t", r.Step.Accounting.Received, t.Versions, t.PresentRows, t.Unstamped, t.Retractions, r.Latency.N)
	for _, p := range resultQuantiles {
		fmt.Fprintf(w, "%s\t", quantileText(r.Latency, p.q, 0, stats.Supported(p.q, r.Latency.N, t.Versions)))
	}
	fmt.Fprintf(w, "%s\t\n", quantileText(r.Latency, 1, 0, true))
	if err := w.Flush(); err != nil {
		return err
	}
	if t.First >= 0 {
		fmt.Fprintf(out, "versions %d to %d; ended by %s\n", t.First, t.Last, endText(t.EndedBy))
	}
	return nil
}

func endText(by string) string {
	switch by {
	case tailing.ByDuration:
		return "--duration"
	case tailing.ByIdle:
		return "--idle-timeout"
	case tailing.ByCount:
		return "--count"
	}
	return "an interrupt or an error"
}
