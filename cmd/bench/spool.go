package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// errNothingSpooled: a spool without a file.
var errNothingSpooled = errors.New("holds nothing that can be stored")

// spooled lists a spool's files by their names in the store, the manifest last,
// and those that were never closed.
func spooled(spool string) (files, open []string, err error) {
	err = filepath.WalkDir(spool, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(spool, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case strings.HasSuffix(name, logwriter.OpenSuffix):
			open = append(open, name)
		case rawlog.IsManifestName(name) || strings.HasSuffix(name, ".parquet"):
			files = append(files, name)
		default:
			return fmt.Errorf("%s is no file of a spool: name the folder that the run named", p)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the spool %s: %w", spool, err)
	}
	if len(files)+len(open) == 0 {
		return nil, nil, fmt.Errorf("the spool %s %w", spool, errNothingSpooled)
	}
	slices.SortFunc(files, func(a, b string) int {
		if am, bm := rawlog.IsManifestName(a), rawlog.IsManifestName(b); am != bm {
			if am {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return files, open, nil
}

// giveUpOpen removes the parts that a killed run left open, and says so. A run
// that is under way closes its parts every few seconds: where one was written to
// lately, it may be alive.
func giveUpOpen(c *cli.Context, spool string, open []string) error {
	for _, name := range open {
		info, err := os.Stat(filepath.Join(spool, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if quiet := time.Since(info.ModTime()); quiet < quietAfter && !c.Bool("force") {
			return fmt.Errorf("%s in the spool %s was written to %v ago and is not closed: if its run was killed, wait until it has been quiet for %v, or say --force, to have it removed: without a footer it cannot be read",
				name, spool, quiet.Round(time.Second), quietAfter)
		}
	}
	for _, name := range open {
		if err := os.Remove(filepath.Join(spool, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	if len(open) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: %d parts were open when the run was killed; without a footer nothing can read them, and they were removed from %s\n", len(open), spool)
	}
	prune(spool)
	return nil
}

// prune removes the spool's empty folders, and the spool if it is one.
func prune(spool string) {
	var dirs []string
	_ = filepath.WalkDir(spool, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, p)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		_ = os.Remove(dir) // refuses a folder that is not empty
	}
}
