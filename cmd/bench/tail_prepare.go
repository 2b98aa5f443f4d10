package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/deltalake"
	"queuebench/rawlog"
	"queuebench/runner/tailing"
)

// What --time-column takes in the place of a column.
const (
	stampOfCommit = "@commit"
	noStamp       = "@none"
)

// startOf reads --start.
func startOf(text string) (queue.Start, error) {
	kind, value, _ := strings.Cut(text, ":")
	switch kind {
	case "latest", "earliest":
		if text == kind {
			return map[string]queue.Start{"latest": {Kind: queue.StartLatest}, "earliest": {Kind: queue.StartEarliest}}[kind], nil
		}
	case "version":
		if v, err := strconv.ParseInt(value, 10, 64); err == nil && v >= 0 {
			return queue.Start{Kind: queue.StartOffset, Offset: v}, nil
		}
	case "time":
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return queue.Start{Kind: queue.StartTime, Time: t}, nil
		}
	}
	return queue.Start{}, command.Misusef("--start %q: say latest, earliest, version:12 or time:2026-01-02T15:04:05Z", text)
}

// tableWait is between two looks for a table that is not there yet.
const tableWait = 200 * time.Millisecond

// prepare waits for the table, learns what it is like, and opens it as a queue.
func (a *tailAsk) prepare(c *cli.Context, cfg *tailing.Config, show *command.Line) (*deltalake.Queue, error) {
	ctx := c.Context
	look, err := deltalake.New(a.queue)
	if err != nil {
		return nil, command.Misuse(err)
	}
	defer look.Close()
	t, err := a.await(ctx, look, cfg, show, c.Bool("quiet"))
	if err != nil {
		return nil, err
	}
	cfg.Tail = rawlog.Tail{Table: a.table.String(), Present: t.Version, Start: c.String("start")}
	if a.queue.Column, err = payloadColumn(c.String("column"), t); err != nil {
		return nil, err
	}
	cfg.Tail.Column = a.queue.Column
	if err := a.stamp(c.String("time-column"), t, &cfg.Tail); err != nil {
		return nil, err
	}
	q, err := deltalake.New(a.queue)
	if err != nil {
		return nil, command.Misuse(err)
	}
	q.Adopt(look)
	start := a.start
	if start.Kind == queue.StartLatest { // exactly behind what was there
		start = queue.Start{Kind: queue.StartOffset, Offset: t.Version + 1}
	}
	cfg.Retractions = q.Retractions
	cfg.Open = func(ctx context.Context, cc queue.ConsumerConfig) (queue.Consumer, error) {
		cc.Start = start
		return q.Consumer(ctx, cc)
	}
	return q, nil
}

// await looks for the table until it is there, for as long as the tail may last.
func (a *tailAsk) await(ctx context.Context, q *deltalake.Queue, cfg *tailing.Config, show *command.Line, quiet bool) (deltalake.Table, error) {
	begun := time.Now()
	for {
		t, err := q.Inspect(ctx)
		if err == nil || !errors.Is(err, objectstore.ErrNotFound) || errors.Is(err, deltalake.ErrGap) {
			return t, err
		}
		waited := time.Since(begun)
		if cfg.Duration > 0 && waited >= cfg.Duration || cfg.Idle > 0 && waited >= cfg.Idle {
			return t, fmt.Errorf("there was no Delta table at %s within %v: name the folder that has _delta_log in it", a.table, waited.Round(time.Millisecond))
		}
		if !quiet {
			show.Set("waiting for the table %s, for %.0f s", a.table, waited.Seconds())
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(tableWait):
		}
	}
}

// payloadColumn is the column that is asked for, or the one that can be meant.
func payloadColumn(asked string, t deltalake.Table) (string, error) {
	fits := func(name string) bool {
		kind, ok := t.Columns[name]
		return ok && (kind == "binary" || kind == "string") && !slices.Contains(t.PartitionColumns, name)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		if fits(name) {
			all = append(all, name)
		}
	}
	switch {
	case asked != "" && fits(asked):
		return asked, nil
	case asked != "":
		return "", command.Misusef("--column %s: the table has no such column of the type binary or string that lies in its data files; it has %s", asked, columnList(t))
	case fits("data"):
		return "data", nil
	case len(all) == 1:
		return all[0], nil
	}
	return "", command.Misusef("--column is needed: the table has %s", columnList(t))
}

func columnList(t deltalake.Table) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t.Columns)) {
		kind := t.Columns[name]
		if kind == "" {
			kind = "nested"
		}
		if slices.Contains(t.PartitionColumns, name) {
			kind += ", partition column"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", name, kind))
	}
	return strings.Join(parts, ", ")
}

// stamp decides where the stamps come from, and how fine they are.
func (a *tailAsk) stamp(column string, t deltalake.Table, tail *rawlog.Tail) error {
	unit := a.unit
	if column == "" {
		if column = stampOfCommit; t.Retracts {
			column = "time"
		}
	}
	switch column {
	case noStamp:
		return nil
	case stampOfCommit:
		a.queue.Stamp = &deltalake.Stamp{}
		tail.Stamp, tail.ResolutionNs = deltalake.StampCommit, int64(time.Millisecond)
		return nil
	}
	kind, ok := t.Columns[column]
	resolution := time.Microsecond // of timestamp and timestamp_ntz
	switch {
	case !ok:
		return command.Misusef("--time-column %s: the table has %s; say @commit for the time of the commit", column, columnList(t))
	case slices.Contains(t.PartitionColumns, column):
		return command.Misusef("--time-column %s is a partition column: its values are not in the rows", column)
	case kind == "long" && column == "time" && t.Retracts:
		if unit == 0 {
			unit = time.Millisecond
		}
		if resolution = unit; unit == time.Millisecond {
			resolution = 2 * unit // Pathway's times are even
		}
	case kind == "long" && unit == 0:
		return command.Misusef("--time-unit is needed: the column %s is a number, and nothing says whether of s, ms, us or ns", column)
	case kind == "long":
		resolution = unit
	case kind != "timestamp" && kind != "timestamp_ntz":
		return command.Misusef("--time-column %s is of the type %s: a stamp is timestamp, timestamp_ntz or long; the table has %s", column, kind, columnList(t))
	}
	a.queue.Stamp = &deltalake.Stamp{Column: column, Unit: unit}
	tail.Stamp, tail.StampColumn, tail.StampType, tail.ResolutionNs = deltalake.StampColumn, column, kind, int64(resolution)
	return nil
}
