package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder puts the flags of a command before its arguments, since urfave/cli
// stops reading flags at the first argument. What follows "--" stays argument.
func reorder(args []string, flags []cli.Flag, commands []*cli.Command) []string {
	if len(args) == 0 {
		return args
	}
	out := []string{args[0]}
	var options, words []string
	inCommand := false
	for rest := args[1:]; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		switch {
		case arg == "--":
			words = append(words, rest...)
			rest = nil
		case len(arg) > 1 && arg[0] == '-':
			options = append(options, arg)
			if takesValue(arg, flags) && len(rest) > 0 {
				options = append(options, rest[0])
				rest = rest[1:]
			}
		default:
			at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(arg) })
			if at < 0 || len(words) > 0 {
				words = append(words, arg)
				continue
			}
			// The options seen so far are those of the level above.
			out = append(append(out, options...), arg)
			options, flags, commands = nil, commands[at].Flags, commands[at].Subcommands
			inCommand = true
		}
	}
	out = append(out, options...)
	if slices.Contains(options, "--help") || slices.Contains(options, "-h") {
		return out // urfave/cli would look for a command named by the first word
	}
	if inCommand && len(words) > 0 {
		out = append(out, "--")
	}
	return append(out, words...)
}

// takesValue tells whether the word after a flag belongs to it. An unknown flag
// takes none: it is refused later in any case.
func takesValue(arg string, flags []cli.Flag) bool {
	name := strings.TrimLeft(arg, "-")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}
