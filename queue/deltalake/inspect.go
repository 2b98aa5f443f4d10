package deltalake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"queuebench/objectstore"
)

// Table is what a table is like as of a version.
type Table struct {
	Version int64 // the newest
	// Columns are its columns' types by name; a nested type is "".
	Columns          map[string]string
	PartitionColumns []string
	// Retracts: it marks rows as added and taken back, as Pathway does: its
	// column diff is −1 where a row is taken back.
	Retracts bool
}

// Inspect tells what the table of a queue of one partition is like, from its
// log. One that is not there yet is objectstore.ErrNotFound; one that this
// package cannot read is ErrUnsupported. A consumer that is then opened behind
// the version need not read the log again.
func (q *Queue) Inspect(ctx context.Context) (Table, error) {
	if err := q.probed(ctx); err != nil {
		return Table{}, err
	}
	t := q.tables[0]
	s, err := t.snapshot(ctx)
	if err != nil {
		return Table{}, err
	}
	fail := func(err error) (Table, error) {
		return Table{}, fmt.Errorf("deltalake: table %s: %w", t.name, err)
	}
	if err := s.protocol.checkReader(); err != nil {
		return fail(err)
	}
	if err := s.metaData.checkTable(); err != nil {
		return fail(err)
	}
	cs, err := parseSchema(s.metaData.SchemaString)
	if err != nil {
		return fail(err)
	}
	t.inspected.Store(s)
	return Table{Version: s.version, Columns: maps.Clone(cs), PartitionColumns: slices.Clone(s.metaData.PartitionColumns), Retracts: cs.retracts()}, nil
}

// Retractions is how many rows with a negative diff the consumers have met,
// which are no messages.
func (q *Queue) Retractions() int64 { return q.retractions.Load() }

// errReadOnly refuses what would write to a table of others.
var errReadOnly = errors.New("deltalake: the queue was opened to be read only")

// mayWrite refuses a queue that is read only.
func (q *Queue) mayWrite() error {
	if q.cfg.ReadOnly {
		return errReadOnly
	}
	return nil
}

// probe asks whether the store is fit. Who only reads needs no conditional PUT,
// and writes nothing.
func (q *Queue) probe(ctx context.Context) error {
	if q.cfg.ReadOnly {
		return objectstore.ProbeRead(ctx, q.cfg.Store, q.cfg.Name+".probe")
	}
	// Beside the table, so that no reader of it meets the probe's object.
	return objectstore.Probe(ctx, q.cfg.Store, q.cfg.Name+".probe")
}

// Adopt takes over what another queue of the same table found with Inspect.
func (q *Queue) Adopt(other *Queue) { q.tables[0].inspected.Store(other.tables[0].inspected.Load()) }
