package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/internal/version"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
	"queuebench/runner/hostinfo"
	"queuebench/runner/schedule"
)

const (
	defaultSpool = "queuebench-spool"
	// A part is an object of its own; a run that was quiet for quietAfter is
	// taken for dead.
	minPartAge, maxPartAge = 50 * time.Millisecond, quietAfter / 2
)

// loadFlags are what the commands that make a load share.
func loadFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "workload", Aliases: []string{"w"}, Usage: "YAML file of settings, which flags override: see docs/load.md; \"-\" is standard input", DefaultText: "none"},
		&cli.StringFlag{Name: "queue", Aliases: []string{"q"}, Usage: "queue under test: " + kindsUsage(), Value: "delta"},
		&cli.StringFlag{Name: "duration", Aliases: []string{"d"}, Usage: "how long each rate lasts", Value: "300s"},
		&cli.StringFlag{Name: "seconds-to-stream", Usage: "the same, in `SECONDS`"},
	}
	actors := append([]cli.Flag{
		&cli.IntFlag{Name: "topics", Usage: "topics, each with the producers, groups and consumers below", Value: 1},
		&cli.IntFlag{Name: "producers", Usage: "producers of a topic; all share the rate", Value: 1},
		&cli.IntFlag{Name: "groups", Usage: "consumer groups; each gets all messages", Value: 1},
		&cli.IntFlag{Name: "consumers", Usage: "consumers of each group and topic, which share its messages", Value: 1},
		&cli.IntFlag{Name: "partitions", Usage: "partitions of a topic", Value: 1},
		&cli.IntFlag{Name: "max-in-flight", Usage: "messages that may wait for their acknowledgement, of all producers together", Value: 1 << 18},
	}, pacingFlags()...)
	steps := []cli.Flag{
		&cli.GenericFlag{Name: "vary", Value: new(command.Strings), Usage: "a flag and its values, such as consumers=1,2,4: each runs as a step; given again, every combination", DefaultText: "nothing"},
		&cli.IntFlag{Name: "repeats", Usage: "how often each rate runs", Value: 1},
		&cli.DurationFlag{Name: "drain-timeout", Usage: "how long after its end a rate waits for messages under way", Value: 30 * time.Second},
		&cli.Uint64Flag{Name: "seed", Usage: "seed of payloads, random arrivals and order", DefaultText: "random, and recorded"},
	}
	record := []cli.Flag{
		&cli.StringFlag{Name: "run-id", Usage: "name of the run", DefaultText: "its time and six random letters"},
		&cli.StringFlag{Name: "spool", Usage: "folder in which parts of the log wait for their upload", Value: defaultSpool},
		&cli.DurationFlag{Name: "part-age", Usage: "a part of the log is closed and stored after so long: what a killed run loses at most", Value: 5 * time.Second},
		&cli.BoolFlag{Name: "json", Usage: "print the result as a line of JSON in the place of the table"},
		&cli.BoolFlag{Name: "quiet", Usage: "show no progress"},
		metricsFlag(),
		&cli.BoolFlag{Name: "calibrate", Usage: "measure the load generator itself for half a second before the first rate, and keep that with the run", Value: true},
	}
	return slices.Concat(flags,
		command.Under("WHEN MESSAGES ARE DUE", arrivalFlags()...),
		command.Under("MESSAGES", payloadFlags()...),
		command.Under("PRODUCERS AND CONSUMERS", actors...),
		command.Under("STEPS", steps...),
		command.Under("RECORD AND PROGRESS", record...),
		command.Under("PIPELINE", throughFlags()...),
		queueFlags(), placeFlags())
}

func sweepCommand() *cli.Command {
	return &cli.Command{
		Name:  "sweep",
		Usage: "drive a queue at several rates, one after the other",
		Description: `Prints a table of what happened at each rate; its last line is the address of the
raw log, which every analyze command takes. Progress and findings go to standard
error.`,
		UsageText: `   bench sweep --queue delta --rates 1000,5000 --duration 2s --commit-interval 100ms
   bench sweep --range-start 1000 --range-end 3000 --range-step 1000 --seconds-to-stream 1 --s3-backend minio --autocommit-duration-ms 100
   bench sweep --queue memory --rates 1000 --rates 5000 --duration 500ms --repeats 2 --order shuffled --seed 7
   bench sweep --queue delta --rates 1000 --duration 1s --store ./lake --log-store ./logs`,
		Flags: append([]cli.Flag{
			&cli.GenericFlag{Name: "rates", Value: new(command.Strings), Usage: "messages per second: a list with commas, or the flag again", DefaultText: "none"},
			&cli.StringFlag{Name: "range-start", Usage: "first rate of a range, in messages per second"},
			&cli.StringFlag{Name: "range-end", Usage: "last rate of the range, inclusive"},
			&cli.StringFlag{Name: "range-step", Usage: "distance of its rates"},
			&cli.StringFlag{Name: "order", Usage: "order of the rates: ascending or shuffled", Value: "ascending"},
			&cli.BoolFlag{Name: "stop-when-behind", Usage: "end after the first rate that the queue did not keep up with: a message was overrun, or what was due and not received rose through the second half"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "end with the first rate that fails"},
		}, loadFlags()...),
		Action: func(c *cli.Context) error {
			return load(c, sweepRates)
		},
	}
}

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "drive a queue at one rate",
		Description: `Prints a table of what happened at the rate; its last line is the address of the
raw log, which every analyze command takes. Progress and findings go to standard
error.`,
		UsageText: `   bench run --queue memory --rate 10000 --duration 2s
   bench run --rate 1000 --duration 2s --commit-interval 20ms --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "rate", Aliases: []string{"r"}, Usage: "messages per second"},
		}, loadFlags()...),
		Action: func(c *cli.Context) error {
			return load(c, oneRate)
		},
	}
}

// oneRate is the rate of --rate.
func oneRate(c *cli.Context) ([]schedule.Rate, error) {
	if !c.IsSet("rate") {
		return nil, command.Misusef("no rate is given: add --rate 10000")
	}
	rate, err := schedule.ParseRate(c.String("rate"))
	if err != nil {
		return nil, command.Misusef("--rate: %v", err)
	}
	return []schedule.Rate{rate}, nil
}

// load runs the steps that a command line asks for.
func load(c *cli.Context, rates ratesOf) error {
	return begin(c, func(c *cli.Context, k kind, cfg *runner.Config) (planner, error) {
		steps, err := drafts(c, k, rates, cfg.Seed)
		return func(stores *opened) error {
			for _, d := range steps {
				cfg.Plans = append(cfg.Plans, d.opened(cfg.Clock, stores))
			}
			return nil
		}, err
	})
}

// planner makes the plans of a run once its stores are open.
type planner func(stores *opened) error

// reading reads from a command line, over which a workload file was laid, what
// is to run.
type reading func(c *cli.Context, k kind, cfg *runner.Config) (planner, error)

// begin checks everything that can be checked, opens the stores and runs.
func begin(c *cli.Context, read reading) error {
	if c.Args().Present() {
		return command.Misusef("%q is no flag: this command takes flags only", c.Args().First())
	}
	c, notes, err := withWorkload(c)
	if err != nil {
		return err
	}
	k, err := kindNamed(c.String("queue"))
	if err != nil {
		return err
	}
	seed, err := seedOf(c)
	if err != nil {
		return err
	}
	cfg := runner.Config{
		Run: c.String("run-id"), Clock: clock.New(), Seed: seed,
		FailFast: c.Bool("fail-fast"), StopWhenBehind: c.Bool("stop-when-behind"),
	}
	plan, err := read(c, k, &cfg)
	if err != nil {
		return err
	}
	if cfg.Run == "" {
		cfg.Run = newRunID(time.Now())
	}
	if err := checkRunID(cfg.Run); err != nil {
		return err
	}
	w, err := placesOf(c, os.Getenv)
	if err != nil {
		return err
	}
	if cfg.Prices, err = pricesOf(c, w.store); err != nil {
		return err
	}
	if w.options, err = optionsFor(c, w.store, w.log); err != nil {
		return err
	}
	stores, err := w.open(c.Context, k, cfg.Run)
	if err != nil {
		return err
	}
	stores.warnings = append(stores.warnings, notes...)
	stores.noteServers(c, k)
	stores.prices = cfg.Prices
	if err = plan(stores); err == nil {
		err = drive(c, &cfg, stores, &half{})
	}
	return errors.Join(err, stores.close())
}

// drive runs what begin has checked.
func drive(c *cli.Context, cfg *runner.Config, stores *opened, h *half) (err error) {
	watched, err := listenMetrics(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watched.close()) }()
	if err := h.mustBeFree(c.Context, stores, cfg.Run); err != nil {
		return err
	}
	spool, err := filepath.Abs(c.String("spool"))
	if err != nil {
		return err
	}
	age := c.Duration("part-age")
	if age < minPartAge || age > maxPartAge {
		return command.Misusef("--part-age %v: say %v to %v", age, minPartAge, maxPartAge)
	}
	cfg.SpoolDir = filepath.Join(spool, h.spoolName(cfg.Run))
	if h.resume {
		if err := h.takeUp(c, cfg, stores); err != nil {
			return err
		}
	}
	if err := makeSpool(cfg.SpoolDir); err != nil {
		return err
	}
	cfg.Log, err = logwriter.New(logwriter.Options{
		Store: stores.log, Run: cfg.Run, Clock: cfg.Clock.Identity(), SpoolDir: cfg.SpoolDir, PartAge: age, FirstIndex: h.firstIndex(cfg),
	})
	if err != nil {
		return err
	}
	if stores.tables != nil {
		cfg.Requests = func() objectstore.Counts { return stores.tables.Requests() }
	}
	staged := scenarioOf(c.Context)
	if staged != nil {
		staged.attach(cfg, stores)
	}
	all := settings(c)
	all["seed"] = fmt.Sprint(cfg.Seed)
	all["message-size"] = messageSize(c)
	cfg.Manifest = &rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: cfg.Run,
		Program: rawlog.Program{Name: "bench", Version: version.Number(), Go: goVersion()},
		Host:    hostinfo.Describe(), Clock: cfg.Clock.Identity(),
		Store: stores.store, LogStore: stores.logAt,
		Settings: all, Warnings: stores.warnings, Steps: []rawlog.Step{},
	}
	h.describe(cfg)
	show := newProgress(c, cfg)
	for _, text := range stores.warnings {
		show.note(text)
	}
	watched.begin(cfg, c.String("queue"), show)
	calibrateRun(c, cfg, show)
	cfg.Status = func(s runner.Status) { show.status(s); watched.show(s) }
	cfg.Note = show.note
	result, err := runner.Run(c.Context, *cfg)
	show.close()
	os.Remove(spool) // refuses a folder that is not empty
	if err != nil && len(result.Steps) == 0 && !result.Interrupted {
		return err // there is no run to point to
	}
	var seen *scenarioResult
	var unmet error
	if staged != nil {
		seen, unmet = staged.after(c.Context, cfg.Manifest, result, stores.log)
	}
	if perr := printResult(c, cfg, stores, result, seen); perr != nil {
		return errors.Join(err, perr)
	}
	return judged(verdict(cfg, result, err), unmet)
}

// makeSpool makes the run's spool, which must be its alone: two runs of one name
// would take each other's parts.
func makeSpool(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("the spool: %w; name another folder with --spool", err)
	}
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return command.Misusef("the spool %s is there already: a run of that name goes on or left parts there (`bench upload` stores them); give another --run-id", dir)
	}
	if err != nil {
		return fmt.Errorf("the spool: %w; name another folder with --spool", err)
	}
	return nil
}

// verdict turns what happened into the error that has its exit status.
func verdict(cfg *runner.Config, result *runner.Result, err error) error {
	if len(result.Unsent) > 0 {
		err = errors.Join(err, fmt.Errorf("the log is not complete in its store: `bench upload %s` stores the rest", cfg.SpoolDir))
	}
	switch {
	case result.Interrupted:
		return command.Interrupted(errors.Join(errors.New("interrupted: the log is complete up to its watermark"), withoutCancel(err)))
	case err != nil:
		return err
	case cfg.Half != nil && cfg.Manifest.Role == rawlog.RoleConsume:
		return consumed(result)
	case result.Acked() == 0:
		return errors.New("no message was acknowledged: the queue refused everything, the events of the log say why")
	case cfg.Search && len(result.Broken) == 0: // of a search, tries may fail
		if f := cfg.Manifest.Capacity; f == nil || !f.Converged {
			return errors.New("there is no capacity to tell: " + reasonOf(f))
		}
	case len(result.Broken) > 0:
		var all []error
		for _, text := range result.Broken {
			all = append(all, errors.New(text))
		}
		return command.Broken(errors.Join(all...))
	case notDrained(result) != nil:
		return notDrained(result)
	case result.Unsafe() > 0:
		return fmt.Errorf("%d messages failed or were never confirmed: the events of the log say why", result.Unsafe())
	}
	return nil
}

// withoutCancel is nil for the interrupt itself.
func withoutCancel(err error) error {
	if err == nil || err == context.Canceled {
		return nil
	}
	return err
}
