package command

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// common is what every kind of flag has and urfave/cli has no interface for.
type common struct {
	name     string
	aliases  []string
	category *string
}

// commonOf is what a flag has in common with the others. ok is false for a kind
// that the command lines do not use.
func commonOf(f cli.Flag) (c common, ok bool) {
	switch f := f.(type) {
	case *cli.StringFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.StringSliceFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.GenericFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.BoolFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.IntFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.Int64Flag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.Uint64Flag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.Float64Flag:
		return common{f.Name, f.Aliases, &f.Category}, true
	case *cli.DurationFlag:
		return common{f.Name, f.Aliases, &f.Category}, true
	}
	return common{}, false
}

// Name is the first name of a flag, under which it is documented and recorded.
func Name(f cli.Flag) string {
	if c, ok := commonOf(f); ok {
		return c.name
	}
	return f.Names()[0]
}

// Names are the names of a flag, Name first. The Names of the flag itself match
// each with a regular expression, to mend names of an older urfave/cli; asked
// for every flag of every queue, that was most of the time before a run began.
func Names(f cli.Flag) []string {
	c, ok := commonOf(f)
	if !ok {
		return f.Names()
	}
	return append([]string{c.name}, c.aliases...)
}

// Named says that a command has a flag of that name.
func Named(command *cli.Command, name string) bool {
	return slices.ContainsFunc(command.Flags, func(f cli.Flag) bool { return slices.Contains(Names(f), name) })
}

// IsSet says that a flag was given, on the command line, by its environment
// variable or by With, under this or another of its names. It is what the
// context's own IsSet says, which looks through the names of all flags for each
// that was not given.
func IsSet(c *cli.Context, name string) bool {
	return slices.Contains(c.LocalFlagNames(), name)
}
