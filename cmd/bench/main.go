// Bench drives a message queue at controlled rates and records a raw log with
// one row per message.
//
//	bench sweep --queue delta --rates 1000,10000,30000 --duration 10s --commit-interval 100ms
//
// Its commands are sweep, run, produce, consume, work, finish, tail, capacity, scenario, calibrate,
// clock, clean, upload, version and completion; each tells what it outputs with --help. It
// measures and records; what the numbers mean is for analyze, which it does not
// contain.
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
)

func main() {
	os.Exit(command.Process(newApp()))
}

func newApp() *cli.App {
	loads := func() []*cli.Command {
		return []*cli.Command{sweepCommand(), runCommand(), produceCommand(), capacityCommand(), closedCommand(), backlogCommand()}
	}
	return &cli.App{
		Name:        "bench",
		Version:     versionInfo().String(),
		Description: "Prints a table of what happened at each rate; its last line is the address of the\nraw log, which every analyze command takes.",
		UsageText: `   bench sweep --queue delta --rates 1000,10000 --duration 2s --commit-interval 100ms
   bench run --queue memory --rate 10000 --duration 2s`,
		Commands: append(loads(), scenarioCommand(loads()), consumeCommand(), workCommand(), finishCommand(), tailCommand(), calibrateCommand(), clockCommand(), cleanCommand(), uploadCommand(), versionCommand()),
	}
}
