package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/site"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "show a site, a report or runs in a browser on this machine",
		ArgsUsage: "SITE|REPORT|RUN…",
		Description: "Prints the address of a page and serves it to this machine only, until interrupted: a folder that\n" +
			"`analyze site` wrote, a file that `analyze report` wrote, or runs, of which a site is made in memory.\n" +
			"Several runs open beside each other, as `analyze report` takes them: LABEL=RUN names one, and runs of one label\n" +
			"are replicates of one side. In that page raw logs can be opened as well. No browser is started,\n" +
			"nothing is written, and nothing is left behind. A folder that holds runs and is none shows a list of all of them.\n\n" + runArgument,
		UsageText: "   analyze site RUN --out site\n" +
			"   analyze serve site --port 8080\n" +
			"   analyze report RUN -o report.html\n" +
			"   analyze serve report.html\n" +
			"   analyze serve RUN --warmup 3s\n" +
			"   analyze digest RUN -o base.gz\n" +
			"   analyze serve before=base.gz after=RUN",
		Flags: append(append([]cli.Flag{
			&cli.IntFlag{Name: "port", Usage: "port on the loopback address; 0 takes a free one", Value: 0},
			&cli.DurationFlag{Name: "for", Usage: "stop by itself after this long; 0 serves until interrupted"},
			&cli.BoolFlag{Name: "compare", Usage: "hold the RUNs against each other, also where they could be halves of one"},
			referenceFlag(),
		}, viewFlags()...), append(importFlags(), storeflags.Flags()...)...),
		Action: func(c *cli.Context) error {
			if p := c.Int("port"); p < 0 || p > 65535 {
				return command.Misusef("--port %d: ports go from 1 to 65535, and 0 takes a free one", p)
			}
			handler, fragment, err := pageOf(c)
			if err != nil {
				return err
			}
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Int("port")))
			if err != nil {
				return fmt.Errorf("no server on port %d: %w; choose another --port, or 0 for a free one", c.Int("port"), err)
			}
			if err := command.Print(c.App.Writer, "http://%s/%s\n", listener.Addr(), fragment); err != nil {
				return errors.Join(err, listener.Close())
			}
			ctx := c.Context
			if d := c.Duration("for"); d > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, d)
				defer cancel()
			}
			return serve(ctx, listener, handler)
		},
	}
}

// pageOf is what the arguments of serve name, and the fragment of the address
// that shows it, with its "#".
func pageOf(c *cli.Context) (http.Handler, string, error) {
	v, err := viewOf(c)
	if err != nil {
		return nil, "", err
	}
	if !command.IsSet(c, "percentiles") {
		v.Percentiles = nil // the page's own
	}
	view := v.Fragment()
	if c.NArg() == 0 {
		return nil, "", command.Misusef("serve takes a site, a report or RUNs: give the folder that `analyze site` wrote, or the address that bench printed last")
	}
	only := c.Args().First()
	if c.NArg() == 1 && isSite(only) {
		return site.Handler(only), hash(view), nil
	}
	if c.NArg() == 1 && isReport(only) {
		return site.ReportHandler(only), hash(view), nil
	}
	if info, err := os.Stat(only); c.NArg() == 1 && err == nil && info.IsDir() && !holdsRun(only) {
		return listOf(c, only, v)
	}
	ds, labels, err := reportRuns(c, v)
	if err != nil {
		return nil, "", err
	}
	files, logs, err := site.Files(ds)
	if err != nil {
		return nil, "", err
	}
	page := url.Values{"log": logs}
	if len(ds) > 1 {
		page.Set("view", "compare")
	}
	if slices.ContainsFunc(labels, func(l string) bool { return l != "" }) {
		page["label"] = labels
	}
	return site.MemoryHandler(files), hash(page.Encode(), view), nil
}

// listOf is a site of all runs and digests below a folder.
func listOf(c *cli.Context, dir string, v analysis.View) (http.Handler, string, error) {
	var left unread
	ds, err := openRuns(c, dir, v, &left)
	if err != nil {
		return nil, "", fmt.Errorf("%w; nor is it a site, which has an index.html: `analyze site RUN --out %s` writes one", err, dir)
	}
	for _, why := range left {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, why)
	}
	files, _, err := site.Files(ds)
	return site.MemoryHandler(files), "", err
}

// hash is a fragment of several parts, empty where all are.
func hash(parts ...string) string {
	all := ""
	for _, p := range parts {
		if p != "" {
			all += "&" + p
		}
	}
	return strings.Replace(all, "&", "#", 1)
}

// isSite tells a folder that a site lies in.
func isSite(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "index.html"))
	return err == nil && info.Mode().IsRegular()
}

// isReport tells an HTML file.
func isReport(path string) bool {
	kind := strings.ToLower(filepath.Ext(path))
	return isFile(path) && (kind == ".html" || kind == ".htm")
}

// serve answers until ctx ends, which is how it is meant to end.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopped <- server.Close() // a browser keeps connections open: waiting for them would be for ever
	}()
	err := server.Serve(listener)
	cancel()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, <-stopped)
}
