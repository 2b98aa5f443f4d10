//go:build !js

package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/parquettest"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// mostLive is what a reader of a hostile file may hold at any time, bytes.
const mostLive = 200 << 20

// meter looks at the heap now and then: what is alive, not what was allocated.
type meter struct {
	before, peak uint64
	next, calls  int
}

func newMeter() *meter {
	m := &meter{next: 1}
	m.before = live()
	return m
}

func live() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// look measures each call at first, and later ones ever more rarely.
func (m *meter) look() {
	if m.calls++; m.calls >= m.next {
		m.next += 1 + m.next/2
		m.peak = max(m.peak, live())
	}
}

func (m *meter) used() uint64 { return m.peak - min(m.peak, m.before) }

// metered is a source whose objects are looked at as they are opened.
type metered struct {
	rawlog.Source
	m *meter
}

func (s metered) Open(ctx context.Context, name string) (rawlog.Object, error) {
	s.m.look()
	return s.Source.Open(ctx, name)
}

// readMetered reads a log and says what was alive at most.
func readMetered(t *testing.T, name string, src rawlog.Source) (*Digest, error) {
	t.Helper()
	m := newMeter()
	d, err := Read(t.Context(), metered{src, m}, Options{Progress: func(int64, int64) { m.look() }})
	m.peak = max(m.peak, live())
	runtime.KeepAlive(d)
	runtime.KeepAlive(src)
	if m.used() > mostLive {
		t.Errorf("%s: %d MB were held; %v", name, m.used()>>20, err)
	}
	t.Logf("%s: %d MB; %v", name, m.used()>>20, err)
	return d, err
}

// recast is a part that says that it is another one.
func recast(t testing.TB, body []byte, change func(*rawlog.Part)) []byte {
	t.Helper()
	return parquettest.WithFooter(t, body, func(meta *format.FileMetaData) {
		for i, kv := range meta.KeyValueMetadata {
			if kv.Key != rawlog.PartKey {
				continue
			}
			var p rawlog.Part
			if err := json.Unmarshal([]byte(kv.Value), &p); err != nil {
				t.Fatal(err)
			}
			change(&p)
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			meta.KeyValueMetadata[i].Value = string(text)
		}
	})
}

// put adds a part under its own name.
func (s memorySource) part(t testing.TB, body []byte, change func(*rawlog.Part)) {
	var name string
	body = recast(t, body, func(p *rawlog.Part) {
		change(p)
		name = rawlog.PartName(p.Table, p.Step, p.Repeat, p.Actor, p.Index)
	})
	s[name] = body
}

// seedsOf are the parts of a small log of one step, by their table, and its
// manifest without them.
func seedsOf(t testing.TB, r rows) (map[string][]byte, *rawlog.Manifest) {
	src, m := logOf(t, 1<<20, 1000, sec, r)
	out := map[string][]byte{}
	for _, p := range m.Steps[0].Parts {
		out[p.Table] = src[p.Name]
	}
	m.Steps[0].Parts = nil
	return out, m
}

// hostileLogs ask for much more memory than they have bytes. many is of what they
// have many of.
func hostileLogs(t testing.TB, many int) map[string]memorySource {
	small, m := seedsOf(t, oneStep(3))
	logs := map[string]memorySource{}
	make := func(name string, fill func(s memorySource, m *rawlog.Manifest)) {
		s, own := memorySource{}, *m
		own.Steps = append([]rawlog.Step(nil), m.Steps...)
		fill(s, &own)
		s.put(t, &own)
		logs[name] = s
	}
	sent, received := rawlog.Sent.Name, rawlog.Received.Name
	make("many actors", func(s memorySource, m *rawlog.Manifest) {
		m.Steps[0].Producers = many
		for i := range many {
			s.part(t, small[sent], func(p *rawlog.Part) { p.Actor = fmt.Sprintf("producer-%d", i) })
			s.part(t, small[received], func(p *rawlog.Part) { p.Actor = fmt.Sprintf("consumer-%d", i) })
		}
	})
	make("many parts", func(s memorySource, m *rawlog.Manifest) {
		for i := range many {
			s.part(t, small[sent], func(p *rawlog.Part) { p.Index, p.Last = i, i == many-1 })
			s.part(t, small[received], func(p *rawlog.Part) { p.Index, p.Last = i, i == many-1 })
		}
	})
	make("many steps", func(s memorySource, m *rawlog.Manifest) {
		for i := range many {
			s.part(t, small[sent], func(p *rawlog.Part) { p.Step = i })
			s.part(t, small[received], func(p *rawlog.Part) { p.Step = i })
		}
	})
	make("many steps without a part", func(s memorySource, m *rawlog.Manifest) {
		for i := range 20 * many {
			m.Steps = append(m.Steps, rawlog.Step{Step: i + 1, DurationNs: int64(300 * sec)})
		}
	})
	make("many row groups", func(s memorySource, m *rawlog.Manifest) {
		body := parquettest.WithFooter(t, small[sent], func(meta *format.FileMetaData) {
			empty := meta.RowGroups[0]
			empty.NumRows, empty.Columns = 0, append([]format.ColumnChunk(nil), empty.Columns...)
			for i := range empty.Columns {
				empty.Columns[i] = format.ColumnChunk{}
			}
			for range 900 {
				meta.RowGroups = append(meta.RowGroups, empty)
			}
		})
		for i := range max(2, many/20) {
			s.part(t, body, func(p *rawlog.Part) { p.Actor = fmt.Sprintf("producer-%d", i) })
		}
		s.part(t, small[received], func(*rawlog.Part) {})
	})
	return logs
}

// hostileRows are logs of few bytes with many rows, in parts that are copies of
// each other.
func hostileRows(t testing.TB, rowsOfPart, parts int) map[string]memorySource {
	logs := map[string]memorySource{}
	n := int64(rowsOfPart)
	copies := func(name string, table string, r rows, change func(m *rawlog.Manifest)) {
		seeds, m := seedsOf(t, r)
		s := memorySource{}
		for other, body := range seeds {
			if other != table {
				s.part(t, body, func(*rawlog.Part) {})
			}
		}
		for i := range parts {
			s.part(t, seeds[table], func(p *rawlog.Part) { p.Index, p.Last = i, i == parts-1 })
		}
		if change != nil {
			change(m)
		}
		s.put(t, m)
		logs[name] = s
	}
	few := oneStep(100)
	seconds := few
	for range n {
		seconds.seconds = append(seconds.seconds, rawlog.NewSecondRow("process", testStart+1e9))
	}
	copies("seconds", rawlog.Seconds.Name, seconds, nil)
	events := few
	text := strings.Repeat("text", 100)
	for range n / 10 {
		events.events = append(events.events, rawlog.EventRow{TimeNs: testStart, Actor: "process", Kind: "note", Text: text, DurationNs: rawlog.Null})
	}
	copies("events", rawlog.Events.Name, events, nil)
	far := few
	far.batches = []rawlog.BatchRow{{Actor: "producer-0", TimeNs: testStart + maxSeconds*1e9 - 1, Messages: 1, Tries: 1, DataPutNs: 1, CommitPutNs: 1, CommitGetNs: rawlog.Null, DataGetNs: rawlog.Null}}
	far.received = append(append([]rawlog.ReceivedRow(nil), far.received...), rawlog.ReceivedRow{Group: "g", Seq: 100, ReceivedNs: testStart + maxSeconds*1e9 - 1})
	seeds, m := seedsOf(t, far)
	s := memorySource{}
	for i := range parts * 10 {
		for _, body := range seeds {
			s.part(t, body, func(p *rawlog.Part) { p.Step = i })
		}
	}
	s.put(t, m)
	logs["a second far away in each step"] = s
	spread := oneStep(rowsOfPart)
	for i := range spread.received {
		spread.received[i].Partition = int32(i)
		spread.received[i].ReceivedNs += int64(i) * 5e4 // and a latency of its own each
		spread.sent[i].IntendedNs = testStart + int64(i)*1e9/n
	}
	seeds, m = seedsOf(t, spread)
	s = memorySource{}
	for table, body := range seeds {
		for i := range parts {
			s.part(t, body, func(p *rawlog.Part) {
				p.Actor = map[string]string{rawlog.Sent.Name: "producer-", rawlog.Received.Name: "consumer-"}[table] + fmt.Sprint(i)
			})
		}
	}
	m.Queue.Partitions, m.Steps[0].Producers = rowsOfPart, parts
	s.put(t, m)
	logs["a partition for each message"] = s
	return logs
}

// A log of many small things, or of rows that take no bytes, is read or refused,
// and what is held meanwhile has a bound whatever there are many of.
func TestHostileLogsHaveABound(t *testing.T) {
	many, rowsOfPart, parts := 300, 60_000, 8
	if raced {
		many, rowsOfPart, parts = 20, 500, 2
	}
	for name, src := range hostileLogs(t, many) {
		d, err := readMetered(t, name, src)
		if name == "many parts" && (err != nil || d.Steps[0].Accounting.RecordsRejected == 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, src := range hostileRows(t, rowsOfPart, parts) {
		readMetered(t, name, src)
	}
}

// The same of a folder.
func TestHostileFolderHasABound(t *testing.T) {
	src := hostileLogs(t, 200)["many actors"]
	dir := t.TempDir()
	for name, body := range src {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := logstore.Open(t.Context(), dir, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readMetered(t, "a folder of many actors", folder); err != nil {
		t.Error(err)
	}
}

// A digest of few bytes that claims much is refused.
func TestHostileDigestsHaveABound(t *testing.T) {
	text := string(write(t, fineDigest(t)))
	list := func(of string, n int) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	rising := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d,", i)
		}
		return b.String() + fmt.Sprint(n)
	}
	n := 1_000_000 // each is refused
	if raced {
		n = 20_000
	}
	for name, change := range map[string]func(string) string{
		"intervals": func(s string) string {
			s = strings.Replace(s, `"scheduled":[`, `"old":[`, 1)
			return strings.Replace(s, `"edges_ns":[`, `"scheduled":[`+list("0", n)+`],"edges_ns":[`+rising(n)+`],"older":[`, 1)
		},
		"seconds": func(s string) string {
			return strings.Replace(s, `"at_ns":[`, `"at_ns":[`+list("0", n)+`],"old":[`, 1)
		},
		"events": func(s string) string { return strings.Replace(s, `"events":[`, `"events":[`+list("{}", n)+",", 1) },
		"nulls":  func(s string) string { return strings.Replace(s, `"events":[`, `"events":[`+list("null", n)+",", 1) },
		"shares": func(s string) string {
			return strings.Replace(s, `"events":[`, `"breakdown":{"shares":[`+list("{}", n)+`]},"events":[`, 1)
		},
		"stages": func(s string) string {
			return strings.Replace(s, `"events":[`, `"stages":[`+list("{}", n)+`],"events":[`, 1)
		},
		"manifest": func(s string) string {
			return strings.Replace(s, `"warnings":`, `"steps":[`+list("{}", n)+`],"warnings":`, 1)
		},
		"kept": func(s string) string { return strings.Replace(s, `"level_ns":[`, `"level_ns":[`+list("1", n)+",", 1) },
		"many steps": func(s string) string {
			at := strings.Index(s, "#[queuebench.digest/1 step ")
			end := at + strings.Index(s[at:], "\n") + 1
			empty := `#[queuebench.digest/1 step {"step":1,"intervals":{"edges_ns":[0,1],"scheduled":[0]}}]` + "\n"
			return s[:at] + strings.Repeat(empty, n/4) + s[at:end]
		},
	} {
		hostile := change(text)
		if hostile == text {
			t.Errorf("%s: nothing was changed", name)
		}
		m := newMeter()
		d, err := ReadDigest(&lookingReader{strings.NewReader(hostile), m})
		m.peak = max(m.peak, live())
		runtime.KeepAlive(d)
		if err == nil && !raced || m.used() > mostLive {
			t.Errorf("%s: %d bytes held %d MB; %v", name, len(hostile), m.used()>>20, err)
		}
		t.Logf("%s: %d kB, %d MB; %v", name, len(hostile)>>10, m.used()>>20, err)
	}
}

// lookingReader measures as it is read.
type lookingReader struct {
	r io.Reader
	m *meter
}

func (r *lookingReader) Read(p []byte) (int, error) {
	r.m.look()
	return r.r.Read(p)
}

// A manifest of empty objects is refused before they are made.
func TestHostileManifestHasABound(t *testing.T) {
	for _, of := range []string{"{}", "null", `{"parts":[{},{},{}]}`} {
		body := `{"schema":"` + rawlog.SchemaVersion + `","run":"r","steps":[` + strings.Repeat(of+",", 1_000_000/len(of)) + "{}]}"
		before := allocated()
		_, err := rawlog.ReadManifest(strings.NewReader(body))
		if used := allocated() - before; err == nil || used > 32<<20 {
			t.Errorf("%s: %d MB of %d bytes; %v", of, used>>20, len(body), err)
		}
	}
}

// A trend over the seconds of a day compares groups of them, not all pairs.
func TestLongStepsHaveABound(t *testing.T) {
	s := synthStep(t, 0, 1, 2*sec, sec, schedule(2, 1, steady(20*ms)))
	s.Duration = 24 * time.Hour
	s.Intervals[1].End = s.Duration
	for i := range time.Duration(24 * 3600) {
		s.Seconds = append(s.Seconds, Second{At: (i + 1) * sec, Backlog: int64(math.Sqrt(float64(i)))})
	}
	s.Told = []string{"backlog"}
	d := synthDigest(s)
	before := allocated()
	Summarize(d, View{})
	if used := allocated() - before; used > 300<<20 {
		t.Errorf("%d MB were allocated", used>>20)
	}
}
