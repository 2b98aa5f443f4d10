package main

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/objectstore"
	"queuebench/site/publish"
)

func publishCommand() *cli.Command {
	return &cli.Command{
		Name:      "publish",
		Usage:     "copy a site into a bucket",
		ArgsUsage: "DIR ADDRESS",
		Description: "Prints the address of the page. Each file that is not yet in the bucket, or not the same, is sent with its\n" +
			"type, its encoding and what caches may do with it: what is named after its content is kept for a year, and all\n" +
			"else asked for again each time. The list of runs goes last; nothing is deleted, and who may read\n" +
			"the bucket is left to its owner. The rule of CORS that the bucket of a raw log needs, so that this page can open\n" +
			"it by #log=…, goes to standard error.\n\n" +
			"ADDRESS is s3://bucket/prefix?endpoint=…&region=…; credentials come from the environment, as for every command.",
		UsageText: "   analyze site RUN --out site\n" +
			"   analyze publish site 's3://bucket/reports?endpoint=http://127.0.0.1:9000' --dry-run\n" +
			"   analyze publish site 's3://bucket/reports?endpoint=http://127.0.0.1:9000'",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be sent, and send nothing"},
		}, storeflags.Flags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return command.Misusef("publish takes a folder and an address, and was given %d arguments: analyze publish site s3://bucket/prefix", c.NArg())
			}
			address, err := objectstore.ParseAddress(c.Args().Get(1))
			if err != nil {
				return command.Misuse(err)
			}
			if address.IsFolder() {
				return command.Misusef("%s is a folder: publish sends to s3://bucket/prefix; `analyze site --out` writes into a folder", address.Folder)
			}
			options, err := storeflags.Options(c)
			if err != nil {
				return err
			}
			store, err := objectstore.OpenAddress(c.Context, address, options)
			if err != nil {
				return err
			}
			objects, err := publish.Plan(c.Context, c.Args().First(), store)
			if err != nil {
				return err
			}
			return sendSite(c, store, objects, publish.PageAddress(address))
		},
	}
}

func sendSite(c *cli.Context, store objectstore.Store, objects []publish.Object, page string) error {
	same := 0
	for _, o := range objects {
		if !o.Changed {
			same++
		}
	}
	say := func(o publish.Object) {
		fmt.Fprintf(c.App.ErrWriter, "%s: %d bytes, %s, %s\n", o.Key, len(o.Body), o.Options.ContentType, o.Options.CacheControl)
	}
	if c.Bool("dry-run") {
		for _, o := range objects {
			if o.Changed {
				say(o)
			}
		}
	} else if err := publish.Upload(c.Context, store, objects, say); err != nil {
		return err
	}
	rule, err := json.Marshal(publish.CORSRule(publish.Origin(page)))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%d files as they were. CORS for the bucket of a raw log that this page opens: %s\n", same, rule)
	return command.Print(c.App.Writer, "%s\n", page)
}
