package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/internal/yamlfile"
	"queuebench/runner"
	"queuebench/scenario"
	"queuebench/workload"
)

const scenarioName = "scenario"

// scenarioCommand runs one of targets, the commands that make a load.
func scenarioCommand(targets []*cli.Command) *cli.Command {
	return &cli.Command{
		Name:      scenarioName,
		Usage:     "run a load with an environment and disturbances from a file",
		ArgsUsage: "FILE",
		Description: `Prints the table of the load that the scenario file names, then what was expected
with its verdict and its number; its last line is the address of the raw log. A
broken expectation is exit status 3, one that could not be decided is 1.

The file starts and stops what is under test, lets faults strike at given times,
and says what is expected: docs/scenarios.md. It is code that you run: read one
that is not yours. Flags are those of its load, and override it.`,
		UsageText: `   bench scenario scenarios/consumers-1-4.yaml --rate 3000 --duration 500ms`,
		Flags:     scenarioFlags(targets),
		Action: func(c *cli.Context) error {
			return runScenario(c, targets)
		},
	}
}

// scenarioFlags are the flags of all loads. Where two share a name, the first
// has it.
func scenarioFlags(targets []*cli.Command) (flags []cli.Flag) {
	seen := map[string]bool{}
	for _, t := range targets {
		for _, f := range t.Flags {
			if !slices.ContainsFunc(command.Names(f), func(name string) bool { return seen[name] }) {
				flags = append(flags, f)
			}
			for _, name := range command.Names(f) {
				seen[name] = true
			}
		}
	}
	return flags
}

// scenarioRun is a scenario under way. The command that makes its load finds it
// in its context, since it is that command's environment.
type scenarioRun struct {
	file     *scenario.File
	env      *scenario.Environment
	variants []variant // of one-at-a-time; nil for none
	options  []optionPlan
	notes    []string // they belong to the run
	show     *scenarioLog
	outcomes []scenarioOutcome
}

type scenarioKey struct{}

// scenarioOf is the scenario that a command is the load of; nil for none.
func scenarioOf(ctx context.Context) *scenarioRun {
	s, _ := ctx.Value(scenarioKey{}).(*scenarioRun)
	return s
}

func runScenario(c *cli.Context, targets []*cli.Command) (err error) {
	if c.Args().Len() != 1 {
		return command.Misusef("name one scenario file, such as scenarios/consumers-1-4.yaml")
	}
	file, err := scenario.Open(c.Args().First())
	if err != nil {
		return command.Misuse(err)
	}
	at := slices.IndexFunc(targets, func(t *cli.Command) bool { return t.Name == file.Command })
	if at < 0 {
		var names []string
		for _, t := range targets {
			names = append(names, t.Name)
		}
		return command.Misusef("%s: command %.40q makes no load: say one of %s", file.Path, file.Command, strings.Join(names, ", "))
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	run := c.String("run-id")
	if run == "" {
		run = newRunID(time.Now())
	}
	vars, err := scenario.NewVariables(file, program, run, secret.From(c.Context))
	if err != nil {
		return err
	}
	s := &scenarioRun{file: file, show: newScenarioLog(c)}
	s.env = scenario.NewEnvironment(file, vars, s.show.event)
	with, err := s.loadContext(c, targets[at], vars, run)
	if err == nil {
		err = s.check(with)
	}
	if err != nil {
		return errors.Join(err, vars.Close())
	}
	restore, err := setEnvironment(file, vars)
	if err == nil {
		s.show.phase("starting the environment")
		if err = s.env.Start(c.Context); err == nil {
			err = targets[at].Action(with)
		}
	}
	s.show.phase("ending the environment")
	err = errors.Join(err, s.env.Close(c.Context))
	s.show.close()
	restore()
	return errors.Join(err, vars.Close())
}

// loadContext is the context of the command that makes the load: flags over the
// file's settings; its workload lies below both.
func (s *scenarioRun) loadContext(c *cli.Context, target *cli.Command, vars *scenario.Variables, run string) (*cli.Context, error) {
	base := cli.NewContext(c.App, flag.NewFlagSet(target.Name, flag.ContinueOnError), &cli.Context{Context: context.WithValue(c.Context, scenarioKey{}, s)})
	base.Command = target
	layer := []command.Setting{{Name: "run-id", Value: run}}
	if s.file.Workload != "" {
		layer = append(layer, command.Setting{Name: "workload", Value: s.file.Workload})
	}
	given, err := command.With(base, command.Given(c))
	if err != nil {
		return nil, command.Misusef("`bench %s` makes the load of this scenario: %w", target.Name, err)
	}
	if s.file.Settings != nil {
		settings, err := s.settings(given, s.file.Settings, vars)
		if err != nil {
			return nil, err
		}
		more, notes, err := layerOf(given, settings)
		if err != nil {
			return nil, err
		}
		layer, s.notes = append(layer, more...), notes
	}
	with, err := command.With(given, layer, command.Given(given))
	if err != nil {
		return nil, command.Misusef("%s: %w", s.file.Path, err)
	}
	return with, s.plan(with, given, vars)
}

// settings reads a mapping of settings for the command of c.
func (s *scenarioRun) settings(c *cli.Context, n *yamlfile.Node, vars *scenario.Variables) (*workload.File, error) {
	expanded, err := vars.ExpandNode(n)
	if err != nil {
		return nil, fmt.Errorf("%s: settings: %w", s.file.Path, err)
	}
	f, err := workload.FromNode(s.file.Path, c.Command.Name, expanded, knownSettings(c.App))
	if err != nil {
		return nil, command.Misuse(err)
	}
	return f, nil
}

// varies says that a command runs a step for each combination of settings.
func varies(cmd *cli.Command) bool {
	return command.Named(cmd, "vary")
}

// check reads the steps of the load, where they can be known before it begins,
// so that a mistake is told before anything is started.
func (s *scenarioRun) check(c *cli.Context) error {
	rates := map[string]ratesOf{"run": oneRate, "sweep": sweepRates}[c.Command.Name]
	if rates == nil {
		return nil
	}
	with, _, err := withWorkload(c)
	if err != nil {
		return err
	}
	k, err := kindNamed(with.String("queue"))
	if err != nil {
		return err
	}
	steps, err := drafts(with, k, rates, 1)
	if err != nil {
		return err
	}
	for _, d := range steps {
		if err := s.strikeWithin(d.Schedule.Duration()); err != nil {
			return command.Misuse(err)
		}
	}
	return nil
}

// strikeWithin refuses faults that would strike after the load.
func (s *scenarioRun) strikeWithin(d time.Duration) error {
	for _, f := range s.file.Faults {
		if f.At >= d {
			return fmt.Errorf("%s:%d: the fault at %v comes when the load of %v is over: give it an earlier time, or the load a longer --duration", s.file.Path, f.Line, f.At, d)
		}
	}
	return nil
}

// tellUnstruck names the faults for which a step was too short.
func (s *scenarioRun) tellUnstruck(struck []time.Duration) {
	for i, at := range struck {
		if f := &s.file.Faults[i]; at < 0 {
			s.show.problem(fmt.Errorf("%s:%d: the fault at %v did not strike: the step had ended before; give it an earlier time, or the load more to do", s.file.Path, f.Line, f.At))
		}
	}
}

// setEnvironment sets the file's variables for this process, whose load may need
// them. restore takes them back.
func setEnvironment(f *scenario.File, vars *scenario.Variables) (restore func(), err error) {
	var undo []func()
	restore = func() {
		for _, u := range slices.Backward(undo) {
			u()
		}
	}
	for _, e := range f.Env {
		value, err := vars.Expand(e.Value)
		if err != nil {
			return restore, fmt.Errorf("%s: env %s: %w", f.Path, e.Name, err)
		}
		vars.Hide(e.Name, value)
		old, was := os.LookupEnv(e.Name)
		if err := os.Setenv(e.Name, value); err != nil {
			return restore, fmt.Errorf("%s: env %s: %w", f.Path, e.Name, err)
		}
		undo = append(undo, func() {
			if was {
				os.Setenv(e.Name, old)
			} else {
				os.Unsetenv(e.Name)
			}
		})
	}
	return restore, nil
}

// attach makes the runner let the faults strike, and keep what the commands
// print.
func (s *scenarioRun) attach(cfg *runner.Config, stores *opened) {
	stores.warnings = append(stores.warnings, s.notes...)
	cfg.Beside = func(ctx context.Context, b *runner.Beside) {
		s.show.attach(b, cfg.Note)
		defer s.show.detach()
		o := scenarioOutcome{step: b.Plan.Step, repeat: b.Plan.Repeat}
		defer func() { s.outcomes = append(s.outcomes, o) }()
		start, err := b.Start(ctx)
		if err != nil {
			return // the step did not begin
		}
		var late error
		if b.Plan.Closed == nil && b.Plan.Backlog == nil { // of which nobody knows how long they take
			late = s.strikeWithin(b.Plan.Schedule.Duration())
		}
		struck, err := s.env.Disturb(ctx, func() time.Duration { return time.Duration(cfg.Clock.Now() - start) })
		if err = errors.Join(late, err); err != nil {
			s.show.problem(err)
		}
		if late == nil {
			s.tellUnstruck(struck)
		}
		o.struck = struck
		<-ctx.Done()
	}
}
