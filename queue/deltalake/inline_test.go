package deltalake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

// inlined is a table of commits of 5 messages, with copies of files of up to so
// many bytes; it returns its store.
func inlined(t *testing.T, bytes int64, commits int) objectstore.Store {
	t.Helper()
	s := folder(t)
	l := newLoad(t, open(t, Config{Store: s, Name: "table", InlineBytes: bytes, CommitInterval: 2 * time.Millisecond}), 1)
	ctx := deadline(t)
	for n := 0; n < 5*commits; n += 5 {
		if err := l.send(ctx, n, n+5, 0); err != nil {
			t.Fatal(err)
		}
		if err := l.p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	l.p.Close()
	return s
}

// With a copy no data file is fetched, and each is there all the same, before
// its commit; files that are too large are not copied.
func TestInlinePayloadSavesTheGet(t *testing.T) {
	const commits = 6
	for _, c := range []struct{ limit, gets int64 }{{MaxInlineBytes, 0}, {10, commits}} {
		s := inlined(t, c.limit, commits)
		f, faults := withFaults(s)
		q := open(t, Config{Store: f, Name: "table"})
		var traces []queue.Trace
		sink := newSinkWith(t, q, queue.ConsumerConfig{Group: "g", Trace: func(tr queue.Trace) { traces = append(traces, tr) }})
		if err := sink.receive(deadline(t), 5*commits, 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		sink.checkOnce(t, 1, 5*commits)
		if n := faults.count("GET", "part-"); int64(n) != c.gets {
			t.Errorf("limit %d: %d GETs of data, expected %d", c.limit, n, c.gets)
		}
		for _, tr := range traces {
			if tr.Has[queue.StageDataGet] == (c.gets == 0) || !tr.Has[queue.StageDecode] || tr.Messages != 5 {
				t.Errorf("limit %d: trace %+v", c.limit, tr)
			}
		}
		// Who does not know of copies finds the table whole.
		tb := q.tables[0]
		snap, err := tb.snapshot(t.Context())
		if err != nil || len(snap.files) != commits {
			t.Fatalf("%v, %+v", err, snap)
		}
		for _, a := range snap.files {
			if body, err := tb.get(t.Context(), a.Path); err != nil || int64(len(body)) != a.Size {
				t.Errorf("%s: %d bytes, %v", a.Path, len(body), err)
			}
		}
		body, err := tb.get(t.Context(), versionKey(1))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(body) {
			if !json.Valid(line) {
				t.Errorf("no JSON: %s", line)
			}
		}
	}
}

// A copy that is not what it says is not believed: the data file is read, and it
// is told.
func TestInlinePayloadThatIsWrong(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"another byte": func(s string) string {
			i := strings.Index(s, `inlineData":"`) + 20
			return s[:i] + flip(s[i]) + s[i+1:]
		},
		"no base64":       func(s string) string { return strings.Replace(s, `inlineData":"`, `inlineData":"!`, 1) },
		"cut":             func(s string) string { i := strings.Index(s, `inlineData":"`) + 13; return s[:i] + s[i+8:] },
		"another size":    func(s string) string { return strings.Replace(s, `,"sha256"`, `1,"sha256"`, 1) },
		"another hash":    func(s string) string { i := strings.Index(s, `"sha256":"`) + 12; return s[:i] + flip(s[i]) + s[i+1:] },
		"of another file": func(s string) string { return strings.Replace(s, `"inline":{"path":"`, `"inline":{"path":"x`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := inlined(t, MaxInlineBytes, 2)
			tb := s.Sub("table/")
			body, _, err := tb.Get(t.Context(), versionKey(2))
			if err != nil {
				t.Fatal(err)
			}
			changed := change(string(body))
			if changed == string(body) {
				t.Fatal("nothing was changed")
			}
			put(t, tb, versionKey(2), changed)
			told := 0
			q := open(t, Config{Store: s, Name: "table"})
			sink := newSinkWith(t, q, queue.ConsumerConfig{Group: "g", Event: func(e queue.Event) {
				if e.Kind == "inline" {
					told++
				}
			}})
			if err := sink.receive(deadline(t), 10, 10*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			sink.checkOnce(t, 1, 10)
			if want := 1; name != "of another file" && told != want {
				t.Errorf("told %d times", told)
			}
		})
	}
}

func flip(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

func TestInlineRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		file := make([]byte, random.IntN(5000))
		for i := range file {
			file[i] = byte(random.Uint32())
		}
		c := copyInline("a.parquet", file)
		body, err := encodeActions(nil, action{CommitInfo: &commitInfo{Timestamp: 5, TxnID: `,"inlineData":"x"`, Inline: &c.info}}, action{Add: &addFile{Path: "a.parquet", Size: int64(len(file))}})
		if err == nil {
			body, err = c.into(body)
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseCommit(1, body)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := v.inlineOf(&v.adds[0], nil)
		if !ok || err != nil || !bytes.Equal(got, file) || v.info.TxnID != `,"inlineData":"x"` || v.info.Timestamp != 5 {
			t.Fatalf("%d bytes came back as %d, %v, %v, %+v", len(file), len(got), ok, err, v.info)
		}
	}
}

// newSinkWith is newSink with what is told.
func newSinkWith(t *testing.T, q *Queue, cfg queue.ConsumerConfig) *sink {
	t.Helper()
	c, err := q.Consumer(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &sink{c: c, count: map[[2]uint32]int{}, last: map[uint32]uint32{}}
}

// Exactly once with copies too, whatever the store does.
func TestInlinePayloadUnderFaults(t *testing.T) {
	s, f := withFaults(folder(t))
	n := 0
	f.put = func(key string, ifAbsent bool) fault {
		if !ifAbsent || !isCommit(key) || strings.HasSuffix(key, versionKey(0)) {
			return fault{}
		}
		switch n++; n % 4 {
		case 1:
			return fault{after: errors.New("the answer was lost")}
		case 3:
			return fault{before: func(context.Context) error { return fmt.Errorf("%w: 409", objectstore.ErrConflict) }}
		}
		return fault{}
	}
	cfg := Config{Store: s, Name: "table", InlineBytes: 4000, CommitInterval: 3 * time.Millisecond}
	l := newLoad(t, open(t, cfg), 1)
	if err := l.send(deadline(t), 0, 200, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	sink := newSink(t, l.q, "g", queue.Start{})
	if err := sink.receive(deadline(t), 200, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	sink.checkOnce(t, 1, 200)
}
