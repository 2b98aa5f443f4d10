package logwriter

import (
	"encoding/json"
	"fmt"
	"time"

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

	parquet   *partWriter
	file      *spoolFile // nil while no part is open
	index     int        // of the open part
	partRows  int
	groupRows int
	// settled is the watermark below which every row has been taken.
	settled int64
	failed  bool
}

// maxGroupBytes ends a row group before its rows do: a reader holds it in
// memory, and texts may be of any length.
const maxGroupBytes = 4 << 20

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
		batch := min(n-e.read, e.layout.groupRows-e.groupRows, e.log.opt.PartRows-e.partRows)
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
	for len(rows) > 0 {
		batch := rows[:min(len(rows), batchRows)]
		rows = rows[len(batch):]
		size := 0
		for _, c := range e.layout.columns {
			c.take(batch)
			size += c.size()
		}
		e.partRows += len(batch)
		e.groupRows += len(batch)
		if e.groupRows == e.layout.groupRows || size > maxGroupBytes {
			if err := e.endGroup(false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *encoder[T]) endGroup(last bool) error {
	rows := e.groupRows
	e.groupRows = 0
	return writeGroup(e.parquet, e.layout.columns, rows, last)
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
	e.parquet.start(f)
	return nil
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
	if e.groupRows > 0 {
		if err := e.endGroup(true); err != nil {
			return info, err
		}
	}
	if err := e.parquet.finish(string(identity)); err != nil {
		return info, err
	}
	info.Bytes, err = e.file.finish()
	e.file = nil
	if err != nil {
		return info, err
	}
	e.partRows = 0
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
