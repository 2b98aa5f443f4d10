package analysis

import (
	"slices"

	"queuebench/rawlog"
)

// The columns that a join reads, and their positions. The partition of what was
// sent comes last: it is read where there are several.
var (
	sentColumns     = []string{"producer", "seq", "intended_ns", "sent_ns", "acked_ns", "status", "blocked_ns", "partition"}
	receivedColumns = []string{"producer", "seq", "received_ns", "group", "partition", "broker_ns", "polled_ns"}
)

// Of these, what the end-to-end latency and the accounting take.
var (
	sentColumnsOnly     = []string{"producer", "seq", "intended_ns", "status"}
	receivedColumnsOnly = []string{"producer", "seq", "received_ns", "group", "partition"}
)

// open opens the streams of a step, each at its first row.
func (r *reading) open(s *stepParts, partitions, only bool) (sent []*sentStream, received []*receivedStream, err error) {
	columns := sentColumns
	if !partitions {
		columns = columns[:len(columns)-1]
	}
	for _, actor := range s.actors(rawlog.Sent.Name) {
		x := &sentStream{stream: stream{read: r, columns: columns, times: []int{2, 3, 4}, parts: s.tables[rawlog.Sent.Name][actor]}}
		if only {
			x.columns, x.times, x.arrange = sentColumnsOnly, []int{2}, sentOnly()
		}
		ok, err := x.load()
		if err != nil {
			return sent, received, err
		}
		if ok {
			sent = append(sent, x)
		}
	}
	for i, actor := range s.actors(rawlog.Received.Name) {
		x := &receivedStream{number: int64(i), stream: stream{read: r, columns: receivedColumns, times: []int{2}, parts: s.tables[rawlog.Received.Name][actor]}}
		if only {
			x.columns, x.arrange = receivedColumnsOnly, receivedOnly()
		}
		ok, err := x.load()
		if err != nil {
			return sent, received, err
		}
		if ok {
			received = append(received, x)
		}
	}
	return sent, received, nil
}

// sentOnly stands the intended time for the times that were not read, and nobody
// waited. What comes of that is dropped, see keepEndToEnd.
func sentOnly() func(read, to []rawlog.Values) []rawlog.Values {
	zeros := rawlog.Values{Ints: make([]int64, rawlog.MaxBatchRows), Same: true}
	return func(read, to []rawlog.Values) []rawlog.Values {
		return append(to, read[0], read[1], read[2], read[2], read[2], read[3], zeros)
	}
}

// receivedOnly stands nulls for the stamps that were not read.
func receivedOnly() func(read, to []rawlog.Values) []rawlog.Values {
	nulls := rawlog.Values{Ints: slices.Repeat([]int64{rawlog.Null}, rawlog.MaxBatchRows), Same: true}
	return func(read, to []rawlog.Values) []rawlog.Values { return append(append(to, read[:5]...), nulls, nulls) }
}

// headRows are looked at to tell what a stream has.
const headRows = 1 << 16

// firstRows calls f for a column of a stream's first rows, some thousand at a
// time.
func (s *stream) firstRows(column int, f func(values []int64)) error {
	ref := &s.parts[s.next]
	obj, err := s.read.src.Open(s.read.ctx, ref.name)
	if err != nil {
		return partError(s.read.src, ref.name, err)
	}
	defer obj.Close()
	var r rawlog.PartReader
	if err := r.Open(obj, s.columns[column]); err != nil {
		return partError(s.read.src, ref.name, err)
	}
	for rows := 0; rows < headRows && r.Next(); rows += r.Len() {
		values := r.Columns()[0].Ints[:r.Len()]
		if slices.Contains(s.times, column) {
			ref.shift.all(values)
		}
		f(values)
	}
	if err := r.Err(); err != nil {
		return partError(s.read.src, ref.name, err)
	}
	return nil
}
