package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"queuebench/internal/version"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the program's version",
		Description: "Prints the version of the program and of the Go that built it, the commit, the\nbuild tags, and the queues that are linked; with --json the modules, too.",
		UsageText:   "   bench version\n   bench version --json",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print an object, with the modules that are linked"}},
		Action: func(c *cli.Context) error {
			v := versionInfo()
			if !c.Bool("json") {
				_, err := fmt.Fprintln(c.App.Writer, v.Program, v)
				return err
			}
			e := json.NewEncoder(c.App.Writer)
			e.SetIndent("", "  ")
			return e.Encode(v)
		},
	}
}

// versionInfo is the version with the queues that are linked.
func versionInfo() version.Info {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return version.Of("bench", names...)
}

func goVersion() string { return runtime.Version() }
