package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
)

func testApp(action cli.ActionFunc) *cli.App {
	return &cli.App{
		Name: "prog", Description: "Prints things.", UsageText: "   prog do x",
		Commands: []*cli.Command{{
			Name: "do", Usage: "does it", Description: "Prints what it did.", UsageText: "   prog do x", ArgsUsage: "WHAT",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "name", Aliases: []string{"n"}},
				&cli.BoolFlag{Name: "fast"},
				&cli.GenericFlag{Name: "slo", Aliases: []string{"s"}, Value: &Strings{}},
				&cli.DurationFlag{Name: "warmup"},
				&cli.StringSliceFlag{Name: "rates", Aliases: []string{"r"}},
			},
			Action: action,
		}},
	}
}

func run(t *testing.T, action cli.ActionFunc, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(t.Context(), testApp(action), append([]string{"prog"}, args...), &out, &errs)
	return status, out.String(), errs.String()
}

func TestFlagsStandBeforeAndAfterArguments(t *testing.T) {
	for _, line := range []string{
		"do --name a --fast x y",
		"do x --name a y --fast",
		"do x y --fast --name=a",
		"do --fast x -n a -- y",
	} {
		var got string
		status, _, errs := run(t, func(c *cli.Context) error {
			got = fmt.Sprintf("%s %v %v", c.String("name"), c.Bool("fast"), c.Args().Slice())
			return nil
		}, strings.Fields(line)...)
		if status != 0 || got != "a true [x y]" {
			t.Errorf("%q: status %d, got %q, stderr %q", line, status, got, errs)
		}
	}
}

func TestValuesAreNotSplitAtCommasAndWordsAfterDashesStayWords(t *testing.T) {
	var slo, args []string
	status, _, errs := run(t, func(c *cli.Context) error {
		slo, args = *c.Generic("slo").(*Strings), c.Args().Slice()
		return nil
	}, "do", "a", "--slo", "p99<1,5ms", "--slo", "lost==0", "--", "--fast")
	if status != 0 || !slices.Equal(slo, []string{"p99<1,5ms", "lost==0"}) || !slices.Equal(args, []string{"a", "--fast"}) {
		t.Errorf("status %d, slo %q, args %q, stderr %q", status, slo, args, errs)
	}
}

func TestAliasesOfListsAreLists(t *testing.T) {
	for _, line := range []string{"do --rates 1,2 --rates 3", "do -r 1 -r 2,3", "do -r 1,2,3"} {
		var long, short []string
		status, _, errs := run(t, func(c *cli.Context) error {
			long, short = c.StringSlice("rates"), c.StringSlice("r")
			return nil
		}, strings.Fields(line)...)
		if want := []string{"1", "2", "3"}; status != 0 || !slices.Equal(long, want) || !slices.Equal(short, want) {
			t.Errorf("%q: status %d, %q and %q, stderr %q", line, status, long, short, errs)
		}
	}
}

func TestAliasesOfStringsAreWhole(t *testing.T) {
	for _, line := range []string{"do --slo a=1 --slo b,c", "do -s a=1 -s b,c", "do x -s a=1 -s b,c"} {
		status, _, errs := run(t, func(c *cli.Context) error {
			with, err := With(c, Given(c))
			if err != nil {
				return err
			}
			for _, c := range []*cli.Context{c, with} {
				for _, name := range []string{"slo", "s"} {
					if got := *c.Generic(name).(*Strings); !slices.Equal(got, []string{"a=1", "b,c"}) || !c.IsSet(name) {
						return fmt.Errorf("%s is %q, set: %v", name, got, c.IsSet(name))
					}
				}
			}
			return nil
		}, strings.Fields(line)...)
		if status != 0 {
			t.Errorf("%q: status %d, stderr %q", line, status, errs)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{Misusef("x"), 2},
		{fmt.Errorf("y: %w", Broken(errors.New("x"))), 3},
		{fmt.Errorf("y: %w", Unsupported(errors.New("x"))), 4},
		{fmt.Errorf("y: %w", context.Canceled), 130},
		{Interrupted(errors.New("x")), 130},
	} {
		if got := Status(c.err); got != c.want {
			t.Errorf("Status(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestMisuseIsOneLineWithStatus2(t *testing.T) {
	for _, line := range []string{"do --nmae a", "do --warmup soon", "dou", "do --name", "completion tcsh"} {
		status, out, errs := run(t, func(*cli.Context) error { return nil }, strings.Fields(line)...)
		if status != StatusMisused || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%q: status %d, stdout %q, stderr %q", line, status, out, errs)
		}
	}
}

func TestErrorsOfSeveralLinesAreOneLine(t *testing.T) {
	_, _, errs := run(t, func(*cli.Context) error { return errors.Join(errors.New("a"), errors.New("b")) }, "do")
	if errs != "prog: a; b\n" {
		t.Errorf("stderr %q", errs)
	}
}

func TestHelpBeginsWithTheOutputAndEndsWithExamples(t *testing.T) {
	for _, line := range []string{"--help", "do --help", "do x --help", "completion --help", ""} {
		status, help, _ := run(t, nil, strings.Fields(line)...)
		if status != 0 || !strings.HasPrefix(help, "Prints ") || !strings.Contains(help, "\nEXAMPLES\n   prog ") {
			t.Errorf("%q: status %d, help is\n%s", line, status, help)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if status, out, _ := run(t, nil, "completion", shell); status != 0 || !strings.Contains(out, "prog") {
			t.Errorf("%s: status %d, script %q", shell, status, out)
		}
	}
}

func TestCompletionListsCommandsAndFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--complete":             "do\ncompletion\n",
		"d --complete":           "do\ncompletion\n",
		"do --fa --complete":     "--name\n--fast\n--slo\n--warmup\n--rates\n",
		"do x --complete":        "",
		"nothing --f --complete": "",
	} {
		if status, out, _ := run(t, nil, strings.Fields(line)...); status != 0 || out != want {
			t.Errorf("%q: status %d, %q, want %q", line, status, out, want)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	dir := t.TempDir()
	_, script, _ := run(t, nil, "completion", "bash")
	program := "#!/bin/sh\n[ \"$1 $2 $3\" = 'do --fa --complete' ] && echo --fast --name\n"
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("bash", "-c", script+"COMP_WORDS=(prog do --fa) COMP_CWORD=2; _prog_complete; echo \"${COMPREPLY[@]}\"")
	shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil || string(out) != "--fast\n" {
		t.Errorf("bash completes to %q, %v", out, err)
	}
}

func TestNearMissesAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		"dou":              "did you mean do?",
		"do --nmae a":      "did you mean name?",
		"do --warmup x":    "--help",
		"do --n a --name":  "flag needs an argument",
		"do -n a --name b": "are the same flag",
	} {
		if status, _, errs := run(t, nil, strings.Fields(line)...); status != StatusMisused || !strings.Contains(errs, want) {
			t.Errorf("%q: status %d, stderr %q, want %q in it", line, status, errs, want)
		}
	}
}

func TestRequiredAndEnvironment(t *testing.T) {
	app := func() *cli.App {
		a := testApp(func(c *cli.Context) error { return Print(c.App.Writer, "%s %v", c.String("key"), c.IsSet("key")) })
		a.Commands[0].Flags = append(a.Commands[0].Flags, &cli.StringFlag{Name: "key", Required: true, EnvVars: []string{"PROG_KEY"}})
		return a
	}
	var errs, out bytes.Buffer
	if status := Main(t.Context(), app(), []string{"prog", "do"}, &out, &errs); status != StatusMisused || !strings.Contains(errs.String(), "--key is needed") {
		t.Errorf("status %d, stderr %q", status, errs.String())
	}
	t.Setenv("PROG_KEY", "from outside")
	if status := Main(t.Context(), app(), []string{"prog", "do"}, &out, &errs); status != 0 || out.String() != "from outside true" {
		t.Errorf("status %d, stdout %q", status, out.String())
	}
}

func TestLineIsPlainOffATerminalAndSilentAtFirst(t *testing.T) {
	var b bytes.Buffer
	l := NewLine(&b)
	l.Set("soon")
	l.Print("kept %d", 1)
	l.Close()
	if b.String() != "kept 1\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestWhileTellsWhatTakesLong(t *testing.T) {
	var b bytes.Buffer
	want := errors.New("done")
	if err := While(&b, "removing", func() error { time.Sleep(1400 * time.Millisecond); return want }); err != want {
		t.Errorf("error %v", err)
	}
	if b.String() != "removing … 1s\n" {
		t.Errorf("it told %q", b.String())
	}
	b.Reset()
	if err := While(&b, "removing", func() error { return nil }); err != nil || b.Len() != 0 {
		t.Errorf("of what is short it told %q, %v", b.String(), err)
	}
}

func TestInterruptedContextIsStatus130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for want, err := range map[string]error{
		"prog: interrupted: f.yaml:4: context canceled\n": fmt.Errorf("f.yaml:4: %w", ctx.Err()),
		"prog: interrupted: the log is complete\n":        Interrupted(errors.New("interrupted: the log is complete")),
	} {
		var stderr strings.Builder
		status := Main(ctx, testApp(func(*cli.Context) error { return err }), []string{"prog", "do"}, io.Discard, &stderr)
		if status != StatusInterrupted || stderr.String() != want {
			t.Errorf("status %d, %q", status, stderr.String())
		}
	}
}

func TestHelpGroupsFlagsUnderHeadingsWithThoseOfNoneFirst(t *testing.T) {
	app := testApp(nil)
	app.Commands[0].Flags = slices.Concat(
		Under("QUEUE x", &cli.DurationFlag{Name: "ack-wait"}, &cli.BoolFlag{Name: "pooled", Value: true}),
		[]cli.Flag{&cli.IntFlag{Name: "in-flight"}, &cli.StringFlag{Name: "plots", Usage: "write to this `FOLDER`"}},
		Under("STORE", &cli.Float64Flag{Name: "price", Usage: "of a `put` call"}),
		Under("QUEUE x", &cli.GenericFlag{Name: "set", Value: &Strings{}}),
	)
	var out bytes.Buffer
	if status := Main(t.Context(), app, []string{"prog", "do", "--help"}, &out, &out); status != 0 {
		t.Fatalf("status %d: %s", status, &out)
	}
	at := 0
	for _, want := range []string{
		"\nFLAGS\n", "--in-flight N", "--plots FOLDER", "write to this FOLDER\n",
		"\nQUEUE x\n", "--ack-wait DURATION", "--pooled ", "(default: true)", "--set SET",
		"\nSTORE\n", "--price NUMBER", "of a `put` call\n", "\nEXAMPLES\n",
	} {
		next := strings.Index(out.String()[at:], want)
		if next < 0 {
			t.Fatalf("%q does not follow in\n%s", want, &out)
		}
		at += next
	}
	if n := strings.Count(out.String(), "QUEUE x"); n != 1 {
		t.Errorf("a heading stands %d times in\n%s", n, &out)
	}
}
