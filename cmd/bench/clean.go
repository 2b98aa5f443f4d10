package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
)

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:      "clean",
		Usage:     "remove what an interrupted run left of its queue",
		ArgsUsage: "RUN",
		Description: `Prints how many objects it removed: those of the queue of one run, and the parts
that it left open in its spool, which nothing can read. RUN is the address that
the run printed, or its id, with the flags that it was started with.`,
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
		if w.embedded != "" {
			target.store = objectstore.Address{Folder: filepath.Join(w.embedded, embeddedBucket)}
			if w.sameLog {
				target.log = below(target.store, runsPrefix)
			}
		}
	}
	if err := target.remove(c); err != nil {
		return err
	}
	return cleanServers(c, target.run)
}

// serverFlags say where the servers are of queues that leave something there.
func serverFlags() (flags []cli.Flag) {
	flags = append(flags, &cli.StringFlag{Name: "queue", Aliases: []string{"q"}, Usage: "remove what the run left of this queue on its servers, too", DefaultText: "only what lies in a store"})
	return append(flags, flagsOfKinds(func(k kind) []cli.Flag { return k.placed })...)
}

// cleanServers removes what a run left on the servers of its queue.
func cleanServers(c *cli.Context, run string) error {
	if !command.IsSet(c, "queue") {
		return nil
	}
	k, err := kindNamed(c.String("queue"))
	if err != nil {
		return err
	}
	if k.clean == nil {
		return command.Misusef("--queue %s: a queue of this kind leaves nothing that `bench clean` removes from a server", k.name)
	}
	n, err := k.clean(c, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "removed %d of run %s from the servers of queue %s\n", n, run, k.name)
	return nil
}

// remains are what a run may have left.
type remains struct {
	run     string
	store   objectstore.Address // zero for a queue without a store
	log     objectstore.Address // the run's log lies below it under its id
	options objectstore.Options
}

// fromAddress finds them by the run's own manifest.
func (t *remains) fromAddress(c *cli.Context, address string) error {
	a, err := complete(c, address, c.String("s3-backend"), os.Getenv)
	if err != nil {
		return err
	}
	if t.options, err = optionsFor(c, a); err != nil {
		return err
	}
	all, err := readManifests(c.Context, a, t.options)
	if err != nil {
		return err
	}
	m := all[0]
	if err := checkRunID(m.Run); err != nil {
		return fmt.Errorf("the run at %s: %w", address, err)
	}
	t.run = m.Run
	name := path.Base(a.Prefix)
	if a.IsFolder() {
		name = filepath.Base(a.Folder)
	}
	if c.Bool("log") && name != m.Run {
		// The log of that name beside it may be another one.
		return fmt.Errorf("the log at %s is a copy of run %s under another name, which --log does not remove: remove it by hand", a, m.Run)
	}
	if a.IsFolder() {
		a.Folder = filepath.Dir(a.Folder)
	} else {
		a.Prefix = strings.Trim(path.Dir("/"+a.Prefix), "/")
	}
	t.log = a
	if m.Store.Address != "" {
		t.store, err = objectstore.ParseAddress(m.Store.Address)
	}
	return err
}

// readManifests reads the manifests of a run's address: run.json, or those of
// its processes. There is at least one.
func readManifests(ctx context.Context, a objectstore.Address, options objectstore.Options) ([]*rawlog.Manifest, error) {
	none := fmt.Errorf("there is no run at %s: it has no %s", a, rawlog.ManifestName)
	if a.IsFolder() {
		// Opening a folder would make it.
		if _, err := os.Stat(a.Folder); err != nil {
			return nil, none
		}
	}
	store, err := objectstore.OpenAddress(ctx, a, options)
	if err != nil {
		return nil, err
	}
	all, err := manifestsIn(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", a, err)
	}
	if len(all) == 0 {
		return nil, none
	}
	return all, nil
}

// manifestsIn reads the manifests of the run of which log is the prefix.
func manifestsIn(ctx context.Context, log objectstore.Store) ([]*rawlog.Manifest, error) {
	var names []string
	err := log.List(ctx, objectstore.ListOptions{Prefix: "run", Delimiter: "/"}, func(i objectstore.Info) error {
		if rawlog.IsManifestName(i.Key) {
			names = append(names, i.Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []*rawlog.Manifest
	for _, name := range names {
		body, _, err := log.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		m, err := rawlog.ReadManifest(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (t *remains) remove(c *cli.Context) error {
	if !c.Bool("force") {
		if err := t.underWay(c.Context); err != nil {
			return err
		}
	}
	tables, logs, spools := 0, 0, t.spools(c.Context)
	err := command.While(c.App.ErrWriter, "removing what is left of run "+t.run, func() (err error) {
		if t.store != (objectstore.Address{}) {
			if tables, err = t.removeBelow(c.Context, t.store, tablesPrefix+"/"+t.run+"/"); err != nil {
				return err
			}
		}
		if c.Bool("log") {
			logs, err = t.removeBelow(c.Context, t.log, t.run+"/")
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "removed %d objects of the queue of run %s\n", tables, t.run)
	if c.Bool("log") {
		fmt.Fprintf(c.App.Writer, "removed %d objects of its log\n", logs)
	}
	for _, name := range spools {
		if err := t.cleanSpool(c, name); err != nil {
			return err
		}
	}
	return nil
}

// spools are the names of the run's spools: its own, and those of the halves
// that recorded it, but for one that may be of a whole run of that name.
func (t *remains) spools(ctx context.Context) []string {
	names := []string{t.run}
	all, err := readManifests(ctx, below(t.log, t.run), t.options)
	if err != nil {
		return names // nothing says that it had halves
	}
	for _, m := range all {
		if m.Process == "" {
			continue
		}
		name := (&half{process: m.Process}).spoolName(t.run)
		if checkRunID(name) != nil {
			continue // it names no folder of ours
		}
		if _, err := readManifests(ctx, below(t.log, name), t.options); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// cleanSpool removes the parts of a spool that were never closed. Those that
// wait for their upload are rows: they go only with the log.
func (t *remains) cleanSpool(c *cli.Context, name string) error {
	dir := filepath.Join(c.String("spool"), name)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	files, open, err := spooled(dir)
	if err != nil {
		prune(dir)
		if _, gone := os.Stat(dir); errors.Is(gone, os.ErrNotExist) {
			return nil // there were only empty folders
		}
		return err
	}
	gone := open
	if c.Bool("log") {
		gone = append(gone, files...)
	} else if len(files) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: %d files of the run's log wait in %s: `bench upload %s` stores them, --log removes them\n", len(files), dir, dir)
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	prune(dir)
	if len(gone) > 0 {
		fmt.Fprintf(c.App.Writer, "removed %d files of its spool, %d of them parts that were never closed\n", len(gone), len(open))
	}
	return nil
}

// quietAfter is how long a run that has not ended may write nothing before it is
// taken for dead: a part of its log is closed every five seconds.
const quietAfter = 20 * time.Second

// underWay is an error when the run has not ended and wrote something lately.
func (t *remains) underWay(ctx context.Context) error {
	all, err := readManifests(ctx, below(t.log, t.run), t.options)
	if err != nil || !slices.ContainsFunc(all, func(m *rawlog.Manifest) bool { return m.EndedNs == 0 }) {
		return nil // without a manifest nothing says that it lives
	}
	store, err := objectstore.OpenAddress(ctx, t.log, t.options)
	if err != nil {
		return err
	}
	var newest time.Time
	err = store.List(ctx, objectstore.ListOptions{Prefix: t.run + "/"}, func(o objectstore.Info) error {
		if o.Modified.After(newest) {
			newest = o.Modified
		}
		return nil
	})
	if err != nil {
		return err
	}
	if quiet := time.Since(newest); quiet < quietAfter {
		return fmt.Errorf("run %s has not ended and wrote to its log %v ago: stop it first, or wait until it has been quiet for %v if it was killed, or say --force",
			t.run, quiet.Round(time.Second), quietAfter)
	}
	return nil
}

func (t *remains) removeBelow(ctx context.Context, a objectstore.Address, prefix string) (int, error) {
	if a.IsFolder() {
		if _, err := os.Stat(a.Folder); errors.Is(err, os.ErrNotExist) {
			return 0, fmt.Errorf("there is no folder %s: name the run by the address that it printed, or add --data, --store or --log-store", a.Folder)
		}
	}
	store, err := objectstore.OpenAddress(ctx, a, t.options)
	if err != nil {
		return 0, err
	}
	return objectstore.RemoveAll(ctx, store, prefix)
}
