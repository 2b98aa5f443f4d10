package command

// A command's Description says first what it outputs; its UsageText holds the
// examples, which a test runs as they are written.

const appHelp = `{{.Description}}

USAGE
   {{.Name}} COMMAND [flags and arguments in any order]

COMMANDS
{{range .VisibleCommands}}   {{join .Names ", "}}{{"\t"}}{{.Usage}}
{{end}}
"{{.Name}} COMMAND --help" tells more. Exit status: 0 done, 1 failure, 2 misuse,
3 an expectation was broken, 130 interrupted.

EXAMPLES
{{.UsageText}}
`

const commandHelp = `{{.Description}}

USAGE
   {{.HelpName}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{if .VisibleFlags}} [flags]{{end}}
{{if .VisibleFlags}}
FLAGS
   {{range $i, $e := .VisibleFlags}}{{if $i}}
   {{end}}{{$e}}{{end}}
{{end}}
EXAMPLES
{{.UsageText}}
`
