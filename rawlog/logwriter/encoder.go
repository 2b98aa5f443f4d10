package logwriter

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"queuebench/rawlog"
)

// encoder turns what a Writer takes into closed parts. One goroutine runs it.
type encoder[T any] struct {
	log    *Log
	w      *Writer[T]
	layout layout[T]
	key    streamKey

	chunk *chunk[T] // being read
	read  int       // rows of it that were taken

	parquet *parquet.GenericWriter[any] // used by columns only
	columns []*parquet.ColumnWriter
	values  []parquet.Value

	file      *spoolFile // nil while no part is open
	index     int        // of the open part
	partRows  int
	groupRows int
	// settled is the watermark below which every row has been taken.
	settled int64
	failed  bool
}

// batchRows is how many rows are turned into values at a time: 24 kB of them.
const batchRows = 1024

func (e *encoder[T]) run(firstTick time.Duration) {
	timer := time.NewTimer(firstTick)
	defer timer.Stop()
	for {
		select {
		case next := <-e.w.filling:
			e.startChunk(next)
			e.take()
		case <-timer.C:
			timer.Reset(e.log.opt.PartAge)
			e.take()
			if e.partRows > 0 {
				e.closePart(false)
			}
		case <-e.w.closed:
			e.take()
			e.closePart(true)
			return
		}
	}
}

// startChunk finishes the chunk at hand, which is full since another was begun.
func (e *encoder[T]) startChunk(next *chunk[T]) {
	if e.chunk != nil {
		e.takeRows(int(e.chunk.n.Load()))
		e.chunk.n.Store(0)
		e.w.free <- e.chunk // never waits: it has room for every chunk
	}
	e.chunk, e.read = next, 0
}

// take takes every row that is there. What the watermark promised before has
// then been taken.
func (e *encoder[T]) take() {
	watermark := e.w.watermark.Load()
	for {
		if e.chunk != nil {
			e.takeRows(int(e.chunk.n.Load()))
			if e.read < len(e.chunk.rows) {
				break
			}
		}
		select {
		case next := <-e.w.filling:
			e.startChunk(next)
			continue
		default:
		}
		break
	}
	e.settled = max(e.settled, watermark)
}

// takeRows takes the rows of the chunk up to n.
func (e *encoder[T]) takeRows(n int) {
	for e.read < n {
		// The limits of row group and part fall between two batches.
		batch := min(n-e.read, batchRows, e.layout.groupRows-e.groupRows, e.log.opt.PartRows-e.partRows)
		rows := e.chunk.rows[e.read : e.read+batch]
		e.read += batch
		if e.failed {
			e.log.counts.discarded.Add(int64(batch))
			continue
		}
		start := time.Now()
		err := e.write(rows)
		e.log.counts.encodeNs.Add(int64(time.Since(start)))
		if err != nil {
			e.fail(err)
			e.log.counts.discarded.Add(int64(batch))
			continue
		}
		e.log.counts.rows.Add(int64(batch))
		if e.partRows == e.log.opt.PartRows {
			e.closePart(false)
		}
	}
}

func (e *encoder[T]) write(rows []T) error {
	if err := e.openPart(); err != nil {
		return err
	}
	values := e.values[:len(rows)]
	for i, c := range e.layout.columns {
		c.fill(values, rows, i)
		if _, err := e.columns[i].WriteRowValues(values); err != nil {
			return err
		}
	}
	e.partRows += len(rows)
	e.groupRows += len(rows)
	if e.groupRows == e.layout.groupRows {
		e.groupRows = 0
		return e.parquet.Flush()
	}
	return nil
}

func (e *encoder[T]) openPart() error {
	if e.file != nil {
		return nil
	}
	f, err := e.log.spool.create(e.key.partName(e.index))
	if err != nil {
		return err
	}
	e.file = f
	if e.parquet == nil {
		e.parquet = newParquetWriter(f, e.layout.table, e.layout.groupRows)
		e.values = make([]parquet.Value, batchRows)
	} else {
		e.parquet.Reset(f)
	}
	e.columns = e.parquet.ColumnWriters()
	return nil
}

func newParquetWriter(f *spoolFile, table *rawlog.Table, groupRows int) *parquet.GenericWriter[any] {
	options := []parquet.WriterOption{
		schemaOf(table),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.DataPageVersion(1),
		parquet.DataPageStatistics(false),
		parquet.CreatedBy("queuebench", "", ""),
		// Large enough that a column has one page in a row group: an optional
		// value takes 13 bytes in its buffer.
		parquet.PageBufferSize(14 * groupRows),
	}
	// No SkipPageBounds: it writes bounds of zero, by which a reader skips rows.
	return parquet.NewGenericWriter[any](f, options...)
}

// closePart closes the open part. The last one is written even if no row is in
// it, so that a reader can tell an actor that had ended from one that died.
func (e *encoder[T]) closePart(last bool) {
	if e.failed {
		return
	}
	start := time.Now()
	info, err := e.finishPart(last)
	e.log.counts.encodeNs.Add(int64(time.Since(start)))
	if err != nil {
		e.fail(err)
		return
	}
	e.log.partClosed(e.key, info)
}

func (e *encoder[T]) finishPart(last bool) (rawlog.PartInfo, error) {
	if err := e.openPart(); err != nil {
		return rawlog.PartInfo{}, err
	}
	info := rawlog.PartInfo{
		Name: e.key.partName(e.index),
		Rows: int64(e.partRows),
		Part: rawlog.Part{
			Schema: rawlog.SchemaVersion, Run: e.log.opt.Run, Table: e.layout.table.Name,
			Step: e.key.step, Repeat: e.key.repeat, Actor: e.key.actor, Index: e.index,
			Clock: e.log.opt.Clock, WatermarkNs: e.settled, Last: last,
		},
	}
	identity, err := json.Marshal(info.Part)
	if err != nil {
		return info, err
	}
	e.parquet.SetKeyValueMetadata(rawlog.PartKey, string(identity))
	if err := e.parquet.Close(); err != nil {
		return info, err
	}
	info.Bytes, err = e.file.finish()
	e.file = nil
	if err != nil {
		return info, err
	}
	e.partRows, e.groupRows = 0, 0
	e.index++
	return info, nil
}

// fail gives the open part up. Those that were closed stay.
func (e *encoder[T]) fail(err error) {
	e.failed = true
	if e.file != nil {
		e.file.discard()
		e.file = nil
	}
	e.log.counts.discarded.Add(int64(e.partRows))
	e.log.counts.rows.Add(-int64(e.partRows))
	e.partRows, e.groupRows = 0, 0
	e.log.fail(fmt.Errorf("raw log: writing %s in the spool %s: %w: make room or choose another spool; the parts that were closed before are readable",
		e.key.partName(e.index), e.log.opt.SpoolDir, err))
}
