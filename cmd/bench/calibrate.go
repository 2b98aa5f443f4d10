package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/internal/version"
	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/calibration"
	"queuebench/runner/hostinfo"
)

func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure the instrument itself, on this machine",
		Description: `Prints how late the load generator wakes up, what its clock and a record cost, and
what is left of a latency when the queue takes no time: below that, no queue can be
measured here. It takes some ten seconds without --duration. Findings are printed last.`,
		UsageText: `   bench calibrate --duration 100ms --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "duration", Aliases: []string{"d"}, Usage: "how long each waiter and each floor is measured", Value: "1s"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON in the place of the tables"},
			&cli.BoolFlag{Name: "quiet", Usage: "show no progress"},
		},
		Action: calibrate,
	}
}

// maxCalibration bounds --duration: an instrument is not measured for hours.
const maxCalibration = 10 * time.Minute

func calibrate(c *cli.Context) error {
	if c.Args().Present() {
		return command.Misusef("%q is no flag: this command takes flags only", c.Args().First())
	}
	d, err := duration("duration", c.String("duration"))
	if err != nil {
		return err
	}
	if d < 100*time.Millisecond || d > maxCalibration {
		return command.Misusef("--duration %v: it is between 100ms and %v", d, maxCalibration)
	}
	o := calibration.Options{Clock: clock.New(), Duration: d, Queue: func() (queue.Queue, error) { return memory.New(memory.Config{}) }}
	line := command.NewLine(c.App.ErrWriter)
	if !c.Bool("quiet") {
		o.Note = func(text string) { line.Set("measuring %s …", text) }
	}
	r, err := calibration.Full(c.Context, o)
	line.Close()
	if err != nil {
		if c.Context.Err() != nil {
			return command.Interrupted(err)
		}
		return err
	}
	r.Program = rawlog.Program{Name: "bench", Version: version.Number(), Go: goVersion()}
	r.Host = hostinfo.Describe()
	if c.Bool("json") {
		body, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.App.Writer, "%s\n", body)
		return err
	}
	return printCalibration(c.App.Writer, &r)
}

// printCalibration prints what was measured as tables.
func printCalibration(out io.Writer, r *calibration.Report) error {
	fmt.Fprintf(out, "%s, %d processors (%s), %s %s\n\n", or(r.Host.CPUModel, r.Host.Arch), r.Host.CPUs, r.Host.OS, r.Program.Name, r.Program.Version)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)

	fmt.Fprintln(w, "wake-up, late by\trate\tp50\tp90\tp99\tp99.9\tmax\t")
	for _, l := range []struct {
		name string
		rawlog.WaitLag
	}{{"the waiter", r.Wait}, {"time.Sleep", r.Sleep}} {
		fmt.Fprintf(w, "%s\t%.0f/s\t%s\t%s\t%s\t%s\t%s\t\n", l.name, l.Rate, ns(l.P50Ns), ns(l.P90Ns), ns(l.P99Ns), ns(l.P999Ns), ns(l.MaxNs))
	}
	if err := nextTable(w, out); err != nil {
		return err
	}

	fmt.Fprintln(w, "queue in memory\tend-to-end p50\tp99\tmax\tsend lag p50\tp99\tmax\t")
	for _, f := range r.Floors {
		floorRow(w, fmt.Sprintf("%.0f/s", f.Rate), f)
	}
	if r.Highest.Rate > 0 {
		floorRow(w, fmt.Sprintf("highest that held: %.0f/s", r.Highest.Rate), r.Highest)
	} else {
		fmt.Fprintln(w, "no higher rate held\t\t\t\t\t\t\t")
	}
	if err := nextTable(w, out); err != nil {
		return err
	}

	fmt.Fprintln(w, "a record\tto append\tCPU in all\tallocations\tbytes\t")
	for _, c := range r.Records {
		fmt.Fprintf(w, "%s\t%.0fns\t%.0fns\t%.4f\t%.2f\t\n", c.Table, c.AppendNs, c.CPUNs, c.Allocs, c.Bytes)
	}
	if err := nextTable(w, out); err != nil {
		return err
	}

	fmt.Fprintf(out, "clock: %.0fns a reading, steps of %s%s\n", r.ClockReadNs, ns(r.ClockResolutionNs), in(", source ", r.ClockSource))
	if r.TimerSlackNs != nil {
		fmt.Fprintf(out, "timer slack: %s on the waiter's thread, %s on others\n", ns(*r.TimerSlackNs), ns(*r.DefaultSlackNs))
	}
	fmt.Fprintf(out, "garbage collector: %d collections, paused for %s in all, %s at most\n", r.GC.Collections, ns(r.GC.PauseTotalNs), ns(r.GC.PauseMaxNs))
	if r.StealPercent != nil {
		fmt.Fprintf(out, "CPU steal: %.1f %%\n", *r.StealPercent)
	}
	if r.ThrottledNs != nil {
		fmt.Fprintf(out, "held up by a CPU quota: %s\n", ns(*r.ThrottledNs))
	}
	for _, text := range r.Findings {
		fmt.Fprintf(out, "\n%s\n", text)
	}
	return nil
}

func floorRow(w io.Writer, name string, f calibration.Floor) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, ns(f.EndToEnd.P50Ns), ns(f.EndToEnd.P99Ns), ns(f.EndToEnd.MaxNs), ns(f.SendLag.P50Ns), ns(f.SendLag.P99Ns), ns(f.SendLag.MaxNs))
}

// nextTable ends a table and leaves a line.
func nextTable(w *tabwriter.Writer, out io.Writer) error {
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

func ns(v int64) string { return short(time.Duration(v)) }

// in is a text with what stands before it, or nothing.
func in(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// calibrateRun takes the calibration that a run carries, and tells what it
// found. An interrupt leaves it out: the run ends by it.
func calibrateRun(c *cli.Context, cfg *runner.Config, show *progress) {
	if !c.Bool("calibrate") {
		return
	}
	var rate float64
	for i := range cfg.Plans {
		rate = max(rate, cfg.Plans[i].Rate.PerSecond())
	}
	found, err := calibration.Short(c.Context, cfg.Clock, rate)
	if err != nil {
		return
	}
	cfg.Manifest.Calibration = &found
	for _, text := range calibration.Findings(&found) {
		cfg.Manifest.Warnings = append(cfg.Manifest.Warnings, text)
		show.note(text)
	}
}
