package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// Names of flags are those that the flags have themselves, and so is what was
// given, however it was given.
func TestFlagsAreNamedAndGivenAsUrfaveSays(t *testing.T) {
	t.Setenv("PROG_KEY", "from outside")
	for _, line := range []string{
		"do", "do --name a", "do -n a --fast", "do --fast=false x", "do -s a -s b", "do -r 1,2 --warmup 3s", "do --slo a --rates 3 -k b",
	} {
		app := testApp(func(c *cli.Context) error {
			with, err := With(c, []Setting{{"slo", "file"}}, Given(c), []Setting{{"warmup", "1s"}})
			if err != nil {
				return err
			}
			for _, c := range []*cli.Context{c, with} {
				for _, f := range c.Command.Flags {
					if _, ok := commonOf(f); !ok {
						return fmt.Errorf("%T is not known", f)
					}
					if !slices.Equal(Names(f), f.Names()) || Name(f) != f.Names()[0] {
						return fmt.Errorf("%q are %q", f.Names(), Names(f))
					}
					for _, name := range f.Names() {
						if IsSet(c, name) != c.IsSet(name) || Set(c)[name] != c.IsSet(name) {
							return fmt.Errorf("%s: %v and %v, but %v", name, IsSet(c, name), Set(c)[name], c.IsSet(name))
						}
					}
				}
			}
			if !Named(c.Command, "r") || Named(c.Command, "x") {
				return fmt.Errorf("named wrongly")
			}
			return nil
		})
		app.Commands[0].Flags = append(app.Commands[0].Flags,
			&cli.StringFlag{Name: "key", Aliases: []string{"k"}, EnvVars: []string{"PROG_KEY"}},
			&cli.IntFlag{Name: "i"}, &cli.Int64Flag{Name: "i64"}, &cli.Uint64Flag{Name: "u64"}, &cli.Float64Flag{Name: "f"})
		var out strings.Builder
		if status := Main(t.Context(), app, append([]string{"prog"}, strings.Fields(line)...), &out, &out); status != 0 {
			t.Errorf("%q: status %d, %s", line, status, &out)
		}
	}
}
