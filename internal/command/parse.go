package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/nearest"
	"queuebench/internal/secret"
)

// parse reads the flags of a command, which may stand before, between and after
// its arguments. What follows "--" is an argument. The error is flag.ErrHelp
// when help is asked for.
func parse(command *cli.Command, args []string) (*flag.FlagSet, error) {
	set := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	for _, f := range command.Flags {
		if err := f.Apply(set); err != nil {
			return nil, fmt.Errorf("flag --%s: %w", Name(f), err) // from its environment variable
		}
	}
	var words []string
	for rest := args; ; {
		if err := set.Parse(rest); err != nil {
			return nil, explain(err, command)
		}
		ended := len(rest) - set.NArg()
		if set.NArg() == 0 || ended > 0 && rest[ended-1] == "--" {
			words = append(words, set.Args()...)
			break
		}
		words = append(words, set.Arg(0))
		rest = set.Args()[1:]
	}
	if err := set.Parse(append([]string{"--"}, words...)); err != nil {
		return nil, err
	}
	if err := joinAliases(command.Flags, set); err != nil {
		return nil, err
	}
	if err := refuseSecrets(set); err != nil {
		return nil, err
	}
	return set, missing(command.Flags, set)
}

// errSecret does not repeat what stood there.
var errSecret = errors.New("an address with a user or a password in it would be seen in the list of processes and recorded: give these in the environment, or in a file that a flag names")

// refuseSecrets refuses flags and arguments with a secret in an address.
func refuseSecrets(set *flag.FlagSet) (err error) {
	set.Visit(func(f *flag.Flag) {
		if err == nil && secret.InAddress(f.Value.String()) {
			err = fmt.Errorf("--%s: %w", f.Name, errSecret)
		}
	})
	for _, word := range set.Args() {
		if err == nil && secret.InAddress(word) {
			err = errSecret
		}
	}
	return err
}

// joinAliases gives all names of a flag the value that one of them was given.
func joinAliases(flags []cli.Flag, set *flag.FlagSet) error {
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, f := range flags {
		at := slices.IndexFunc(Names(f), func(name string) bool { return given[name] })
		if at < 0 {
			continue
		}
		value := set.Lookup(Names(f)[at]).Value
		text := value.String()
		if slice, ok := value.(cli.Serializer); ok {
			text = slice.Serialize()
		}
		for _, name := range Names(f) {
			if given[name] && name != Names(f)[at] {
				return fmt.Errorf("--%s and --%s are the same flag: give one of them", Names(f)[at], name)
			}
			if list, ok := value.(*Strings); ok && !given[name] {
				// All names share one list; Set only notes that this one was given.
				whole := slices.Clone(*list)
				if err := set.Set(name, ""); err != nil {
					return fmt.Errorf("--%s: %w", name, err)
				}
				*list = whole
			} else if !given[name] {
				if err := set.Set(name, text); err != nil {
					return fmt.Errorf("--%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// missing names a required flag that neither the arguments nor its environment
// variable gave.
func missing(flags []cli.Flag, set *flag.FlagSet) error {
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, f := range flags {
		if r, ok := f.(cli.RequiredFlag); ok && r.IsRequired() && !f.IsSet() && !given[Name(f)] {
			return fmt.Errorf("--%s is needed", Name(f))
		}
	}
	return nil
}

// explain turns an error of package flag into the words of the command line.
func explain(err error, command *cli.Command) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		var names []string
		for _, f := range command.Flags {
			names = append(names, Names(f)...)
		}
		return fmt.Errorf("there is no flag --%s%s", strings.TrimLeft(name, "-"), nearest.DidYouMean(name, names))
	}
	text := err.Error()
	for _, f := range command.Flags {
		for _, name := range Names(f) {
			if len(name) == 1 {
				continue
			}
			for _, before := range []string{" for flag -", " for -", " argument: -"} {
				head, tail, ok := strings.Cut(text, before+name)
				if ok && (tail == "" || tail[0] == ':') {
					return errors.New(head + before + "-" + name + strings.Replace(tail, ": parse error", ": "+form(f), 1))
				}
			}
		}
	}
	return err
}

// form says how the value of a flag is written.
func form(f cli.Flag) string {
	switch f.(type) {
	case *cli.DurationFlag:
		return "write a time such as 100ms, 10s or 1h30m"
	case *cli.IntFlag, *cli.Int64Flag:
		return "write a whole number"
	case *cli.UintFlag, *cli.Uint64Flag:
		return "write a whole number that is not negative"
	case *cli.BoolFlag:
		return "leave the value out, or write true or false"
	}
	return "the value cannot be read"
}

// Strings is the value of a flag that can be given several times and whose
// values are taken whole, commas and all: the Value of a cli.GenericFlag.
type Strings []string

// Set appends a value.
func (s *Strings) Set(value string) error {
	*s = append(*s, value)
	return nil
}

// String joins the values for messages.
func (s *Strings) String() string { return strings.Join(*s, " ") }
