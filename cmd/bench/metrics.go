package main

import (
	"fmt"
	"net"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/runner"
	"queuebench/runner/metrics"
)

// metricsFlag is of the commands that run something.
func metricsFlag() cli.Flag {
	return &cli.StringFlag{Name: "metrics-addr", Usage: "serve Prometheus metrics at this address while it runs, such as 127.0.0.1:9464; port 0 takes a free one and prints it", DefaultText: "nowhere"}
}

// exporter serves the metrics of a run; the zero value does nothing.
type exporter struct{ e *metrics.Exporter }

// listenMetrics takes the address that was asked for, if any, before anything
// else of the run is made.
func listenMetrics(c *cli.Context) (exporter, error) {
	address := c.String("metrics-addr")
	if address == "" {
		return exporter{}, nil
	}
	if _, port, err := net.SplitHostPort(address); err != nil || !isPort(port) {
		return exporter{}, command.Misusef("--metrics-addr %q: write a host and a port, such as 127.0.0.1:9464", address)
	}
	e, err := metrics.Listen(c.Context, address)
	if err != nil {
		return exporter{}, fmt.Errorf("--metrics-addr %s: %w", address, err)
	}
	return exporter{e}, nil
}

// begin says what the metrics are of, and where.
func (x exporter) begin(cfg *runner.Config, queue string, show *progress) {
	if x.e == nil {
		return
	}
	x.e.Begin(metrics.Run{ID: cfg.Run, Queue: queue, Log: cfg.Log.Stats, Store: cfg.Requests})
	show.line.Print("bench: metrics at %s", x.e.Address())
	if !x.e.Loopback() {
		text := fmt.Sprintf("the metrics at %s are open to everybody who reaches this host, without a password: listen on 127.0.0.1 unless that is meant", x.e.Address())
		cfg.Manifest.Warnings = append(cfg.Manifest.Warnings, text)
		show.note(text)
	}
}

func (x exporter) show(s runner.Status) {
	if x.e != nil {
		x.e.Show(s)
	}
}

func (x exporter) close() error {
	if x.e == nil {
		return nil
	}
	return x.e.Close()
}
