package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/nearest"
	"queuebench/internal/yamlfile"
	"queuebench/scenario"
)

// Names of the steps of one-at-a-time, beside "only NAME" and "without NAME".
const (
	allOff = "all off"
	allOn  = "all on"
)

// optionPlan is an option of one-at-a-time, or why it is none here.
type optionPlan struct {
	name    string
	off, on []command.Setting
	reason  string // empty where it applies
}

// text is the settings of the option when it is on.
func (o *optionPlan) text() string {
	var parts []string
	for _, s := range o.on {
		parts = append(parts, s.Name+" "+s.Value)
	}
	return strings.Join(parts, ", ")
}

// plan makes the steps of one-at-a-time: everything off; each option alone; all
// together; all but each. Where there is one option that applies, on and off say
// it all.
func (s *scenarioRun) plan(c, given *cli.Context, vars *scenario.Variables) error {
	if len(s.file.Options) == 0 {
		return nil
	}
	if !varies(c.Command) {
		return command.Misusef("%s: one-at-a-time needs a load of several steps, and `bench %s` makes one: say command: run or sweep", s.file.Path, c.Command.Name)
	}
	k, err := kindNamed(c.String("queue"))
	if err != nil {
		return err
	}
	var apply []optionPlan
	for i := range s.file.Options {
		o, err := s.option(c, given, k, &s.file.Options[i], vars)
		if err != nil {
			return err
		}
		s.options = append(s.options, o)
		if o.reason == "" {
			apply = append(apply, o)
		} else {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s", o.name, o.reason))
		}
	}
	if len(apply) == 0 {
		return command.Misusef("%s: none of its one-at-a-time options is one of queue %s", s.file.Path, k.name)
	}
	s.variants = variantsOf(apply)
	return nil
}

func variantsOf(apply []optionPlan) (all []variant) {
	combine := func(name string, on func(o *optionPlan) bool) {
		v := variant{name: name}
		for i := range apply {
			if o := &apply[i]; on(o) {
				v.settings = append(v.settings, o.on...)
			} else {
				v.settings = append(v.settings, o.off...)
			}
		}
		all = append(all, v)
	}
	combine(allOff, func(*optionPlan) bool { return false })
	if len(apply) > 1 {
		for i := range apply {
			combine("only "+apply[i].name, func(o *optionPlan) bool { return o == &apply[i] })
		}
	}
	combine(allOn, func(*optionPlan) bool { return true })
	if len(apply) > 2 { // of two, all but one is the other alone
		for i := range apply {
			combine("without "+apply[i].name, func(o *optionPlan) bool { return o != &apply[i] })
		}
	}
	return all
}

// option reads an option for a queue. Settings that the queue has not, or that a
// flag fixes, are left out; where none is left it does not apply.
func (s *scenarioRun) option(c, given *cli.Context, k kind, o *scenario.Option, vars *scenario.Variables) (optionPlan, error) {
	plan := optionPlan{name: o.Name}
	known, foreign := knownSettings(c.App).Names(), k.notMine()
	var missing, fixed []string
	keep := func(n *yamlfile.Node) (*yamlfile.Node, error) {
		if n == nil {
			return nil, nil
		}
		kept := *n
		kept.Fields = nil
		for _, f := range n.Fields {
			switch {
			case foreign[f.Name] || !slices.Contains(known, f.Name) && mayLack(f.Name, known):
				missing = append(missing, f.Name)
			case command.IsSet(given, f.Name):
				fixed = append(fixed, f.Name)
			default:
				kept.Fields = append(kept.Fields, f)
			}
		}
		return &kept, nil
	}
	read := func(n *yamlfile.Node, into *[]command.Setting) error {
		kept, err := keep(n)
		if err != nil || kept == nil {
			return err
		}
		f, err := s.settings(c, kept, vars)
		if err != nil {
			return err
		}
		for _, v := range f.Values {
			if len(v.Texts) != 1 {
				return command.Misusef("%s:%d: %s: an option has one value", s.file.Path, v.Line, v.Name)
			}
			*into = append(*into, command.Setting{Name: v.Name, Value: v.Texts[0]})
		}
		return nil
	}
	if err := read(o.Off, &plan.off); err != nil {
		return plan, err
	}
	if err := read(o.On, &plan.on); err != nil {
		return plan, err
	}
	applies := len(plan.on) > 0
	fillIn(c, &plan.off, plan.on)
	fillIn(c, &plan.on, plan.off)
	switch {
	case applies:
	case len(fixed) > 0:
		plan.reason = "not switched: the command line sets " + listed(fixed)
	default:
		plan.reason = fmt.Sprintf("not applicable: queue %s has no %s", k.name, listed(missing))
	}
	return plan, nil
}

// fillIn gives settings those of others that they lack, as the command line
// has them, so that each step says what it has.
func fillIn(c *cli.Context, settings *[]command.Setting, others []command.Setting) {
	for _, o := range others {
		if !slices.ContainsFunc(*settings, func(s command.Setting) bool { return s.Name == o.Name }) {
			*settings = append(*settings, command.Setting{Name: o.Name, Value: fmt.Sprint(c.Value(o.Name))})
		}
	}
}

// mayLack says that a name is no mistyped flag: an option may name a setting of
// a queue that this program does not have.
func mayLack(name string, known []string) bool { return nearest.Name(name, known) == "" }

func listed(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
