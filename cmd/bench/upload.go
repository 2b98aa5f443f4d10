package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
is the folder that the run named; a file that is stored is removed from it, and so
are parts that a killed run left open, which nothing can read.`,
		UsageText: `   bench upload ./queuebench-spool/20260102t030405z-abcdef
   bench upload ./queuebench-spool/20260102t030405z-abcdef --to ./logs/20260102t030405z-abcdef`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the run's address", DefaultText: "the one in the spool's " + rawlog.ManifestName},
			&cli.StringFlag{Name: "endpoint", Usage: "S3-compatible server, where --to has none"},
			&cli.BoolFlag{Name: "force", Usage: "remove open parts although the run seems to be under way"},
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
	if len(files) == 0 && len(open) > 0 { // needs no address
		return giveUpOpen(c, spool, open)
	}
	address, err := uploadTo(c, spool, files)
	if err != nil {
		return err
	}
	options, err := optionsFor(c, address)
	if err != nil {
		return err
	}
	noteUnverified(c, options, address)
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
	if err := giveUpOpen(c, spool, open); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: %v\n", err)
	}
	prune(spool)
	_, err = fmt.Fprintln(c.App.Writer, address)
	return err
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
