package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/clock/offset"
	"queuebench/internal/command"
	"queuebench/internal/loopback"
	"queuebench/rawlog"
	"queuebench/runner"
)

// clockFlags are those of a process that loads a queue together with one on
// another host: the other half of its run, or a run that it is to be merged with.
func clockFlags() []cli.Flag {
	return command.Under("OTHER HOSTS",
		&cli.StringFlag{Name: "clock-peer", Usage: "host:port of a `bench clock serve`, or of a bench with --clock-serve, on another host: the offset to its clock is measured at the start, each 10 s and at the end", DefaultText: "none"},
		&cli.StringFlag{Name: "clock-serve", Usage: "address on which those on other hosts may ask for the time, such as 10.0.0.5:9465 (UDP)", DefaultText: "none"},
	)
}

func clockCommand() *cli.Command {
	return &cli.Command{
		Name:      "clock",
		Usage:     "tell the time of this host to a half on another one",
		ArgsUsage: "serve",
		Description: `Prints the address on which it serves, and answers until it is interrupted. A half
of a run on another host measures the offset between the two clocks with
--clock-peer; any process of this host and boot may be the other half.

It answers by UDP what is asked in its own protocol, with no more bytes than it
was asked with, and to anyone who reaches the address: give one that only the
other host reaches.`,
		UsageText: `   bench clock serve --addr 127.0.0.1:9465 --for 200ms`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Usage: "address to serve on, such as 10.0.0.5:9465", DefaultText: "none: it has to be named"},
			&cli.DurationFlag{Name: "for", Usage: "end after so long", DefaultText: "never"},
		},
		Action: serveClock,
	}
}

func serveClock(c *cli.Context) error {
	if c.Args().Len() != 1 || c.Args().First() != "serve" {
		return command.Misusef("say what to do with the clock: bench clock serve --addr 10.0.0.5:9465")
	}
	if c.String("addr") == "" {
		return command.Misusef("--addr is needed: the address to serve on, such as 10.0.0.5:9465")
	}
	if command.IsSet(c, "for") && c.Duration("for") <= 0 {
		return command.Misusef("--for %v is not positive: say how long to serve, or leave it out to serve until it is interrupted", c.Duration("for"))
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	if d := c.Duration("for"); d > 0 {
		ctx, stop = context.WithTimeout(ctx, d)
		defer stop()
	}
	conn, err := listenClock("addr", c.String("addr"))
	if err != nil {
		return err
	}
	if !loopback.Addr(conn.LocalAddr()) {
		fmt.Fprintf(c.App.ErrWriter, "bench: note: everybody who reaches %s is told the time and the name of this host\n", conn.LocalAddr())
	}
	if err := command.Print(c.App.Writer, "%s\n", conn.LocalAddr()); err != nil {
		return err
	}
	return offset.Serve(ctx, conn, clock.New())
}

func listenClock(flag, address string) (net.PacketConn, error) {
	if err := checkHostPort(flag, address); err != nil {
		return nil, err
	}
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", flag, address, err)
	}
	return conn, nil
}

func checkHostPort(flag, address string) error {
	if _, port, err := net.SplitHostPort(address); err != nil || !isPort(port) {
		return command.Misusef("--%s %q: write a host and a port, such as 10.0.0.5:9465", flag, address)
	}
	return nil
}

// clocks are a half's exchanges with other clocks.
type clocks struct {
	own      *clock.Clock
	follower *offset.Follower
	before   []rawlog.ClockOffset // of a process that was killed
	peer     string
	serving  sync.WaitGroup
	stop     context.CancelFunc
}

// startClocks serves and measures as the flags say. What it starts ends with
// close.
func startClocks(c *cli.Context, cfg *runner.Config, mayServe bool) (*clocks, error) {
	peer, serve := c.String("clock-peer"), c.String("clock-serve")
	if !mayServe { // another one of this process does
		serve = ""
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(c.Context)) // an interrupted run measures once more
	k := &clocks{own: cfg.Clock, peer: peer, stop: stop}
	if peer != "" {
		if err := checkHostPort("clock-peer", peer); err != nil {
			stop()
			return nil, err
		}
	}
	if serve != "" {
		conn, err := listenClock("clock-serve", serve)
		if err != nil {
			stop()
			return nil, err
		}
		k.serving.Go(func() { _ = offset.Serve(ctx, conn, cfg.Clock) }) // who asks in vain will say so
	}
	if peer != "" {
		k.follower = offset.Follow(ctx, peer, cfg.Clock)
	}
	cfg.Offsets = k.offsets
	return k, nil
}

// lastMeasurement bounds the measurement at the end of a run.
const lastMeasurement = 2 * time.Second

// offsets are what was measured so far, by peer, and with a last measurement at
// the end. The error says that a peer was named and nothing is known of it.
func (k *clocks) offsets(ctx context.Context, last bool) ([]rawlog.ClockOffset, error) {
	all := append([]rawlog.ClockOffset(nil), k.before...)
	if k.follower == nil {
		return all, nil
	}
	if last {
		ctx, cancel := context.WithTimeout(ctx, lastMeasurement)
		defer cancel()
		k.follower.Stop(ctx)
	}
	measured, err := k.follower.Measurements()
	for _, m := range measured {
		p := rawlog.OffsetPoint{AtNs: m.AtNs, OffsetNs: m.OffsetNs, ErrorNs: m.ErrorNs}
		if n := len(all); n > len(k.before) && all[n-1].Peer == m.Peer {
			all[n-1].Points = append(all[n-1].Points, p)
			continue
		}
		all = append(all, rawlog.ClockOffset{Own: k.own.Identity(), Peer: m.Peer, Points: []rawlog.OffsetPoint{p}})
	}
	if len(measured) > 0 {
		err = nil
	}
	return all, err
}

// toOwn is what is to be added to stamps of a clock to have those of this
// process, as far as it is known by now.
func (k *clocks) toOwn(theirs clock.Identity) (int64, error) {
	own := k.own.Identity()
	if add, _, _, ok := clock.Between(own, theirs); ok {
		return add, nil
	}
	if k.follower != nil {
		measured, _ := k.follower.Measurements()
		for i := len(measured) - 1; i >= 0; i-- {
			if add, _, _, ok := clock.Between(measured[i].Peer, theirs); ok {
				return add - measured[i].OffsetNs, nil
			}
		}
	}
	if k.peer != "" {
		return 0, fmt.Errorf("the producers' clock is that of %s, this one that of %s, and the offset between them is not measured yet", theirs.Host, own.Host)
	}
	return 0, fmt.Errorf("the producers' clock is that of %s, this one that of %s: --clock-peer measures the offset between them", theirs.Host, own.Host)
}

func (k *clocks) close() {
	if k.follower != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		k.follower.Stop(ended) // it has measured for the last time, or the run did not begin
	}
	k.stop()
	k.serving.Wait()
}

// isPort tells whether text may be a port: a number up to 65535, where 0 takes a
// free one, or the name of a service, which the system resolves.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	if err != nil {
		return text != ""
	}
	return 0 <= n && n <= 65535
}
