package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/version"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the program's version",
		Description: "Prints the version of the program and of the Go that built it, the commit, the\nbuild tags, and the queues that are linked.",
		UsageText:   "   bench version",
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, "bench", longVersion())
			return err
		},
	}
}

// longVersion is the version with the queues that are linked.
func longVersion() string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return version.Long("queues " + strings.Join(names, ", "))
}

func goVersion() string { return runtime.Version() }
