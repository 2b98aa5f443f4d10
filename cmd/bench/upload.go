package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/objectstore"
	"queuebench/rawlog"
)

func uploadCommand() *cli.Command {
	return &cli.Command{
		Name:      "upload",
		Usage:     "store what a run had to leave in its spool",
		ArgsUsage: "SPOOL",
		Description: `Prints the name of each file that it stored, and last the address of the run. SPOOL
is the folder that the run named; a file that is stored is removed from it.`,
		UsageText: `   bench upload ./queuebench-spool/20260102t030405z-abcdef
   bench upload ./queuebench-spool/20260102t030405z-abcdef --to ./logs/20260102t030405z-abcdef`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the run's address", DefaultText: "the one in the spool's " + rawlog.ManifestName},
			&cli.StringFlag{Name: "endpoint", Usage: "S3-compatible server, where --to has none"},
			&cli.StringFlag{Name: "region", Usage: "region of the bucket, where --to has none"},
		}, storeflags.Flags()...),
		Action: upload,
	}
}

func upload(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return command.Misusef("name the spool's folder")
	}
	spool := c.Args().First()
	files, open, err := spooled(spool)
	if err != nil {
		return err
	}
	address, err := uploadTo(c, spool, files)
	if err != nil {
		return err
	}
	options, err := optionsFor(c, address)
	if err != nil {
		return err
	}
	store, err := objectstore.OpenAddress(c.Context, address, options)
	if err != nil {
		return err
	}
	if err := objectstore.CheckBucket(c.Context, store); err != nil {
		return err
	}
	for _, name := range files {
		if err := uploadFile(c.Context, store, spool, name); err != nil {
			return err
		}
		fmt.Fprintln(c.App.Writer, name)
	}
	prune(spool)
	if open > 0 {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: %d parts were open when the run was killed; they have no footer, cannot be read, and stay in %s\n", open, spool)
	}
	_, err = fmt.Fprintln(c.App.Writer, address)
	return err
}

// errNothingSpooled: a spool without a closed part or manifest.
var errNothingSpooled = errors.New("holds nothing that can be stored")

// spooled lists a spool's files by their names in the store, the manifest last,
// and counts the parts that were never closed.
func spooled(spool string) (files []string, open int, err error) {
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
		case strings.HasSuffix(name, ".open"):
			open++
		case rawlog.IsManifestName(name) || strings.HasSuffix(name, ".parquet"):
			files = append(files, name)
		default:
			return fmt.Errorf("%s is no file of a spool: name the folder that the run named", p)
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("the spool %s: %w", spool, err)
	}
	if len(files) == 0 {
		return nil, open, fmt.Errorf("the spool %s %w", spool, errNothingSpooled)
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

// uploadTo is the run's address.
func uploadTo(c *cli.Context, spool string, files []string) (objectstore.Address, error) {
	to := c.String("to")
	if to == "" {
		name := rawlog.ManifestName
		if at := slices.IndexFunc(files, rawlog.IsManifestName); at >= 0 {
			name = files[at]
		}
		body, err := os.ReadFile(filepath.Join(spool, name))
		if err != nil {
			return objectstore.Address{}, command.Misusef("the spool %s has no %s to tell where its log lies: add --to with the address that the run printed", spool, rawlog.ManifestName)
		}
		m, err := rawlog.ReadManifest(bytes.NewReader(body))
		if err != nil || m.LogStore.Address == "" {
			return objectstore.Address{}, command.Misusef("the %s in the spool %s does not tell where the log lies: add --to with the address that the run printed", rawlog.ManifestName, spool)
		}
		to = m.LogStore.Address
	}
	return complete(c, to, c.String("s3-backend"), os.Getenv)
}

func uploadFile(ctx context.Context, store objectstore.Store, spool, name string) error {
	p := filepath.Join(spool, filepath.FromSlash(name))
	f, err := os.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := store.PutFile(ctx, name, f, info.Size(), objectstore.PutOptions{}); err != nil {
		return err
	}
	return os.Remove(p)
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
