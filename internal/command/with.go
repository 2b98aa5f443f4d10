package command

import (
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/internal/nearest"
	"queuebench/internal/secret"
)

// Setting is the value of a flag, as it is written on a command line.
type Setting struct{ Name, Value string }

// Set are the names, aliases too, of the flags that a context was given. Asking
// the context for one flag after the other takes the square of their number:
// with those of all queues that was most of the time before a run began.
func Set(c *cli.Context) map[string]bool {
	given := map[string]bool{}
	for _, name := range c.LocalFlagNames() {
		given[name] = true
	}
	set := map[string]bool{}
	for _, f := range c.Command.Flags {
		names := Names(f)
		if slices.ContainsFunc(names, func(name string) bool { return given[name] }) {
			for _, name := range names {
				set[name] = true
			}
		}
	}
	return set
}

// Given are the flags that a context was given, in the order in which the
// command declares them, each under its first name. A flag that was given
// several times is there as often.
func Given(c *cli.Context) []Setting {
	var given []Setting
	set := Set(c)
	for _, f := range c.Command.Flags {
		name := Name(f)
		if !set[name] {
			continue
		}
		if list, ok := c.Generic(name).(*Strings); ok {
			for _, v := range *list {
				given = append(given, Setting{name, v})
			}
			continue
		}
		given = append(given, Setting{name, fmt.Sprint(c.Value(name))})
	}
	return given
}

// With returns a context of the same command and arguments that was given just
// these settings: a later layer over an earlier one. A flag that may be given
// several times has all values of the last layer that names it. The error names
// the flag; it is one of whoever wrote the settings.
func With(c *cli.Context, layers ...[]Setting) (*cli.Context, error) {
	set := flag.NewFlagSet(c.Command.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range c.Command.Flags {
		if list, ok := f.(*cli.GenericFlag); ok {
			for _, name := range Names(list) { // Apply would share the flag's own list
				set.Var(new(Strings), name, list.Usage)
			}
			continue
		}
		if err := f.Apply(set); err != nil {
			return nil, fmt.Errorf("flag --%s: %w", Name(f), err)
		}
	}
	for _, layer := range layers {
		begun := map[string]bool{}
		for _, s := range layer {
			f, err := flagNamed(c.Command, s.Name)
			if err != nil {
				return nil, err
			}
			if secret.InAddress(s.Value) {
				return nil, fmt.Errorf("%s: %w", s.Name, errSecret)
			}
			first := !begun[Name(f)]
			begun[Name(f)] = true
			for _, name := range Names(f) {
				if list, ok := set.Lookup(name).Value.(*Strings); ok && first {
					*list = nil
				}
				if err := set.Set(name, s.Value); err != nil {
					return nil, fmt.Errorf("--%s %q: %s", s.Name, s.Value, form(f))
				}
			}
		}
	}
	if err := set.Parse(append([]string{"--"}, c.Args().Slice()...)); err != nil {
		return nil, err
	}
	with := cli.NewContext(c.App, set, &cli.Context{Context: c.Context})
	with.Command = c.Command
	return with, nil
}

// flagNamed is the flag of a command that has a name.
func flagNamed(command *cli.Command, name string) (cli.Flag, error) {
	var names []string
	for _, f := range command.Flags {
		if slices.Contains(Names(f), name) {
			return f, nil
		}
		names = append(names, Names(f)...)
	}
	return nil, fmt.Errorf("there is no flag --%s%s", name, nearest.DidYouMean(name, names))
}
