package logwriter

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/rawlog"
)

// Options are what a log is opened with.
type Options struct {
	Store    objectstore.Store // at the run's prefix
	Run      string            // run id
	Clock    clock.Identity    // of the process that appends
	SpoolDir string            // of this run alone; made if it is not there

	PartAge  time.Duration // a part is closed after so long; 0 for 5 s
	PartRows int           // or after so many rows; 0 for 2^20
	// BacklogRows is how many rows of one writer may wait for its encoder
	// before Append waits; 0 for 2^19.
	BacklogRows int

	// FailingFor is for how long every upload must have failed, for any reason, before
	// CloseStep and Close wait for the store no more; 0 for as long as their contexts.
	FailingFor time.Duration

	// Strike takes secrets out of the texts that others made, those of events and
	// in the manifest, should one hold a secret against all care; nil for none.
	Strike func(string) string

	// FirstIndex is the index of the first part of an actor's table: 0, but
	// where a run goes on that has parts already. Nil for 0.
	FirstIndex func(table string, step, repeat int, actor string) int
}

// Log is the raw log of a run. Its methods may be called from any goroutine.
type Log struct {
	opt    Options
	spool  spool
	counts counts
	zstd   *zstd.Encoder // of all encoders
	// refusedFor is the constant of this name; tests make it shorter.
	refusedFor time.Duration

	mu      sync.Mutex
	err     error // the first that made the log fail
	failed  chan struct{}
	closed  bool
	streams map[streamKey]*stream
	phase   float64 // of the next writer's first tick, in parts of PartAge

	encoders  sync.WaitGroup
	uploads   *uploads
	manifests sync.Mutex
}

// stream is one writer and what became of its rows.
type stream struct {
	close   func()        // closes the writer
	encoded chan struct{} // closed when its last part is closed, or given up
	parts   []*part
}

// part is a closed part on its way to the store.
type part struct {
	info   rawlog.PartInfo
	done   chan struct{} // closed when it is stored, or given up
	stored bool          // valid once done is closed
}

func (p *part) isStored() bool {
	select {
	case <-p.done:
		return p.stored
	default:
		return false
	}
}

// streamKey tells writers apart.
type streamKey struct {
	table  string
	step   int
	repeat int
	actor  string
}

func (k streamKey) partName(index int) string {
	return rawlog.PartName(k.table, k.step, k.repeat, k.actor, index)
}

// New opens a log. It makes the spool folder and touches nothing in the store.
func New(opt Options) (*Log, error) {
	opt.PartAge = cmp.Or(opt.PartAge, 5*time.Second)
	opt.PartRows = cmp.Or(opt.PartRows, 1<<20)
	opt.BacklogRows = cmp.Or(opt.BacklogRows, 1<<19)
	switch {
	case opt.Store == nil:
		return nil, errors.New("raw log: no store is given")
	case opt.SpoolDir == "":
		return nil, errors.New("raw log: no spool folder is given")
	case opt.PartAge < 0 || opt.PartRows < 0 || opt.BacklogRows < 0:
		return nil, fmt.Errorf("raw log: age %v, rows %d or backlog %d of a part is negative", opt.PartAge, opt.PartRows, opt.BacklogRows)
	}
	if err := os.MkdirAll(opt.SpoolDir, 0o755); err != nil {
		return nil, fmt.Errorf("raw log: making the spool folder: %w", err)
	}
	z, err := newCompressor()
	if err != nil {
		return nil, fmt.Errorf("raw log: %w", err)
	}
	l := &Log{
		opt:        opt,
		zstd:       z,
		refusedFor: refusedFor,
		spool:      spool{dir: opt.SpoolDir},
		failed:     make(chan struct{}),
		streams:    make(map[streamKey]*stream),
	}
	l.uploads = startUploads(l)
	return l, nil
}

// Sent opens a writer for an actor's rows in a repeat of a step. Each of step,
// repeat and actor has one writer per table; it is to be closed.
func (l *Log) Sent(step, repeat int, actor string) *SentWriter {
	return open(l, sentLayout(), step, repeat, actor)
}

// Received is Sent for the table received.
func (l *Log) Received(step, repeat int, actor string) *ReceivedWriter {
	return open(l, receivedLayout(), step, repeat, actor)
}

// Seconds is Sent for the table seconds.
func (l *Log) Seconds(step, repeat int, actor string) *SecondsWriter {
	return open(l, secondsLayout(), step, repeat, actor)
}

// Batches is Sent for the table batches.
func (l *Log) Batches(step, repeat int, actor string) *BatchesWriter {
	return open(l, batchesLayout(), step, repeat, actor)
}

// Events is Sent for the table events.
func (l *Log) Events(step, repeat int, actor string) *EventsWriter {
	return open(l, eventsLayout(l.opt.Strike), step, repeat, actor)
}

// actorName is what may stand in a part's name.
var actorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func open[T any](l *Log, layout layout[T], step, repeat int, actor string) *Writer[T] {
	w := newWriter[T](layout.chunkRows, l.opt.BacklogRows, &l.counts)
	e := &encoder[T]{log: l, w: w, layout: layout, parquet: newPartWriter(layout.table, l.zstd), key: streamKey{layout.table.Name, step, repeat, actor}}
	if l.opt.FirstIndex != nil {
		e.index = l.opt.FirstIndex(e.key.table, step, repeat, actor)
	}
	s := &stream{close: w.Close, encoded: make(chan struct{})}

	l.mu.Lock()
	defer l.mu.Unlock()
	var mistake error
	if _, twice := l.streams[e.key]; twice {
		mistake = fmt.Errorf("raw log: the writer of %s was opened twice", e.key.partName(0))
	} else if l.closed {
		mistake = fmt.Errorf("raw log: a writer of %s was opened after the log was closed", e.key.partName(0))
	} else if !actorName.MatchString(actor) {
		mistake = fmt.Errorf("raw log: %q is no name for an actor: use letters, digits, dot, dash and underscore", actor)
	}
	if mistake != nil {
		l.failLocked(mistake)
		w.dead = true
		return w
	}
	l.streams[e.key] = s
	// Parts of several writers are not closed at the same moment: each begins
	// at another point of the period.
	_, l.phase = math.Modf(l.phase + 0.6180339887)
	first := time.Duration((0.1 + 0.9*l.phase) * float64(l.opt.PartAge))
	l.encoders.Go(func() {
		defer close(s.encoded)
		e.run(first)
	})
	return w
}

// partClosed takes a part that lies in the spool.
func (l *Log) partClosed(key streamKey, info rawlog.PartInfo) {
	p := &part{info: info, done: make(chan struct{})}
	l.counts.parts.Add(1)
	l.counts.bytes.Add(info.Bytes)
	l.mu.Lock()
	s := l.streams[key]
	s.parts = append(s.parts, p)
	l.mu.Unlock()
	l.uploads.add(p)
}

// Parts are the closed parts of a repeat, in order of table, actor and index.
// After CloseStep they are all of them, and stored.
func (l *Log) Parts(step, repeat int) []rawlog.PartInfo {
	infos := []rawlog.PartInfo{}
	for _, p := range l.partsOf(step, repeat) {
		infos = append(infos, p.info)
	}
	slices.SortFunc(infos, func(a, b rawlog.PartInfo) int {
		return cmp.Or(cmp.Compare(tableOrder(a.Table), tableOrder(b.Table)), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Index, b.Index))
	})
	return infos
}

func tableOrder(name string) int {
	return slices.IndexFunc(rawlog.Tables, func(t *rawlog.Table) bool { return t.Name == name })
}

func (l *Log) partsOf(step, repeat int) []*part {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []*part
	for key, s := range l.streams {
		if key.step == step && key.repeat == repeat {
			parts = append(parts, s.parts...)
		}
	}
	return parts
}

// Err is the error that made the log fail, or nil: rows are discarded since.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Failed is closed when the log fails.
func (l *Log) Failed() <-chan struct{} { return l.failed }

func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failLocked(err)
}

func (l *Log) failLocked(err error) {
	if l.err == nil {
		l.err = err
		close(l.failed)
	}
}
