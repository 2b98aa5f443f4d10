package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"queuebench/internal/version"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the program's version",
		Description: "Prints the version of the program and of the Go that built it.",
		UsageText:   "   bench version",
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, "bench", version.Text())
			return err
		},
	}
}

func goVersion() string { return runtime.Version() }
