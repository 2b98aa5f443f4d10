package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/internal/version"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
	"queuebench/runner/hostinfo"
)

const (
	defaultSpool = "queuebench-spool"
	// retryFor is how long a store that fails is waited for, unless --retry-for says so.
	retryFor = 90 * time.Second
	// A part is an object of its own; a run that was quiet for quietAfter is
	// taken for dead.
	minPartAge, maxPartAge = 50 * time.Millisecond, quietAfter / 2
)

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
		Run: c.String("run-id"), Clock: clockOf(c), Seed: seed,
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
	stores.noteInsecure(w.insecure(c, k))
	stores.prices = cfg.Prices
	if err = plan(stores); err == nil {
		var others *clocks
		if others, err = startClocks(c, &cfg, true); err == nil {
			err = drive(c, &cfg, stores, &half{})
			others.close()
		}
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
		Store: stores.log, Run: cfg.Run, Clock: cfg.Clock.Identity(), SpoolDir: cfg.SpoolDir, PartAge: age, FirstIndex: h.firstIndex(cfg), FailingFor: cmp.Or(c.Duration("retry-for"), retryFor), Strike: secret.From(c.Context).Strike,
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
	perr := printResult(c, cfg, stores, result, seen)
	return errors.Join(judged(verdict(cfg, result, err), unmet), perr)
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
