package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/importer"
	"queuebench/internal/command"
	"queuebench/rawlog"
)

// sideArgument is what the commands take that hold runs against each other.
const sideArgument = "A folder that is no run stands for all runs and digests below it."

// openRuns opens the run at an address, or all runs and digests below a folder
// that is none.
func openRuns(c *cli.Context, address string, v analysis.View) ([]*analysis.Digest, error) {
	addresses, err := runsBelow(address)
	if err != nil {
		return nil, err
	}
	var all []*analysis.Digest
	for _, a := range addresses {
		d, err := openRun(c, a, v)
		if len(addresses) > 1 && (errors.Is(err, analysis.ErrNotDigest) || errors.Is(err, importer.ErrUnknown)) {
			// Of a folder; a file that was named is an error.
			fmt.Fprintf(c.App.ErrWriter, "%s: passed over: %s is no digest\n", c.App.Name, a)
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// runsBelow are the addresses of the runs and digests below a folder, by name; the
// address itself where it is that of a run, or of no folder of this machine.
func runsBelow(address string) ([]string, error) {
	info, err := os.Stat(address)
	if err != nil || !info.IsDir() || holdsRun(address) {
		return []string{address}, nil
	}
	var found []string
	err = filepath.WalkDir(address, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && holdsRun(path):
			found = append(found, path)
			return filepath.SkipDir
		case entry.Type().IsRegular() && isDigest(path):
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for runs below %s: %w", address, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w: there is no run and no digest in it or below it", address, rawlog.ErrNotARun)
	}
	return found, nil
}

// holdsRun tells whether a folder is that of a run.
func holdsRun(dir string) bool {
	for _, pattern := range []string{rawlog.ManifestName, "run-*.json"} {
		if found, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// escapeGlob is a path that a pattern takes as it is.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// label is what may stand before an address: before=runs/a. An address of a
// store has other characters before its first "=".
var label = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$`)

// labelled divides LABEL=ADDRESS; the label is empty where there is none, and
// where a file has such a name.
func labelled(argument string) (name, address string) {
	if _, err := os.Stat(argument); err == nil {
		return "", argument
	}
	if m := label.FindStringSubmatch(argument); m != nil {
		return m[1], m[2]
	}
	return "", argument
}

// labelOf is the name of a run by its address: its last element.
func labelOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	name := path.Base(filepath.ToSlash(strings.TrimRight(address, "/")))
	if rawlog.IsManifestName(name) {
		name = path.Base(path.Dir(filepath.ToSlash(address)))
	}
	for _, suffix := range []string{".gz", ".digest"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// stringsOf are the values of a flag that can be given several times.
func stringsOf(c *cli.Context, name string) []string {
	if s, ok := c.Generic(name).(*command.Strings); ok {
		return *s
	}
	return nil
}
