package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/site"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "serve a site on this machine",
		ArgsUsage: "DIR",
		Description: "Prints the address of a site that was written by `analyze site` and serves it to this machine only,\n" +
			"until interrupted.",
		UsageText: "   analyze serve site\n" +
			"   analyze serve site --port 8080",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", Usage: "port on the loopback address; 0 takes a free one", Value: 0},
			&cli.DurationFlag{Name: "for", Usage: "stop by itself after this long; 0 serves until interrupted"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return command.Misusef("serve takes one folder, not %d: give the one that `analyze site` wrote", c.NArg())
			}
			dir := c.Args().First()
			if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
				return fmt.Errorf("%s holds no site (no index.html): write one with `analyze site RUN --out %s`", dir, dir)
			}
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Int("port")))
			if err != nil {
				return fmt.Errorf("no server on port %d: %w; choose another --port, or 0 for a free one", c.Int("port"), err)
			}
			if err := command.Print(c.App.Writer, "http://%s/\n", listener.Addr()); err != nil {
				return errors.Join(err, listener.Close())
			}
			ctx := c.Context
			if d := c.Duration("for"); d > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, d)
				defer cancel()
			}
			return serve(ctx, listener, site.Handler(dir))
		},
	}
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
