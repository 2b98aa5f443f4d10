package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completionWord is the last argument when a shell asks what may come next.
const completionWord = "--complete"

// The scripts hand what has been typed to the program itself.
const bashCompletion = `_%[1]s_complete() {
  local words
  words=$("${COMP_WORDS[@]:0:$COMP_CWORD}" "${COMP_WORDS[$COMP_CWORD]}" --complete 2>/dev/null)
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _%[1]s_complete %[1]s
`

const zshCompletion = `#compdef %[1]s
_%[1]s() {
  local -a candidates
  candidates=("${(@f)$(${words[1,CURRENT]} --complete 2>/dev/null)}")
  if [[ -n "${candidates[1]}" ]]; then compadd -a candidates; else _files; fi
}
compdef _%[1]s %[1]s
`

const fishCompletion = `function __%[1]s_complete
    set -l words (commandline -opc) (commandline -ct)
    $words --complete 2>/dev/null
end
complete -c %[1]s -a '(__%[1]s_complete)'
`

// complete prints what may stand in the place of the last of args: commands, or
// the flags of the command that is there.
func complete(app *cli.App, args []string) error {
	if len(args) <= 1 {
		for _, c := range app.Commands {
			if err := Print(app.Writer, "%s\n", c.Name); err != nil {
				return err
			}
		}
		return nil
	}
	at := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[0]) })
	if at < 0 || !strings.HasPrefix(args[len(args)-1], "-") {
		return nil
	}
	for _, f := range app.Commands[at].Flags {
		if err := Print(app.Writer, "--%s\n", Name(f)); err != nil {
			return err
		}
	}
	return nil
}

func completionCommand(app *cli.App) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a shell's completion script",
		ArgsUsage:   "bash|zsh|fish",
		Description: "Prints a script that completes this program's commands and flags in a shell.",
		UsageText:   fmt.Sprintf("   %[1]s completion bash > %[1]s-completion.bash", app.Name),
		Action: func(c *cli.Context) error {
			scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			script, ok := scripts[c.Args().First()]
			if !ok {
				return Misusef("there is no completion for %q: say bash, zsh or fish", c.Args().First())
			}
			return Print(c.App.Writer, script, app.Name)
		},
	}
}
