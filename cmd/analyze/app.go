package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/version"
)

// runArgument is what every command takes: it stands in their help.
const runArgument = "RUN is the address that bench printed last: a folder, or s3://bucket/prefix/run-id?endpoint=…&region=…;\nor the path to a digest, or to a file of another tool (docs/formats.md).\nWhere the halves of a run were recorded to two places, give both: RUN RUN. Credentials come from the environment."

func newApp() *cli.App {
	return &cli.App{
		Name:    "analyze",
		Version: version.Of("analyze").String(),
		Description: "Prints percentiles, accounting and findings of recorded runs, compares runs and holds them to limits,\n" +
			"draws them as figures, and writes them as one HTML file or a static site.",
		UsageText: "   analyze summary RUN\n" +
			"   analyze summary RUN --warmup 3s --percentiles 50,99,99.9\n" +
			"   analyze report RUN -o report.html",
		Commands: []*cli.Command{
			summaryCommand(),
			slowestCommand(),
			compareCommand(),
			overlayCommand(),
			checkCommand(),
			historyCommand(),
			plotCommand(),
			reportCommand(),
			siteCommand(),
			serveCommand(),
			publishCommand(),
			digestCommand(),
			mergeCommand(),
			importCommand(),
			exportCommand(),
			sqlCommand(),
			versionCommand(),
		},
	}
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		Description: "Prints the version of this program, its commit, and the Go that built it; with\n--json the modules that are linked, too.",
		UsageText:   "   analyze version\n   analyze version --json",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print an object, with the modules that are linked"}},
		Action: func(c *cli.Context) error {
			v := version.Of("analyze")
			if !c.Bool("json") {
				return command.Print(c.App.Writer, "%s %s\n", v.Program, v)
			}
			body, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				return err
			}
			return command.Print(c.App.Writer, "%s\n", body)
		},
	}
}
