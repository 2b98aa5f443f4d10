package main

import (
	"bytes"
	"cmp"
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
	"queuebench/internal/storeflags"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// sideArgument is what the commands take that hold runs against each other.
const sideArgument = "A folder that is no run, or a prefix of a\n" +
	"store, stands for all runs and digests below it; one of them that cannot be read is told, left out, and in the status."

// unread are the runs of folders that could not be read, each with why: what the
// result is not of.
type unread []string

// add takes the error of a run of a folder; false where it stops everything.
func (u *unread) add(c *cli.Context, address string, err error) bool {
	if c.Context.Err() != nil || logstore.Refused(err) {
		return false
	}
	*u = append(*u, fmt.Sprintf("%s could not be read and is left out: %v", address, err))
	return true
}

// err is what a command ends with after its result; nil where all were read.
func (u unread) err() error {
	if len(u) == 0 {
		return nil
	}
	more := ""
	if len(u) > 1 {
		more = fmt.Sprintf(", and %d more", len(u)-1)
	}
	return fmt.Errorf("the result is of fewer runs than lie there: %s%s", u[0], more)
}

// openRuns opens the run at an address, or all runs and digests below a folder
// that is none. Of a folder, what cannot be read goes to left.
func openRuns(c *cli.Context, address string, v analysis.View, left *unread) ([]*analysis.Digest, error) {
	found, err := runsBelow(c, address)
	if err != nil {
		return nil, err
	}
	var all []*analysis.Digest
	for _, f := range found {
		d, err := openFound(c, f, v)
		switch {
		case err == nil:
			all = append(all, d)
		case len(found) == 1:
			return nil, err
		case errors.Is(err, analysis.ErrNotDigest) || errors.Is(err, importer.ErrUnknown):
			// Of a folder; a file that was named is an error.
			fmt.Fprintf(c.App.ErrWriter, "%s: passed over: %s is no digest\n", c.App.Name, f.Address)
		case !left.add(c, f.Address, err):
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, cmp.Or(left.err(), fmt.Errorf("%s: %w: none of the %d files there is a digest", address, rawlog.ErrNotARun, len(found)))
	}
	return all, nil
}

// openFound opens what runsBelow found.
func openFound(c *cli.Context, f logstore.Found, v analysis.View) (*analysis.Digest, error) {
	if f.Object && !isFile(f.Address) {
		return openObject(c, f.Address, v)
	}
	return openRun(c, f.Address, v)
}

// openObject opens a digest that lies in a store.
func openObject(c *cli.Context, address string, v analysis.View) (*analysis.Digest, error) {
	options, err := storeflags.Options(c)
	if err != nil {
		return nil, err
	}
	body, err := logstore.Object(c.Context, address, options)
	if err != nil {
		return nil, err
	}
	d, err := analysis.ReadDigest(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return d, v.Check(d)
}

// runsBelow are the runs and digests below a folder or a prefix, by name; the
// address itself where it is that of a run, or of nothing that is there.
func runsBelow(c *cli.Context, address string) ([]logstore.Found, error) {
	if strings.HasPrefix(address, "s3://") {
		options, err := storeflags.Options(c)
		if err != nil {
			return nil, err
		}
		return logstore.Below(c.Context, address, options)
	}
	info, err := os.Stat(address)
	if err != nil || !info.IsDir() || holdsRun(address) {
		return []logstore.Found{{Address: address}}, nil
	}
	var found []logstore.Found
	err = filepath.WalkDir(address, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && holdsRun(path):
			found = append(found, logstore.Found{Address: path})
			return filepath.SkipDir
		case entry.Type().IsRegular() && isDigest(path):
			found = append(found, logstore.Found{Address: path, Object: true})
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
