package main

import (
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
	noteUnverified(c, t.options, a)
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
	if m.Store.Address == "" {
		return nil
	}
	if t.store, err = objectstore.ParseAddress(m.Store.Address); err != nil {
		return err
	}
	if a.IsFolder() { // the queue's store alone needs options
		if t.options, err = optionsFor(c, t.store); err != nil {
			return err
		}
		noteUnverified(c, t.options, t.store)
	}
	return nil
}

// remove removes what is in a store and in spools, and tells whether it said so.
func (t *remains) remove(c *cli.Context) (said bool, err error) {
	if !c.Bool("force") {
		if err := t.underWay(c.Context); err != nil {
			return false, err
		}
	}
	tables, logs, spools, lies := 0, 0, t.spools(c.Context), t.liesInStore(c)
	err = command.While(c.App.ErrWriter, "removing what is left of run "+t.run, func() (err error) {
		if lies {
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
		return false, err
	}
	if lies {
		fmt.Fprintf(c.App.Writer, "removed %s of the tables of run %s\n", counted(tables, "object", "objects"), t.run)
	}
	if c.Bool("log") {
		fmt.Fprintf(c.App.Writer, "removed %s of the log of run %s\n", counted(logs, "object", "objects"), t.run)
	}
	said = lies || c.Bool("log")
	for _, name := range spools {
		n, err := t.cleanSpool(c, name)
		if err != nil {
			return said, err
		}
		said = said || n > 0
	}
	return said, nil
}

// liesInStore says that the queue of the run has tables in a store, or may have. Of
// one that has servers it says how what is left there is removed.
func (t *remains) liesInStore(c *cli.Context) bool {
	name := c.String("queue")
	if name == "" {
		all, err := readManifests(c.Context, below(t.log, t.run), t.options)
		if err != nil {
			return t.store != (objectstore.Address{}) // nothing says which queue it was
		}
		name = all[0].Settings["queue"]
	}
	k, err := kindNamed(name)
	if err != nil {
		return t.store != (objectstore.Address{}) // of a program with more queues, or refused below
	}
	if k.clean != nil && !command.IsSet(c, "queue") {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: run %s was of --queue %s: with that, and the flags that say where the servers are, what it left there is removed, too\n", t.run, k.name)
	}
	return k.store && t.store != (objectstore.Address{})
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
// wait for their upload are rows: they go only with the log. It returns how many
// files it removed.
func (t *remains) cleanSpool(c *cli.Context, name string) (int, error) {
	dir := filepath.Join(c.String("spool"), name)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	files, open, err := spooled(dir)
	if err != nil {
		prune(dir)
		if _, gone := os.Stat(dir); errors.Is(gone, os.ErrNotExist) {
			return 0, nil // there were only empty folders
		}
		return 0, err
	}
	gone := open
	if c.Bool("log") {
		gone = append(gone, files...)
	} else if len(files) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: %d files of the run's log wait in %s: `bench upload %s` stores them, --log removes them\n", len(files), dir, dir)
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return 0, err
		}
	}
	prune(dir)
	if len(gone) > 0 {
		fmt.Fprintf(c.App.Writer, "removed %s of the spool of run %s, %d of them parts that were never closed\n", counted(len(gone), "file", "files"), t.run, len(open))
	}
	return len(gone), nil
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
