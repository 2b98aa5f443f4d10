package logwriter

import "queuebench/rawlog"

// layout is how the rows of a table are written. Its columns keep the rows of
// the row group at hand, so each encoder has its own.
type layout[T any] struct {
	table     *rawlog.Table
	columns   []column[T] // in the table's order
	chunkRows int         // rows handed over at a time
	groupRows int         // rows of a row group
}

const (
	// A chunk of the two large tables is 0.6 MB; those of the small ones are
	// filled at some rows a second.
	largeChunk, smallChunk = 8192, 64
	// A row group of the large tables is what dependencies were measured with.
	largeGroup, smallGroup = 65536, 4096
)

type (
	sentRow     = rawlog.SentRow
	receivedRow = rawlog.ReceivedRow
)

// add adds the next column of numbers; null is the number that stands for null
// if the column is optional. The loop over the rows is the caller's, since a
// call for each value costs more than all the rest.
func (l *layout[T]) add(null int64, fill func(dst []int64, rows []T)) {
	l.columns = append(l.columns, newNumbers(l.table.Columns[len(l.columns)], null, fill))
}

// addTexts adds the next column of strings: see texts.
func (l *layout[T]) addTexts(same func(rows []T) (string, int)) {
	l.columns = append(l.columns, newTexts(l.table.Columns[len(l.columns)], same))
}

func sentLayout() layout[sentRow] {
	l := layout[sentRow]{table: &rawlog.Sent, chunkRows: largeChunk, groupRows: largeGroup}
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = int64(rows[i].Producer)
		}
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].Seq
		}
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].IntendedNs
		}
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].SentNs
		}
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].AckedNs
		}
	})
	l.addTexts(func(rows []sentRow) (string, int) {
		first, n := rows[0].Status, 1
		for n < len(rows) && rows[n].Status == first {
			n++
		}
		return first.String(), n
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].BlockedNs
		}
	})
	l.add(-1, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = int64(rows[i].Partition)
		}
	})
	l.add(-1, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].Offset
		}
	})
	l.add(0, func(dst []int64, rows []sentRow) {
		for i := range dst {
			dst[i] = rows[i].BrokerNs
		}
	})
	l.addTexts(func(rows []sentRow) (string, int) {
		first, n := rows[0].BrokerKind, 1
		for n < len(rows) && rows[n].BrokerKind == first {
			n++
		}
		return first, n
	})
	return l
}

func receivedLayout() layout[receivedRow] {
	l := layout[receivedRow]{table: &rawlog.Received, chunkRows: largeChunk, groupRows: largeGroup}
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = int64(rows[i].Consumer)
		}
	})
	l.addTexts(func(rows []receivedRow) (string, int) {
		first, n := rows[0].Group, 1
		for n < len(rows) && rows[n].Group == first {
			n++
		}
		return first, n
	})
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = int64(rows[i].Producer)
		}
	})
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = rows[i].Seq
		}
	})
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = rows[i].ReceivedNs
		}
	})
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = rows[i].BrokerNs
		}
	})
	l.addTexts(func(rows []receivedRow) (string, int) {
		first, n := rows[0].BrokerKind, 1
		for n < len(rows) && rows[n].BrokerKind == first {
			n++
		}
		return first, n
	})
	l.add(-1, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = int64(rows[i].Partition)
		}
	})
	l.add(-1, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = rows[i].Offset
		}
	})
	l.add(0, func(dst []int64, rows []receivedRow) {
		for i := range dst {
			dst[i] = rows[i].PolledNs
		}
	})
	return l
}
