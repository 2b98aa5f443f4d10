package merge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

const start = int64(1_700_000_000e9)

// memory is a log in memory, which logwriter writes and analysis reads.
type memory struct {
	objectstore.Store // nil: nothing else is called
	name              string
	mu                sync.Mutex
	objects           map[string][]byte
}

func (m *memory) Put(_ context.Context, key string, body []byte, _ objectstore.PutOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = slices.Clone(body)
	return nil
}

func (m *memory) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt objectstore.PutOptions) error {
	body := make([]byte, size)
	if _, err := r.ReadAt(body, 0); err != nil && err != io.EOF {
		return err
	}
	return m.Put(ctx, key, body, opt)
}

type source struct{ *memory }

func (s source) List(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(s.objects)), nil
}
func (s source) Address() string { return s.name }
func (s source) Open(_ context.Context, name string) (rawlog.Object, error) {
	b, ok := s.objects[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return rawlog.Memory(b), nil
}

// made is a run that never was.
type made struct {
	name    string
	begins  time.Duration // on the true axis, since start
	rate    float64
	long    time.Duration
	steps   int           // 1 if 0
	pause   time.Duration // between steps
	latency func(i int) time.Duration
	lose    func(i int) bool
	twice   func(i int) bool
	clock   clock.Identity
	skew    time.Duration // what its clock shows more
	change  func(m *rawlog.Manifest)
	killed  bool // no entry of its steps in the manifest
}

// message is one as it truly was, on the true axis.
type message struct {
	step               int
	intended, received int64 // received 0 where it was lost
	twice              bool
}

func (r made) messages() (all []message) {
	for step := range max(1, r.steps) {
		for i := range int(r.rate * r.long.Seconds()) {
			at := start + int64(r.begins) + int64(step)*int64(r.long+r.pause) + int64(float64(i)/r.rate*1e9)
			m := message{step: step, intended: at, received: at + int64(r.latency(i)), twice: r.twice != nil && r.twice(i)}
			if r.lose != nil && r.lose(i) {
				m.received, m.twice = 0, false
			}
			all = append(all, m)
		}
	}
	return all
}

// log writes the run through the real writer.
func (r made) log(t testing.TB) source {
	t.Helper()
	mem := &memory{name: "memory:" + r.name, objects: map[string][]byte{}}
	l, err := logwriter.New(logwriter.Options{Store: mem, Run: r.name, Clock: r.clock, SpoolDir: t.TempDir(), PartRows: 700, PartAge: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: r.name, Complete: !r.killed, StartedNs: start + int64(r.begins+r.skew), EndedNs: start + int64(r.begins+r.skew+r.long),
		Clock: r.clock, Host: rawlog.Host{Name: r.clock.Host, OS: "linux", Arch: "amd64", CPUs: 2}, Queue: queue.Info{Kind: "kafka", Partitions: 1, LosesNothing: true}, Settings: map[string]string{"brokers": "b:9092", "rate": fmt.Sprint(r.rate)}}
	all := r.messages()
	for step := range max(1, r.steps) {
		sent, received := l.Sent(step, 0, "producer-0"), l.Received(step, 0, "consumer-0")
		e := rawlog.Step{Step: step, Rate: r.rate, Settings: map[string]string{}, StartedNs: start + int64(r.begins+r.skew) + int64(step)*int64(r.long+r.pause), DurationNs: int64(r.long),
			Producers: 1, Groups: []string{"group-0"}, Complete: true}
		e.DeadlineNs = e.StartedNs + e.DurationNs + 10e9
		a := &e.Accounting
		seq := int64(0)
		var rows []rawlog.ReceivedRow
		for _, x := range all {
			if x.step != step {
				continue
			}
			at := x.intended + int64(r.skew)
			sent.SetWatermark(at)
			sent.Append(rawlog.SentRow{Seq: seq, IntendedNs: at, SentNs: at, AckedNs: at + 1000, Status: rawlog.Acked, Partition: 0, Offset: seq})
			a.Scheduled, a.Attempted, a.Acked = a.Scheduled+1, a.Attempted+1, a.Acked+1
			row := rawlog.ReceivedRow{Group: "group-0", Seq: seq, ReceivedNs: x.received + int64(r.skew), Offset: seq}
			switch {
			case x.received == 0:
				a.Lost++
			case x.twice:
				a.Duplicates++
				later := row
				later.ReceivedNs += 1e6
				rows = append(rows, row, later)
				a.Received++
			default:
				rows = append(rows, row)
				a.Received++
			}
			seq++
		}
		slices.SortStableFunc(rows, func(a, b rawlog.ReceivedRow) int { return int(a.ReceivedNs - b.ReceivedNs) })
		high, seen := int64(-1), map[int64]bool{}
		for _, row := range rows {
			if !seen[row.Seq] && row.Seq < high {
				a.OutOfOrder++
			}
			seen[row.Seq], high = true, max(high, row.Seq)
			received.SetWatermark(row.ReceivedNs)
			received.Append(row)
		}
		batches := l.Batches(step, 0, "process")
		for at := int64(0); at < e.DurationNs; at += 100e6 {
			batches.Append(rawlog.BatchRow{Actor: "producer-0", TimeNs: e.StartedNs + at, Messages: 10, Bytes: 1000 + at/1e6, Tries: 1, CommitPutNs: 2e6 + at/1000, DataPutNs: 1e6,
				WaitNs: rawlog.Null, EncodeNs: rawlog.Null, DiscoverNs: rawlog.Null, CommitGetNs: rawlog.Null, DataGetNs: rawlog.Null, DecodeNs: rawlog.Null, DeliverNs: rawlog.Null})
		}
		m.Steps = append(m.Steps, e)
	}
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range m.Steps {
		m.Steps[i].Parts = l.Parts(i, 0)
	}
	if r.killed {
		m.Steps = []rawlog.Step{}
	}
	if r.change != nil {
		r.change(m)
	}
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	mem.objects[m.Name()] = body
	return source{mem}
}

func sourcesOf(t testing.TB, runs ...made) (all []rawlog.Source) {
	for _, r := range runs {
		all = append(all, r.log(t))
	}
	return all
}
