package command

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
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
	unsupported := ""
	if slices.ContainsFunc(app.Commands, func(c *cli.Command) bool { return c.Name == "check" }) {
		unsupported = fmt.Sprintf(", %d the data support no verdict", StatusUnsupported)
	}
	fmt.Fprintf(&b, "\n\"%s COMMAND --help\" tells more. Exit status: %d done, %d failure, %d misuse,\n%d an expectation was broken%s, %d interrupted.\n\nEXAMPLES\n%s\n",
		app.Name, StatusOK, StatusFailed, StatusMisused, StatusBroken, unsupported, StatusInterrupted, app.UsageText)
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
	for _, heading := range headings(c.Flags) {
		fmt.Fprintln(&b, cmp.Or(heading, "FLAGS"))
		w := newColumns(&b)
		for _, f := range c.Flags {
			if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() || headingOf(f) != heading {
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
	for _, n := range Names(f) {
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
	if doc.TakesValue() {
		name += " " + valueName(f, text)
	}
	text = capitals.ReplaceAllString(text, "$1")
	switch d := strings.Trim(doc.GetDefaultText(), `"`); {
	case d == "", d == "0", d == "0s", d == "false", strings.Contains(text, "(default:"):
	default:
		text += " (default: " + d + ")"
	}
	if env := doc.GetEnvVars(); len(env) > 0 {
		text += " (environment: " + strings.Join(env, ", ") + ")"
	}
	return name, text
}

// capitals marks a word of a usage as the name of the flag's value.
var capitals = regexp.MustCompile("`([A-Z]+)`")

// valueName is what stands for the value of a flag: the word that its usage
// marks, what a number or a time is called, or else the last word of its name.
func valueName(f cli.Flag, usage string) string {
	if m := capitals.FindStringSubmatch(usage); m != nil {
		return m[1]
	}
	switch f.(type) {
	case *cli.DurationFlag:
		return "DURATION"
	case *cli.IntFlag, *cli.Int64Flag, *cli.UintFlag, *cli.Uint64Flag:
		return "N"
	case *cli.Float64Flag:
		return "NUMBER"
	}
	return strings.ToUpper(Name(f)[strings.LastIndexByte(Name(f), '-')+1:])
}

// Under puts flags under a heading of the help and returns them.
func Under(heading string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		c, ok := commonOf(f)
		if !ok {
			panic(fmt.Sprintf("flag --%s is of a kind that commonOf does not know: %T", Name(f), f))
		}
		*c.category = heading
	}
	return flags
}

func headingOf(f cli.Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return ""
}

// headings are those of flags, first the empty one, then by first appearance.
func headings(flags []cli.Flag) []string {
	var all []string
	for _, f := range flags {
		if h := headingOf(f); !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	if at := slices.Index(all, ""); at > 0 {
		all = slices.Insert(slices.Delete(all, at, at+1), 0, "")
	}
	return all
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
