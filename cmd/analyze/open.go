package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// oneRun returns the digest of the run that the command's argument names, or its
// arguments where the run's halves were recorded to several places.
func oneRun(c *cli.Context, v analysis.View) (*analysis.Digest, error) {
	switch c.NArg() {
	case 0:
		return nil, command.Misusef("%s takes a RUN: give the address that bench printed last", c.Command.HelpName)
	case 1:
		return withReferences(c, v, func() (*analysis.Digest, error) { return openRun(c, c.Args().First(), v) })
	}
	if files := c.Args().Slice(); !slices.ContainsFunc(files, func(name string) bool { return !isFile(name) }) {
		return withReferences(c, v, func() (*analysis.Digest, error) { return importFiles(c, files, v) })
	}
	return withReferences(c, v, func() (*analysis.Digest, error) { return joinedRun(c, v) })
}

// joinedRun joins the halves of a run.
func joinedRun(c *cli.Context, v analysis.View) (*analysis.Digest, error) {
	options, err := storeOptions(c)
	if err != nil {
		return nil, err
	}
	var sources []rawlog.Source
	for _, address := range c.Args().Slice() {
		if info, err := os.Stat(address); err == nil && info.Mode().IsRegular() && isDigest(address) {
			return nil, command.Misusef("%s takes one run: only the raw logs of the halves of one can be joined, and %s is a digest", c.Command.HelpName, address)
		}
		source, err := logstore.Open(c.Context, address, options)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	d, err := readRun(c, rawlog.Joined(sources...), v)
	if errors.Is(err, rawlog.ErrNotHalves) {
		return nil, command.Misuse(err)
	}
	return d, err
}

// openRun reads a run's raw log, a digest, or a file of another tool, so that v
// can be shown of it.
func openRun(c *cli.Context, address string, v analysis.View) (*analysis.Digest, error) {
	if isFile(address) {
		if c.String("only") != "" {
			return nil, command.Misusef("--only is for raw logs, and %s is none: leave it out", address)
		}
		return importFiles(c, []string{address}, v)
	}
	options, err := storeOptions(c)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(address, "s3://") && logstore.IsObject(address) {
		return openObject(c, address, v)
	}
	source, err := logstore.Open(c.Context, address, options)
	if err != nil {
		return nil, err
	}
	return readRun(c, source, v)
}

func readRun(c *cli.Context, source rawlog.Source, v analysis.View) (*analysis.Digest, error) {
	only, err := onlyOf(c)
	if err != nil {
		return nil, err
	}
	line := command.NewLine(c.App.ErrWriter)
	defer line.Close()
	d, err := analysis.Read(c.Context, source, analysis.Options{
		View: v, EndToEndOnly: only,
		Progress: func(done, total int64) {
			line.Set("reading %s: %d %% of %.1f MB", source.Address(), 100*done/max(1, total), float64(total)/1e6)
		},
	})
	if err != nil {
		return nil, err
	}
	return d, v.Check(d)
}

// isDigest tells a digest, compressed or not, by its first bytes.
func isDigest(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	return logstore.IsDigest(head)
}

// storeOptions says how a store is reached, and tells when nobody is to know who
// answers.
func storeOptions(c *cli.Context) (objectstore.Options, error) {
	options, err := storeflags.Options(c)
	if err == nil && options.Insecure {
		fmt.Fprintln(c.App.ErrWriter, "analyze: note: TLS certificates are not verified (--insecure): nobody knows who answers")
	}
	return options, err
}
