package deltalake

import (
	"fmt"
	"slices"
	"strings"
)

// readerFeatures are the reader features (reader version 3) that do not change
// how a queue's rows are read.
var readerFeatures = []string{"timestampNtz", "vacuumProtocolCheck", v2Checkpoint}

// v2Checkpoint is the feature of a table whose checkpoints may have a UUID in
// their name, be JSON, and have their files in sidecars.
const v2Checkpoint = "v2Checkpoint"

// writerFeatures are the features (writer version 7) that a blind append keeps
// by itself.
var writerFeatures = []string{"appendOnly", "invariants", "timestampNtz", "vacuumProtocolCheck"}

func (p *protocol) checkReader() error {
	switch {
	case p.MinReaderVersion == 2:
		return fmt.Errorf("%w: reader version 2 (columnMapping)", ErrUnsupported)
	case p.MinReaderVersion < 1 || p.MinReaderVersion > 3:
		return fmt.Errorf("%w: reader version %d", ErrUnsupported, p.MinReaderVersion)
	}
	return unknown("reader", p.ReaderFeatures, readerFeatures)
}

func (p *protocol) checkWriter() error {
	if err := p.checkReader(); err != nil {
		return err
	}
	switch {
	case p.MinWriterVersion >= 1 && p.MinWriterVersion <= 2:
		return nil
	case p.MinWriterVersion == 7:
		return unknown("writer", p.WriterFeatures, writerFeatures)
	}
	return fmt.Errorf("%w: writer version %d", ErrUnsupported, p.MinWriterVersion)
}

func unknown(side string, features, known []string) error {
	var names []string
	for _, f := range features {
		if !slices.Contains(known, f) {
			names = append(names, f)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: the %s feature %s", ErrUnsupported, side, strings.Join(names, ", "))
	}
	return nil
}

// checkTable refuses metaData whose files this package would misread.
func (m *metaData) checkTable() error {
	if p := m.Format.Provider; p != "parquet" {
		return fmt.Errorf("%w: data files of the format %q", ErrUnsupported, p)
	}
	if mode := m.Configuration["delta.columnMapping.mode"]; mode != "" && mode != "none" {
		return fmt.Errorf("%w: columnMapping (mode %q)", ErrUnsupported, mode)
	}
	return nil
}

// payload checks that a column holds payloads, and tells the table's columns.
func (m *metaData) payload(column string) (columns, error) {
	cs, err := parseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	kind, ok := cs[column]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: the table has no column %q for the payload, it has: %s", ErrUnsupported, column, cs)
	case kind != "binary" && kind != "string":
		return nil, fmt.Errorf("%w: the column %q is of type %q, a payload is binary or string", ErrUnsupported, column, kind)
	case m.isPartitionColumn(column):
		return nil, fmt.Errorf("%w: the payload column %q is a partition column", ErrUnsupported, column)
	}
	return cs, nil
}

// isPartitionColumn: its values stand in the log, not in the data files.
func (m *metaData) isPartitionColumn(name string) bool {
	return slices.Contains(m.PartitionColumns, name)
}

// checkQueue refuses what a tail of a queue cannot follow.
func (c *commit) checkQueue() error {
	for i := range c.removes {
		if r := &c.removes[i]; r.DataChange {
			return fmt.Errorf("%w: version %d removes %s", ErrNotAppendOnly, c.version, r.Path)
		}
	}
	for i := range c.adds {
		if a := &c.adds[i]; len(a.DeletionVector) > 0 && string(a.DeletionVector) != "null" {
			return fmt.Errorf("%w: deletionVectors (version %d, %s)", ErrUnsupported, c.version, a.Path)
		}
	}
	return nil
}
