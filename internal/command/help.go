package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

// A command's Description says first what it outputs; its UsageText holds the
// examples, which a test runs as they are written.

func appHelp(app *cli.App) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUSAGE\n   %s COMMAND [flags and arguments in any order]\n\nCOMMANDS\n", app.Description, app.Name)
	w := newColumns(&b)
	for _, c := range app.Commands {
		if !c.Hidden {
			fmt.Fprintf(w, "   %s\t%s\n", strings.Join(c.Names(), ", "), c.Usage)
		}
	}
	w.Flush()
	fmt.Fprintf(&b, "\n\"%s COMMAND --help\" tells more. Exit status: %d done, %d failure, %d misuse,\n%d an expectation was broken, %d interrupted.\n\nEXAMPLES\n%s\n",
		app.Name, StatusOK, StatusFailed, StatusMisused, StatusBroken, StatusInterrupted, app.UsageText)
	return Print(app.Writer, "%s", b.String())
}

func commandHelp(app *cli.App, c *cli.Command) error {
	var b strings.Builder
	usage := app.Name + " " + c.Name
	if c.ArgsUsage != "" {
		usage += " " + c.ArgsUsage
	}
	if len(c.Flags) > 0 {
		usage += " [flags]"
	}
	fmt.Fprintf(&b, "%s\n\nUSAGE\n   %s\n\n", c.Description, usage)
	if len(c.Flags) > 0 {
		fmt.Fprintln(&b, "FLAGS")
		w := newColumns(&b)
		for _, f := range c.Flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
				continue
			}
			name, text := describe(f)
			for i, line := range wrap(text, 70) {
				if i > 0 {
					name = ""
				}
				fmt.Fprintf(w, "   %s\t%s\n", name, line)
			}
		}
		w.Flush()
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "EXAMPLES\n%s\n", c.UsageText)
	return Print(app.Writer, "%s", b.String())
}

// describe is a flag's names with their value's name, and its usage with the
// default, where there is one that says something.
func describe(f cli.Flag) (name, text string) {
	var names []string
	for _, n := range f.Names() {
		if len(n) == 1 {
			names = append(names, "-"+n)
		} else {
			names = append(names, "--"+n)
		}
	}
	name = strings.Join(names, ", ")
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return name, ""
	}
	text = doc.GetUsage()
	if !doc.TakesValue() {
		return name, text
	}
	name += " " + strings.ToUpper(f.Names()[0][strings.LastIndexByte(f.Names()[0], '-')+1:])
	switch d := strings.Trim(doc.GetDefaultText(), `"`); {
	case d == "", d == "0", d == "0s", strings.Contains(text, "(default:"):
	default:
		text += " (default: " + d + ")"
	}
	if env := doc.GetEnvVars(); len(env) > 0 {
		text += " (environment: " + strings.Join(env, ", ") + ")"
	}
	return name, text
}

func newColumns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 1, 8, 2, ' ', 0) }

// wrap breaks a text into lines of at most width bytes, or of one long word.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}
