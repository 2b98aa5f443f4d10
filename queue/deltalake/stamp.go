package deltalake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/queue"
)

// Stamp says where the rows of a table tell when they were written.
type Stamp struct {
	// Column holds it: of the type timestamp or timestamp_ntz (taken as UTC),
	// or long. Empty for the time of the commit that added the row.
	Column string
	// Unit of a column of type long, which counts since the epoch: a second, a
	// millisecond, a microsecond or a nanosecond.
	Unit time.Duration
}

// The kinds of stamps, as Delivery.BrokerKind has them.
const (
	StampColumn = "column" // a column of the row: what its producer put there
	StampCommit = "commit" // the commit's time, by the clock of its writer
)

// Kind is StampColumn or StampCommit.
func (s *Stamp) Kind() string {
	if s.Column != "" {
		return StampColumn
	}
	return StampCommit
}

// check refuses a unit that is none.
func (s *Stamp) check() error {
	switch s.Unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
		return nil
	}
	return fmt.Errorf("deltalake: the unit of a time stamp is 1s, 1ms, 1us or 1ns, not %v", s.Unit)
}

// fits checks that the table's columns have the stamp.
func (s *Stamp) fits(cs columns, m *metaData) error {
	if s.Column == "" {
		return nil
	}
	kind, ok := cs[s.Column]
	switch {
	case !ok:
		return fmt.Errorf("%w: the table has no column %q for the time stamp, it has: %s", ErrUnsupported, s.Column, cs)
	case kind != "timestamp" && kind != "timestamp_ntz" && kind != "long":
		return fmt.Errorf("%w: the column %q is of type %q, a time stamp is timestamp, timestamp_ntz or long", ErrUnsupported, s.Column, kind)
	case kind == "long" && s.Unit == 0:
		return fmt.Errorf("%w: the column %q is a number, and its unit was not given", ErrUnsupported, s.Column)
	case m.isPartitionColumn(s.Column):
		return fmt.Errorf("%w: the time stamp's column %q is a partition column", ErrUnsupported, s.Column)
	}
	return nil
}

// stampFile gives each of a file's messages its stamp. A null is none.
func (s *Stamp) stampFile(f *parquet.File, body []byte, commitMs int64, messages []queue.Delivery) error {
	if s.Column == "" {
		for i := range messages {
			if commitMs != 0 { // else the log does not tell
				messages[i].BrokerNs, messages[i].BrokerKind = commitMs*int64(time.Millisecond), StampCommit
			}
		}
		return nil
	}
	leaf, ok := f.Schema().Lookup(s.Column)
	if !ok {
		return fmt.Errorf("%w: it has no column %q for the time stamp", ErrCorrupt, s.Column)
	}
	row := 0
	put := func(ns int64, ok bool) {
		if row < len(messages) {
			if ok {
				messages[row].BrokerNs, messages[row].BrokerKind = ns, StampColumn
			}
		}
		row++
	}
	kind := leaf.Node.Type().Kind()
	var err error
	switch kind {
	case parquet.Int64:
		unit := s.unitOf(leaf.Node)
		err = eachChunk(f, body, s.Column, kind, func(c *chunk) error { return c.times(unit, put) })
	case parquet.Int96: // as Spark writes timestamps by default
		err = eachChunk(f, body, s.Column, kind, func(c *chunk) error {
			return c.eachValue(func(v parquet.Value) {
				if v.IsNull() {
					put(0, false)
				} else {
					put(int96Ns(v), true)
				}
			})
		})
	default:
		err = fmt.Errorf("%w: its column %q is of the Parquet type %v, a time stamp is INT64 or INT96", ErrCorrupt, s.Column, kind)
	}
	if err == nil && row != len(messages) {
		err = fmt.Errorf("%w: the column %q has %d rows, the payload %d", ErrCorrupt, s.Column, row, len(messages))
	}
	return err
}

// unitOf is the unit of a column in a file: its own where it has one.
func (s *Stamp) unitOf(n parquet.Node) time.Duration {
	if lt := n.Type().LogicalType(); lt != nil {
		if t, ok := lt.Value.(*format.TimestampType); ok {
			switch t.Unit.Value.(type) {
			case *format.MilliSeconds:
				return time.Millisecond
			case *format.NanoSeconds:
				return time.Nanosecond
			}
			return time.Microsecond
		}
	}
	if s.Unit != 0 {
		return s.Unit
	}
	return time.Microsecond // what the type timestamp of Delta is
}

// times calls yield for each value of a chunk in ns since the epoch; false for
// a null.
func (c *chunk) times(unit time.Duration, yield func(ns int64, ok bool)) error {
	var all []int64 // so that nothing is yielded twice
	err := plainPages(c.body, c.meta, c.optional, c.checked, func(values []byte, n int) error {
		return eachInt64(values, n, func(v int64) { all = append(all, v) })
	})
	if err == nil {
		for _, v := range all {
			yield(v*int64(unit), true)
		}
		return nil
	}
	if !errors.Is(err, errNotPlain) {
		return err
	}
	return c.eachValue(func(v parquet.Value) {
		if v.IsNull() {
			yield(0, false)
		} else {
			yield(v.Int64()*int64(unit), true)
		}
	})
}

// The Julian day of the epoch, and a day.
const (
	julianEpoch = 2440588
	dayNs       = int64(24 * time.Hour)
)

// int96Ns reads the timestamp of Impala and Spark: ns of the day, 8 bytes,
// little-endian, and the Julian day, 4 bytes.
func int96Ns(v parquet.Value) int64 {
	w := v.Int96()
	var b [12]byte
	for i := range 3 {
		binary.LittleEndian.PutUint32(b[4*i:], w[i])
	}
	ofDay := int64(binary.LittleEndian.Uint64(b[:8]))
	return (int64(w[2])-julianEpoch)*dayNs + ofDay
}
