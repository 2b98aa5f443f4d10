package analysis

import (
	"context"
	"fmt"
	"math"

	"queuebench/rawlog"
)

// stream reads the parts of one actor's table one after another, a row group
// at a time.
type stream struct {
	read    *reading
	times   []int // columns that hold a time, as they are read
	columns []string
	// arrange puts the columns that were read where a join has them; nil where
	// they stand there.
	arrange func(read, to []rawlog.Values) []rawlog.Values
	loaded  func(cols []rawlog.Values) // is shown each batch; nil for nobody
	parts   []partRef
	next    int // part
	obj     rawlog.Object
	reader  rawlog.PartReader
	open    bool
	cols    []rawlog.Values
	pos, n  int   // in the batch
	held    int64 // bytes, by the reader
	// alike is the end of rows that were found to be alike; those before single
	// are counted one by one.
	alike, single int
}

// reading is what the streams of a Read share.
type reading struct {
	ctx         context.Context
	src         rawlog.Source
	run         string
	timeline    *timeline
	groups      map[string]int64 // of each process that consumes
	done, total int64            // rows
	memory      budget
	workspace   rawlog.Workspace // of all parts that are read
	progress    func(done, total int64)
	narrowed    bool // the step at hand is read as a span of its own
	// Counters of the step before, for the next one: 17 MB each.
	sending, receiving, tailing []*liveInterval
}

// load makes sure that there is a row at pos. It returns false at the end.
func (s *stream) load() (bool, error) {
	for s.pos >= s.n {
		if err := s.read.ctx.Err(); err != nil {
			return false, err
		}
		if !s.open {
			if s.next == len(s.parts) {
				s.release()
				return false, nil
			}
			if err := s.openPart(); err != nil {
				return false, err
			}
		}
		if s.reader.Next() {
			s.pos, s.n = 0, s.reader.Len()
			if err := s.hold(); err != nil {
				return false, err
			}
			s.alike, s.single = 0, 0
			read := s.reader.Columns()
			for _, column := range s.times {
				s.parts[s.next].shift.all(read[column].Ints[:s.n])
			}
			if s.arrange == nil {
				s.cols = read
			} else {
				s.cols = s.arrange(read, s.cols[:0])
			}
			if s.loaded != nil {
				s.loaded(s.cols)
			}
			s.read.done += int64(s.n)
			if s.read.progress != nil {
				s.read.progress(s.read.done, max(s.read.done, s.read.total))
			}
			continue
		}
		err := s.reader.Err()
		name := s.parts[s.next].name
		s.close()
		s.next++
		if err != nil {
			return false, partError(s.read.src, name, err)
		}
	}
	return true, nil
}

func (s *stream) openPart() error {
	want := &s.parts[s.next]
	obj, err := s.read.src.Open(s.read.ctx, want.name)
	if err != nil {
		return partError(s.read.src, want.name, err)
	}
	s.reader.Share(&s.read.workspace)
	if err := s.reader.Open(obj, s.columns...); err != nil {
		obj.Close()
		return partError(s.read.src, want.name, err)
	}
	if got := s.reader.Part(); got.Run != s.read.run || identityOf(got) != identityOf(want.part) {
		obj.Close()
		return fmt.Errorf("%s: %s is the part %s of the run %q, not what %s says: copy the log again",
			s.read.src.Address(), want.name, identityOf(got), got.Run, rawlog.ManifestName)
	}
	s.obj, s.open = obj, true
	s.read.memory.read += obj.Size()
	return s.hold()
}

// hold counts what the reader holds by now.
func (s *stream) hold() error {
	held := streamBytes + s.reader.Held()
	more := held - s.held
	s.held = held
	if !s.read.memory.take(more) {
		return partError(s.read.src, s.parts[s.next].name, s.read.memory.tooMuch("with the parts of all actors that are read beside it, it"))
	}
	return nil
}

// release gives back what the reader held.
func (s *stream) release() {
	s.read.memory.take(-s.held)
	s.held, s.reader = 0, rawlog.PartReader{}
}

func (s *stream) close() {
	if s.open {
		s.obj.Close()
		s.open = false
	}
	s.pos, s.n = 0, 0
}

// sentStream feeds the rows of a producer to a join.
type sentStream struct {
	stream
	statuses []rawlog.Status // by code; invalid ones are beyond the last
}

const invalidStatus = rawlog.Status(math.MaxUint8)

// head is the time of the next row.
func (s *sentStream) head() int64 { return s.cols[2].Ints[s.pos] }

// advance takes rows up to a time, at least one. The batch may end before.
func (s *sentStream) advance(j *joiner, limit int64) {
	c := s.cols
	producer, seq, intended, sent, acked, blocked := c[0].Ints, c[1].Ints, c[2].Ints, c[3].Ints, c[4].Ints, c[6].Ints
	codes := c[5].Codes
	if s.pos == 0 {
		s.statuses = s.statuses[:0]
		for _, name := range c[5].Dict {
			status, ok := rawlog.StatusOf(name)
			if !ok {
				status = invalidStatus
			}
			s.statuses = append(s.statuses, status)
		}
	}
	for first := s.pos; s.pos < s.n && j.err == nil && (s.pos == first || intended[s.pos] <= limit); s.pos++ {
		if n := s.batch(j, limit); n > 0 {
			s.pos += n - 1
			continue
		}
		i := s.pos
		status := invalidStatus
		if code := codes[i]; code >= 0 {
			status = s.statuses[code]
		}
		if status == invalidStatus {
			j.step.Accounting.RecordsRejected++
			continue
		}
		if len(c) > 7 && j.by != nil {
			j.rowPartition = c[7].Ints[i]
		}
		j.row(producer[i], seq[i], intended[i], sent[i], acked[i], blocked[i], status)
	}
}

// receivedStream feeds the deliveries of a consumer to a join.
type receivedStream struct {
	stream
	groups []int // by code; −1 for one that is not known
	// The highest seq seen, per producer and partition.
	high    map[highKey]*int64
	lastKey highKey
	last    *int64
	polled  int64 // when the last poll was called; 0 before
	number  int64 // of the consumer
	stamp   int64 // the last one
	broker  int64 // the last stamp of the broker
}

type highKey struct {
	producer, partition int64
}

func (s *receivedStream) head() int64 { return s.cols[2].Ints[s.pos] }

func (s *receivedStream) advance(j *joiner, limit int64) {
	c := s.cols
	producer, seq, received, partition, broker, polled := c[0].Ints, c[1].Ints, c[2].Ints, c[4].Ints, c[5].Ints, c[6].Ints
	codes := c[3].Codes
	if s.pos == 0 {
		s.groups = s.groups[:0]
		for _, name := range c[3].Dict {
			s.groups = append(s.groups, j.groupNumber(name))
		}
	}
	j.from = s
	a, stamps := &j.step.Accounting, &j.step.Stamps
	for first := s.pos; s.pos < s.n && j.err == nil && (s.pos == first || received[s.pos] <= limit); s.pos++ {
		if n := s.batch(j); n > 0 {
			s.pos += n - 1
			continue
		}
		i := s.pos
		g := -1
		if code := codes[i]; code >= 0 {
			g = s.groups[code]
		}
		if g < 0 {
			a.RecordsRejected++
			continue
		}
		if received[i] >= j.until {
			continue // beyond the watermark
		}
		if at := polled[i]; at != rawlog.Null && at != s.polled {
			s.polled = at
			j.poll(at, received[i])
		}
		if received[i] != s.stamp {
			s.stamp = received[i]
			stamps.receivedStamp(received[i])
		}
		stamps.Deliveries++
		if b := broker[i]; b != rawlog.Null {
			if stamps.BrokerDeliveries++; b != s.broker {
				s.broker = b
				stamps.brokerStamp(b)
			}
		}
		if j.by != nil {
			j.origin = origin{s.number, partition[i]}
		}
		if !j.delivery(g, producer[i], seq[i], received[i], broker[i]) {
			continue
		}
		last := s.highest(j, highKey{producer[i], partition[i]})
		if seq[i] < *last {
			a.OutOfOrder++
		} else {
			*last = seq[i]
		}
	}
}

// highest is the highest seq seen of a producer and partition, −1 before.
func (s *receivedStream) highest(j *joiner, key highKey) *int64 {
	if s.last == nil || s.lastKey != key {
		if s.high == nil {
			s.high = map[highKey]*int64{}
		}
		s.lastKey, s.last = key, s.high[key]
		if s.last == nil {
			j.hold(highBytes)
			s.last = new(int64)
			*s.last = -1
			s.high[key] = s.last
		}
	}
	return s.last
}

func (j *joiner) groupNumber(name string) int {
	for i, g := range j.groups {
		if g == name {
			return i
		}
	}
	return -1
}
