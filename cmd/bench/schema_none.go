//go:build min || nokafka

package main

import (
	"github.com/urfave/cli/v2"

	"queuebench/runner"
)

func schemaFlags() []cli.Flag { return nil }

func schemaOf(*cli.Context, *runner.Load, *runner.Through) (note string, err error) { return "", nil }
