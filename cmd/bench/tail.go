package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/deltalake"
	"queuebench/rawlog"
	"queuebench/runner/tailing"
)

func tailCommand() *cli.Command {
	return &cli.Command{
		Name:      "tail",
		Usage:     "tail a Delta table that others write, and record how old its rows are",
		ArgsUsage: "TABLE",
		Description: `Prints a table of what it received; its last line is the address of the raw log,
which every analyze command takes. TABLE is the table's own address: a folder, or
s3://bucket/prefix/table. Nothing is written to it or beside it.

A row is a message; the payload is --column. Its latency is from its stamp to the
receipt: --time-column (timestamp, or long with --time-unit), or the time of its
commit. A table that Pathway wrote has its stamp in the column time, ms, and marks
rows that are taken back by diff −1: they are counted, and are no messages.

It ends by --duration, --idle-timeout or --count. What was in the table before it
began (--start earliest) is recorded, and has an age and no latency.`,
		UsageText: `   bench produce --run-id night-1 --rate 1000 --duration 1s --store ./lake
   bench tail ./lake/tables/night-1/step-0-repeat-0 --start earliest --idle-timeout 500ms
   bench tail ./lake/tables/night-1/step-0-repeat-0 --column data --time-column @commit --start version:1 --count 10 --json`,
		Flags:  tailFlags(),
		Action: tailTable,
	}
}

func tailFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "column", Usage: "column of the payload, of the type binary or string", DefaultText: "data, or the only one of such a type"},
		&cli.StringFlag{Name: "time-column", Usage: "column of the stamp; @commit for the time of the commit, @none for no stamp", DefaultText: "time of a table that has time and diff, else @commit"},
		&cli.StringFlag{Name: "time-unit", Usage: "unit of a stamp of the type long: s, ms, us or ns, since the epoch", DefaultText: "ms of the column time of Pathway, else it must be given"},
		&cli.StringFlag{Name: "start", Usage: "latest, earliest, version:N, or time:T with T such as 2026-01-02T15:04:05Z", Value: "latest"},
		&cli.DurationFlag{Name: "duration", Aliases: []string{"d"}, Usage: "end after so long; 0s for never", Value: time.Minute},
		&cli.DurationFlag{Name: "idle-timeout", Usage: "end when no row has come for so long", DefaultText: "none"},
		&cli.Int64Flag{Name: "count", Usage: "end with the data file that makes so many rows", DefaultText: "none"},
		&cli.DurationFlag{Name: "poll-interval", Usage: "pause after there was no new version", Value: 5 * time.Millisecond},
		&cli.DurationFlag{Name: "commit-interval", Usage: "how often the table's writer commits: who knows it polls less", DefaultText: "not known"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as a line of JSON in the place of the table"},
		&cli.BoolFlag{Name: "quiet", Usage: "show no progress"},
	}
	for _, f := range loadFlags() {
		switch command.Name(f) {
		case "run-id", "spool", "part-age":
			flags = append(flags, f)
		}
	}
	for _, f := range placeFlags() {
		switch command.Name(f) {
		case "store", "bucket":
		case "log-store":
			flags = append(flags, command.Under("STORE", &cli.StringFlag{Name: "log-store", Usage: "where the raw log goes", DefaultText: path.Join("./"+defaultData, embeddedBucket, runsPrefix)})...)
		case "data":
		default:
			flags = append(flags, f)
		}
	}
	return flags
}

// tailAsk is what a command line asks of a tail, as far as it can be told
// without the table.
type tailAsk struct {
	table, log objectstore.Address
	options    objectstore.Options
	start      queue.Start
	unit       time.Duration
	prices     objectstore.Prices
	queue      deltalake.Config
}

func tailTable(c *cli.Context) (err error) {
	ask, err := askedTail(c)
	if err != nil {
		return err
	}
	run := c.String("run-id")
	if run == "" {
		run = newRunID(time.Now())
	}
	if err := checkRunID(run); err != nil {
		return err
	}
	stores, err := ask.open(c.Context, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stores.close()) }()
	if err := (&half{}).mustBeFree(c.Context, stores, run); err != nil {
		return err
	}
	ask.queue.Store, ask.queue.Clock = stores.tables, clock.New()
	cfg := tailing.Config{
		Clock: ask.queue.Clock, Requests: stores.tables.Requests, Prices: ask.prices,
		Duration: c.Duration("duration"), Idle: c.Duration("idle-timeout"), Count: c.Int64("count"),
	}
	show := command.NewLine(c.App.ErrWriter)
	defer show.Close()
	q, err := ask.prepare(c, &cfg, show)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	return recordTail(c, run, cfg, q, stores, show)
}

// askedTail reads the command line.
func askedTail(c *cli.Context) (*tailAsk, error) {
	if c.Args().Len() != 1 {
		return nil, command.Misusef("name one table: a folder, or s3://bucket/prefix/table")
	}
	a := &tailAsk{queue: deltalake.Config{ReadOnly: true, PollInterval: c.Duration("poll-interval"), CommitInterval: c.Duration("commit-interval")}}
	if a.queue.CommitInterval == 0 { // not known: nothing is expected, and it polls on
		a.queue.CommitInterval = a.queue.PollInterval
	}
	var err error
	if a.table, err = complete(c, c.Args().First(), c.String("s3-backend"), os.Getenv); err != nil {
		return nil, err
	}
	log := c.String("log-store")
	if log == "" {
		log = "./" + path.Join(defaultData, embeddedBucket, runsPrefix)
	}
	if a.log, err = complete(c, log, c.String("s3-backend"), os.Getenv); err != nil {
		return nil, err
	}
	if contains(a.table, a.log) {
		return nil, command.Misusef("--log-store %s lies inside of the table: name a place outside of it", a.log)
	}
	if a.options, err = optionsFor(c, a.table, a.log); err != nil {
		return nil, err
	}
	if a.start, err = startOf(c.String("start")); err != nil {
		return nil, err
	}
	switch unit := c.String("time-unit"); unit {
	case "":
	case "s", "ms", "us", "ns":
		a.unit = map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}[unit]
	default:
		return nil, command.Misusef("--time-unit %q: say s, ms, us or ns", unit)
	}
	if a.prices, err = pricesOf(c, a.table); err != nil {
		return nil, err
	}
	for _, name := range []string{"duration", "idle-timeout", "poll-interval", "commit-interval"} {
		if d := c.Duration(name); d < 0 || d == 0 && command.IsSet(c, name) && name != "duration" {
			return nil, command.Misusef("--%s %v is not positive", name, d)
		}
	}
	if n := c.Int64("count"); n < 0 || n == 0 && command.IsSet(c, "count") {
		return nil, command.Misusef("--count %d: it is at least 1", n)
	}
	if age := c.Duration("part-age"); age < minPartAge || age > maxPartAge {
		return nil, command.Misusef("--part-age %v: say %v to %v", age, minPartAge, maxPartAge)
	}
	return a, nil
}

// open opens the table's store, at the table's parent, and the log's.
func (a *tailAsk) open(ctx context.Context, run string) (_ *opened, err error) {
	o := &opened{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	parent := a.table
	if a.table.IsFolder() {
		parent.Folder, a.queue.Name = filepath.Split(a.table.Folder)
		parent.Folder = filepath.Clean(parent.Folder)
	} else {
		parent.Prefix, a.queue.Name = path.Split(a.table.Prefix)
		parent.Prefix = path.Clean("/" + parent.Prefix)[1:]
	}
	if a.queue.Name == "" {
		return nil, command.Misusef("%s is no table's address: it needs a name below the bucket, as in s3://bucket/table", a.table)
	}
	if o.tables, err = objectstore.OpenAddress(ctx, parent, a.options); err != nil {
		return nil, fmt.Errorf("the table's store: %w", err)
	}
	o.closers = append(o.closers, func() error { return objectstore.Close(o.tables) })
	o.store = rawlog.StoreInfo{Address: a.table.String(), Durability: o.tables.Durability()}
	w := where{store: parent, log: a.log, options: a.options}
	o.noteInsecure(w.insecure(nil, kind{}))
	if err := w.openLog(ctx, o, nil, run); err != nil {
		return nil, fmt.Errorf("the log's store: %w", err)
	}
	return o, nil
}
