package command

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// The scripts ask the program itself, with urfave/cli's own
// --generate-bash-completion as the last word.
const bashCompletion = `_%[1]s_complete() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words
  if [[ "$cur" == -* ]]; then
    words=$("${COMP_WORDS[@]:0:$COMP_CWORD}" "$cur" --generate-bash-completion 2>/dev/null)
  else
    words=$("${COMP_WORDS[@]:0:$COMP_CWORD}" --generate-bash-completion 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _%[1]s_complete %[1]s
`

const zshCompletion = `#compdef %[1]s
_%[1]s() {
  local -a opts
  local cur=${words[-1]}
  if [[ "$cur" == "-"* ]]; then
    opts=("${(@f)$(${words[@]:0:#words[@]-1} ${cur} --generate-bash-completion 2>/dev/null)}")
  else
    opts=("${(@f)$(${words[@]:0:#words[@]-1} --generate-bash-completion 2>/dev/null)}")
  fi
  if [[ -n "${opts[1]}" ]]; then _describe 'values' opts; else _files; fi
}
compdef _%[1]s %[1]s
`

func completionCommand(app *cli.App) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a shell's completion script",
		ArgsUsage:   "bash|zsh|fish",
		Description: "Prints a script that completes this program's commands and flags in a shell.",
		UsageText:   fmt.Sprintf("   %[1]s completion bash > %[1]s-completion.bash", app.Name),
		Action: func(c *cli.Context) error {
			switch shell := c.Args().First(); shell {
			case "bash":
				fmt.Fprintf(c.App.Writer, bashCompletion, app.Name)
			case "zsh":
				fmt.Fprintf(c.App.Writer, zshCompletion, app.Name)
			case "fish":
				script, err := app.ToFishCompletion()
				if err != nil {
					return err
				}
				fmt.Fprintln(c.App.Writer, script)
			default:
				return Misusef("there is no completion for %q: say bash, zsh or fish", shell)
			}
			return nil
		},
	}
}
