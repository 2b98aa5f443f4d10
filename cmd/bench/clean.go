package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
)

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:      "clean",
		Usage:     "remove what an interrupted run left of its queue",
		ArgsUsage: "RUN",
		Description: `Prints a line for each kind of thing that it removed: the objects of the Delta
tables of one run, with --queue what it left on the servers of that queue, and
the parts that it left open in its spool, which nothing can read. RUN is the
address that the run printed, or its id, with the flags that it was started with.`,
		UsageText: `   bench clean ./queuebench-data/queuebench/runs/20260102t030405z-abcdef
   bench clean 20260102t030405z-abcdef --log`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "log", Usage: "remove the run's raw log too"},
			&cli.StringFlag{Name: "spool", Usage: "folder in which the run's spool lies", Value: defaultSpool},
			&cli.BoolFlag{Name: "force", Usage: "remove them although the run seems to be under way"},
		}, append(without(placeFlags(), "prices"), serverFlags()...)...),
		Action: clean,
	}
}

func clean(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return command.Misusef("name one run: its address, or its id")
	}
	run := c.Args().First()
	var target remains
	if strings.ContainsAny(run, `/\`) {
		if err := target.fromAddress(c, run); err != nil {
			return err
		}
	} else {
		if err := checkRunID(run); err != nil {
			return err
		}
		w, err := places(c, os.Getenv)
		if err != nil {
			return err
		}
		target = remains{run, w.store, w.log, w.options}
		noteUnverified(c, w.options, w.store, w.log)
		if w.embedded != "" {
			target.store = objectstore.Address{Folder: filepath.Join(w.embedded, embeddedBucket)}
			if w.sameLog {
				target.log = below(target.store, runsPrefix)
			}
		}
	}
	said, err := target.remove(c)
	if err != nil {
		return err
	}
	if !said && !command.IsSet(c, "queue") {
		fmt.Fprintf(c.App.Writer, "removed nothing of run %s: its queue had no store, and nothing is left in its spool\n", target.run)
	}
	return cleanServers(c, target.run, c.App.Writer)
}

// serverFlags say where the servers are of queues that leave something there.
func serverFlags() (flags []cli.Flag) {
	flags = append(flags, &cli.StringFlag{Name: "queue", Aliases: []string{"q"}, Usage: "remove what the run left of this queue on its servers, too", DefaultText: "only what lies in a store"})
	return append(flags, flagsOfKinds(func(k kind) []cli.Flag { return k.placed })...)
}

// cleanServers removes what a run left on the servers of its queue, and says what.
func cleanServers(c *cli.Context, run string, out io.Writer) error {
	if !command.IsSet(c, "queue") {
		return nil
	}
	k, err := kindNamed(c.String("queue"))
	if err != nil {
		return err
	}
	if k.clean == nil {
		if k.store {
			return nil // it lies in a store
		}
		return command.Misusef("--queue %s: a queue of this kind leaves nothing that `bench clean` removes from a server", k.name)
	}
	if k.insecure != nil {
		for _, text := range k.insecure(c) {
			fmt.Fprintf(c.App.ErrWriter, "bench: note: %s\n", text)
		}
	}
	removed, err := k.clean(c, run)
	for _, text := range removed {
		fmt.Fprintf(out, "removed %s\n", text)
	}
	return err
}

// counted is a number of things.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
