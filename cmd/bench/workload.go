package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/workload"
)

// notOfAWorkload are flags that say how one run is shown and kept, not what it
// is. "vary" has a key of its own.
var notOfAWorkload = []string{"workload", "vary", "json", "quiet", "run-id", "help"}

// alternatives are flags that say the same in two ways: one of a kind on the
// command line takes the other kind of the file away.
var alternatives = [][2][]string{
	{{"duration"}, {"seconds-to-stream"}},
	{{"rates"}, {"range-start", "range-end", "range-step"}},
	{{"rate", "rates", "range-start", "range-end", "range-step"}, {"rate-profile"}},
	{{"messages"}, {"payload-repeats"}},
	{{"message-size", "compressibility"}, {"payload-file"}},
	{{"store"}, {"bucket"}},
	{{"autocommit-duration-ms"}, {"commit-interval", "poll-interval"}},
}

// withWorkload lays the flags of a command line over the workload file that
// --workload names, if one is named. The notes are what the file asks for and
// does not get: they belong to the run.
func withWorkload(c *cli.Context) (with *cli.Context, notes []string, err error) {
	path := c.String("workload")
	if path == "" {
		return c, nil, nil
	}
	f, err := workload.Open(path, c.Command.Name, knownSettings(c.App))
	if err != nil {
		return nil, nil, command.Misuse(err)
	}
	return layWorkload(c, f)
}

// layWorkload lays the flags of a command line over a workload.
func layWorkload(c *cli.Context, f *workload.File) (with *cli.Context, notes []string, err error) {
	layer, notes, err := layerOf(c, f)
	if err != nil {
		return nil, nil, err
	}
	if with, err = command.With(c, layer, command.Given(c)); err != nil {
		return nil, nil, command.Misusef("%s: %w", f.Path, err)
	}
	return with, notes, nil
}

// layerOf are the settings of a workload that nothing on the command line takes
// away.
func layerOf(c *cli.Context, f *workload.File) (layer []command.Setting, notes []string, err error) {
	notes = slices.Clone(f.Notes)
	if f.Format != workload.Native {
		notes = append([]string{fmt.Sprintf("%s is a workload of the %s; it was translated", f.Path, f.Format)}, notes...)
	}
	foreign := map[string]bool{}
	if command.IsSet(c, "queue") { // else what contradicts is in the file itself
		k, err := kindNamed(c.String("queue"))
		if err != nil {
			return nil, nil, err
		}
		foreign = k.notMine()
	}
	for _, v := range f.Values {
		switch {
		case takenAway(c, v.Name):
		case foreign[v.Name] && !command.IsSet(c, v.Name):
			notes = append(notes, fmt.Sprintf("%s: line %d: %s does nothing: queue %s has no such setting", f.Path, v.Line, v.Name, c.String("queue")))
		default:
			for _, text := range v.Texts {
				layer = append(layer, command.Setting{Name: v.Name, Value: text})
			}
		}
	}
	for _, v := range f.Vary {
		if foreign[v.Name] {
			notes = append(notes, fmt.Sprintf("%s: line %d: %s does not vary: queue %s has no such setting", f.Path, v.Line, v.Name, c.String("queue")))
			continue
		}
		// A flag that is given is what every step has.
		if !command.IsSet(c, v.Name) {
			layer = append(layer, command.Setting{Name: "vary", Value: v.Name + "=" + joinValues(v.Texts)})
		}
	}
	return layer, notes, nil
}

// takenAway says that a flag on the command line says in another way what the
// file says with name.
func takenAway(c *cli.Context, name string) bool {
	for _, pair := range alternatives {
		for side := range pair {
			if slices.Contains(pair[side], name) && slices.ContainsFunc(pair[1-side], func(name string) bool { return command.IsSet(c, name) }) {
				return true
			}
		}
	}
	return false
}

// notMine are the flags of other queues only.
func (k kind) notMine() map[string]bool {
	names := map[string]bool{}
	for _, other := range kinds() {
		for _, f := range other.flags {
			names[command.Name(f)] = true
		}
	}
	for _, f := range k.flags {
		delete(names, command.Name(f))
	}
	return names
}

// knownSettings are the flags of all commands that take a workload.
func knownSettings(app *cli.App) workload.Known {
	var known workload.Known
	at := map[string]int{}
	for _, cmd := range app.Commands {
		if cmd.Name == scenarioName {
			continue // its flags are those of the others
		}
		if !command.Named(cmd, "workload") {
			continue
		}
		for _, f := range cmd.Flags {
			name := command.Name(f)
			if slices.Contains(notOfAWorkload, name) {
				continue
			}
			i, seen := at[name]
			if !seen {
				i = len(known)
				at[name] = i
				known = append(known, workload.Setting{Name: name, Kind: kindOf(f)})
			}
			known[i].Of = append(known[i].Of, cmd.Name)
		}
	}
	return known
}

func kindOf(f cli.Flag) workload.Kind {
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		return workload.Whole
	case *cli.UintFlag, *cli.Uint64Flag:
		return workload.Natural
	case *cli.Float64Flag:
		return workload.Number
	case *cli.DurationFlag:
		return workload.Duration
	case *cli.BoolFlag:
		return workload.Bool
	case *cli.GenericFlag:
		return workload.List
	}
	return workload.Text
}
