package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// Whatever was given can be given again, and later settings win.
func TestWithGivesWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		line  string
		under []Setting
		over  []Setting
		want  string
	}{
		{"do x --name a", nil, nil, "a false [] 0s [x]"},
		{"do x -n a --fast", []Setting{{"name", "file"}, {"warmup", "3s"}}, nil, "a true [] 3s [x]"},
		{"do --slo p<1,5 --slo q", []Setting{{"slo", "file"}}, nil, "none false [p<1,5 q] 0s []"},
		{"do --name a --fast", nil, []Setting{{"name", "b"}, {"fast", "false"}}, "b false [] 0s []"},
		{"do", []Setting{{"slo", "1"}, {"slo", "2"}, {"warmup", "250ms"}}, nil, "none false [1 2] 250ms []"},
	} {
		var got string
		status, _, errs := run(t, func(ctx *cli.Context) error {
			for range 2 { // a context that was made so is as good as the first
				var err error
				if ctx, err = With(ctx, c.under, Given(ctx), c.over); err != nil {
					return err
				}
			}
			name := "none"
			if ctx.IsSet("n") {
				name = ctx.String("n")
			}
			got = fmt.Sprintf("%s %v %v %v %v", name, ctx.Bool("fast"), *ctx.Generic("slo").(*Strings), ctx.Duration("warmup"), ctx.Args().Slice())
			return nil
		}, strings.Fields(c.line)...)
		if status != 0 || got != c.want {
			t.Errorf("%q with %v and %v: status %d, got %q, want %q, stderr %q", c.line, c.under, c.over, status, got, c.want, errs)
		}
	}
}

func TestWithRefusesByName(t *testing.T) {
	for want, s := range map[string]Setting{
		"there is no flag --nmae (did you mean name?)":         {"nmae", "a"},
		`--warmup "soon": write a time such as 100ms`:          {"warmup", "soon"},
		`--fast "perhaps": leave the value out, or write true`: {"fast", "perhaps"},
	} {
		status, _, errs := run(t, func(c *cli.Context) error {
			_, err := With(c, []Setting{s})
			return err
		}, "do")
		if status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: status %d, stderr %q, want %q", s, status, errs, want)
		}
	}
}
