package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner"
	"queuebench/runner/schedule"
)

// loadFlags are what the commands that make a load share.
func loadFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "workload", Aliases: []string{"w"}, Usage: "YAML file of settings, which flags override: see docs/load.md; \"-\" is standard input", DefaultText: "none"},
		&cli.StringFlag{Name: "queue", Aliases: []string{"q"}, Usage: "queue under test: " + kindsUsage(), Value: "delta"},
		&cli.StringFlag{Name: "duration", Aliases: []string{"d"}, Usage: "how long each rate lasts", Value: "300s"},
		&cli.StringFlag{Name: "seconds-to-stream", Usage: "the same, in `SECONDS`"},
	}
	actors := append([]cli.Flag{
		&cli.IntFlag{Name: "topics", Usage: "topics, each with the producers, groups and consumers below", Value: 1},
		&cli.IntFlag{Name: "producers", Usage: "producers of a topic; all share the rate", Value: 1},
		&cli.IntFlag{Name: "groups", Usage: "consumer groups; each gets all messages", Value: 1},
		&cli.IntFlag{Name: "consumers", Usage: "consumers of each group and topic, which share its messages", Value: 1},
		&cli.IntFlag{Name: "partitions", Usage: "partitions of a topic", Value: 1},
		&cli.IntFlag{Name: "max-in-flight", Usage: "messages that may wait for their acknowledgement, of all producers together", Value: 1 << 18},
	}, pacingFlags()...)
	steps := []cli.Flag{
		&cli.GenericFlag{Name: "vary", Value: new(command.Strings), Usage: "a flag and its values, such as consumers=1,2,4: each runs as a step; given again, every combination; a value with commas stands in double quotes", DefaultText: "nothing"},
		&cli.IntFlag{Name: "repeats", Usage: "how often each rate runs", Value: 1},
		&cli.DurationFlag{Name: "drain-timeout", Usage: "how long after its end a rate waits for messages under way", Value: 30 * time.Second},
		&cli.Uint64Flag{Name: "seed", Usage: "seed of payloads, random arrivals and order", DefaultText: "random, and recorded"},
	}
	record := []cli.Flag{
		&cli.StringFlag{Name: "run-id", Usage: "name of the run", DefaultText: "its time and six random letters"},
		&cli.StringFlag{Name: "spool", Usage: "folder in which parts of the log wait for their upload", Value: defaultSpool},
		&cli.DurationFlag{Name: "part-age", Usage: "a part of the log is closed and stored after so long: what a killed run loses at most", Value: 5 * time.Second},
		&cli.BoolFlag{Name: "json", Usage: "print the result as a line of JSON in the place of the table"},
		&cli.BoolFlag{Name: "quiet", Usage: "show no progress"},
		metricsFlag(),
		&cli.BoolFlag{Name: "calibrate", Usage: "measure the load generator itself for half a second before the first rate, and keep that with the run", Value: true},
	}
	return slices.Concat(flags,
		command.Under("WHEN MESSAGES ARE DUE", arrivalFlags()...),
		command.Under("MESSAGES", payloadFlags()...),
		command.Under("PRODUCERS AND CONSUMERS", actors...),
		command.Under("STEPS", steps...),
		command.Under("RECORD AND PROGRESS", record...),
		command.Under("PIPELINE", throughFlags()...),
		command.Under("SCHEMA", schemaFlags()...),
		queueFlags(), placeFlags())
}

func sweepCommand() *cli.Command {
	return &cli.Command{
		Name:  "sweep",
		Usage: "drive a queue at several rates, one after the other",
		Description: `Prints a table of what happened at each rate; its last line is the address of the
raw log, which every analyze command takes. Progress and findings go to standard
error.`,
		UsageText: `   bench sweep --queue delta --rates 1000,5000 --duration 2s --commit-interval 100ms
   bench sweep --range-start 1000 --range-end 3000 --range-step 1000 --seconds-to-stream 1 --s3-backend minio --autocommit-duration-ms 100
   bench sweep --queue memory --rates 1000 --rates 5000 --duration 500ms --repeats 2 --order shuffled --seed 7
   bench sweep --queue delta --rates 1000 --duration 1s --store ./lake --log-store ./logs`,
		Flags: append([]cli.Flag{
			&cli.GenericFlag{Name: "rates", Value: new(command.Strings), Usage: "messages per second: a list with commas, or the flag again", DefaultText: "none"},
			&cli.StringFlag{Name: "range-start", Usage: "first rate of a range, in messages per second"},
			&cli.StringFlag{Name: "range-end", Usage: "last rate of the range, inclusive"},
			&cli.StringFlag{Name: "range-step", Usage: "distance of its rates"},
			&cli.StringFlag{Name: "order", Usage: "order of the rates: ascending or shuffled", Value: "ascending"},
			&cli.BoolFlag{Name: "stop-when-behind", Usage: "end after the first rate that the queue did not keep up with: a message was overrun, or what was due and not received rose through the second half"},
			&cli.BoolFlag{Name: "fail-fast", Usage: "end with the first rate that fails"},
		}, append(loadFlags(), clockFlags()...)...),
		Action: func(c *cli.Context) error {
			return load(c, sweepRates)
		},
	}
}

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "drive a queue at one rate",
		Description: `Prints a table of what happened at the rate; its last line is the address of the
raw log, which every analyze command takes. Progress and findings go to standard
error.`,
		UsageText: `   bench run --queue memory --rate 10000 --duration 2s
   bench run --rate 1000 --duration 2s --commit-interval 20ms --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "rate", Aliases: []string{"r"}, Usage: "messages per second"},
		}, append(loadFlags(), clockFlags()...)...),
		Action: func(c *cli.Context) error {
			return load(c, oneRate)
		},
	}
}

// oneRate is the rate of --rate.
func oneRate(c *cli.Context) ([]schedule.Rate, error) {
	if !command.IsSet(c, "rate") {
		return nil, command.Misusef("no rate is given: add --rate 10000")
	}
	rate, err := schedule.ParseRate(c.String("rate"))
	if err != nil {
		return nil, command.Misusef("--rate: %v", err)
	}
	return []schedule.Rate{rate}, nil
}

// load runs the steps that a command line asks for.
func load(c *cli.Context, rates ratesOf) error {
	return begin(c, func(c *cli.Context, k kind, cfg *runner.Config) (planner, error) {
		steps, err := drafts(c, k, rates, cfg.Seed)
		return func(stores *opened) error {
			for _, d := range steps {
				cfg.Plans = append(cfg.Plans, d.opened(cfg.Clock, stores))
			}
			return nil
		}, err
	})
}
