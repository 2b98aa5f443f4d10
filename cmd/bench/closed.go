package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/schedule"
	"queuebench/stats"
)

// closedLabel stands above every result of a closed loop.
const closedLabel = "closed loop: intended = sent; coordinated omission is possible"

// unscheduled are flags of a schedule, which not every load has.
var unscheduled = []string{"duration", "seconds-to-stream", "arrivals", "burst-size", "rate-profile", "messages", "payload-repeats"}

func closedCommand() *cli.Command {
	return &cli.Command{
		Name:  "closed",
		Usage: "operate on a queue in a closed loop: the next operation begins when the last one is done",
		Description: `Prints a table of operations per second and their latency; its last line is the
address of the raw log, which every analyze command takes. There is no schedule:
a slow queue is asked less, and what would have waited meanwhile is missing
(coordinated omission). For what a user of the queue waits, use run or sweep.

The modes are produce (send until acknowledged), consume (the call of a poll until
it returns, of a queue that was filled before) and end-to-end (send until
received).`,
		UsageText: `   bench closed --queue memory --mode produce --workers 10 --warmup-operations 500 --operations 5000 --message-size 128
   bench closed --queue memory --mode consume --workers 5 --partitions 5 --receive-max 8 --fill-messages 10000 --warmup-operations 200 --operations 1000
   bench closed --mode produce --workers 1 --vary concurrency=10,50 --operations 200 --commit-interval 20ms
   bench closed --queue memory --mode end-to-end --operations 100`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "mode", Usage: "what an operation is: produce, consume or end-to-end", Value: rawlog.ModeProduce},
			&cli.IntFlag{Name: "workers", Usage: "workers; in mode consume each is a consumer", Value: 1},
			&cli.IntFlag{Name: "concurrency", Usage: "operations that a worker has under way at a time: 1 is a synchronous one", Value: 1},
			&cli.Int64Flag{Name: "warmup-operations", Usage: "operations, of all workers, that are not measured"},
			&cli.Int64Flag{Name: "operations", Usage: "operations, of all workers, that are measured", Value: 1000},
			&cli.Int64Flag{Name: "fill-messages", Usage: "messages that are there before the first poll, in mode consume", DefaultText: "as many as there are operations"},
		}, without(loadFlags(), unscheduled...)...),
		Action: func(c *cli.Context) error {
			return begin(c, func(c *cli.Context, k kind, cfg *runner.Config) (planner, error) {
				return planned(c, k, cfg, closedDraft)
			})
		},
	}
}

// planned makes the plans of a command whose steps have no rates.
func planned(c *cli.Context, k kind, cfg *runner.Config, of func(*cli.Context, kind) (draft, error)) (planner, error) {
	steps, err := draftsFrom(c, cfg.Seed, func(c *cli.Context, varied []command.Setting) ([]draft, error) {
		d, err := of(c, k)
		if err != nil {
			return nil, err
		}
		for _, v := range varied {
			d.Settings[v.Name] = v.Value
		}
		if err := d.Check(); err != nil {
			return nil, command.Misuse(err)
		}
		return []draft{d}, nil
	})
	return func(stores *opened) error {
		for _, d := range steps {
			cfg.Plans = append(cfg.Plans, d.opened(cfg.Clock, stores))
		}
		return nil
	}, err
}

// baseDraft is a step without what makes its load follow in time.
func baseDraft(c *cli.Context, k kind) (d draft, err error) {
	if err := k.refuseOthers(c); err != nil {
		return d, err
	}
	if d.open, err = k.parse(c); err != nil {
		return d, err
	}
	d.partitions, d.Settings = c.Int("partitions"), map[string]string{}
	if d.Load, err = loadOf(c, k); err != nil {
		return d, err
	}
	if d.Through, err = throughOf(c, k, d.Load); err != nil { // which Check refuses
		return d, err
	}
	d.note, err = schemaOf(c, &d.Load, d.Through)
	return d, err
}

// closedDraft is a step of a closed loop.
func closedDraft(c *cli.Context, k kind) (draft, error) {
	d, err := baseDraft(c, k)
	if err != nil {
		return d, err
	}
	loop := &runner.Closed{
		Mode: c.String("mode"), Workers: c.Int("workers"), Concurrency: c.Int("concurrency"),
		Warmup: c.Int64("warmup-operations"), Operations: c.Int64("operations"), Fill: c.Int64("fill-messages"),
	}
	if loop.Mode == rawlog.ModeConsume {
		if !command.IsSet(c, "consumers") {
			d.Load.Consumers = max(1, loop.Workers/max(1, d.Load.Topics*d.Load.Groups))
		}
		if !command.IsSet(c, "fill-messages") {
			loop.Fill = loop.Warmup + loop.Operations
		}
	} else if !command.IsSet(c, "producers") {
		d.Load.Producers = max(1, loop.Workers/max(1, d.Load.Topics))
	}
	d.Closed, d.Schedule = loop, loop.Arrivals()
	return d, nil
}

// steady is a constant rate for a time.
func steady(rate schedule.Rate, d time.Duration) schedule.Schedule {
	return schedule.NewConstant(rate, d)
}

// closedQuantiles are shown of a closed loop, after its warm-up.
var closedQuantiles = []quantile{{"50", 0.5}, {"90", 0.9}, {"95", 0.95}, {"99", 0.99}, {"99.9", 0.999}}

// printClosed prints a row for each step of a closed loop.
func printClosed(out io.Writer, m *rawlog.Manifest, r *runner.Result) error {
	title := "queue " + m.Queue.Kind
	if m.Store.Embedded || m.Queue.InProcess {
		title += ", in-process floor"
	}
	fmt.Fprintf(out, "%s; %s\n", title, closedLabel)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	varied := slices.DeleteFunc(variedNames(r), func(name string) bool {
		return name == "mode" || name == "workers" || name == "concurrency" // have columns
	})
	for _, name := range varied {
		fmt.Fprintf(w, "%s\t", name)
	}
	fmt.Fprint(w, "mode\tworkers\tconcurrency\trepeat\toperations\toperations/s\t")
	for _, p := range closedQuantiles {
		fmt.Fprintf(w, "p%s\t", p.name)
	}
	fmt.Fprintln(w, "min\tmax\tfailed\tlost\t")
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, name := range varied {
			fmt.Fprintf(w, "%s\t", s.Settings[name])
		}
		c := s.Closed
		if c == nil {
			c = &runner.ClosedResult{}
		}
		missing := c.Failed + c.Abandoned
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.0f\t", s.Mode, s.Workers, s.Concurrency, s.Repeat, c.Measured, c.PerSecond)
		for _, p := range closedQuantiles {
			fmt.Fprintf(w, "%s\t", quantileText(c.Latency, p.q, missing, stats.Supported(p.q, c.Latency.N+missing, closedBlocks(m, s))))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", quantileText(c.Latency, 0, 0, true), quantileText(c.Latency, 1, 0, true), missing, s.Accounting.Lost, stateText(m, s))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var modes []string
	for i := range r.Steps {
		if text := modeText[r.Steps[i].Mode]; !strings.Contains(strings.Join(modes, "\n"), text) {
			modes = append(modes, text)
		}
	}
	fmt.Fprintf(out, "after the warm-up; latency: %s\n", strings.Join(modes, ", "))
	return nil
}

// closedBlocks is how many independent blocks are behind the percentiles of a
// closed loop, as analyze has it: operations that are under way together are
// one, and so are those of one commit, which are taken to have come at each
// interval.
func closedBlocks(m *rawlog.Manifest, s *runner.StepResult) int64 {
	n := s.Closed.Latency.N / max(1, int64(s.Workers)*int64(s.Concurrency))
	if t := m.Queue.CommitInterval; t > 0 && s.Mode != rawlog.ModeConsume {
		n = min(n, (s.DurationNs-s.WarmupNs)/int64(t))
	}
	return n
}

// modeText says what the latency of a mode is.
var modeText = map[string]string{
	rawlog.ModeProduce:  "produce is send to acknowledgement",
	rawlog.ModeConsume:  "consume is the call of a poll to its return",
	rawlog.ModeEndToEnd: "end-to-end is send to receipt by each group",
}

// jsonClosed is a closed loop in --json.
type jsonClosed struct {
	Label            string      `json:"label"`
	Mode             string      `json:"mode"`
	Workers          int         `json:"workers"`
	Concurrency      int         `json:"concurrency"`
	WarmupOperations int64       `json:"warmup_operations"`
	Operations       int64       `json:"operations"` // asked for
	Done             int64       `json:"done"`       // the warm-up included
	Measured         int64       `json:"measured"`
	Failed           int64       `json:"failed"`
	Abandoned        int64       `json:"abandoned"`
	PerSecond        float64     `json:"operations_per_s"`
	Latency          jsonLatency `json:"latency"`
}

func closedJSON(m *rawlog.Manifest, s *runner.StepResult) *jsonClosed {
	c := s.Closed
	if c == nil {
		return nil
	}
	return &jsonClosed{
		Label: closedLabel, Mode: s.Mode, Workers: s.Workers, Concurrency: s.Concurrency, WarmupOperations: s.WarmupOperations, Operations: s.Operations,
		Done: c.Done, Measured: c.Measured, Failed: c.Failed, Abandoned: c.Abandoned, PerSecond: c.PerSecond,
		Latency: latencyOf(c.Latency, c.Failed+c.Abandoned, closedQuantiles, closedBlocks(m, s)),
	}
}
