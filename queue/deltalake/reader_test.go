package deltalake

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

const (
	protocolLine = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	metaDataLine = `{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"data\",\"type\":\"binary\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}`
)

// byHand writes a table version by version.
type byHand struct {
	t     testing.TB
	store objectstore.Store
}

func (h *byHand) version(v int64, lines ...string) {
	h.t.Helper()
	put(h.t, h.store, versionKey(v), strings.Join(lines, "\n")+"\n")
}

// data stores a file of payloads and returns its add.
func (h *byHand) data(key, path string, dataChange bool, payloads ...string) string {
	h.t.Helper()
	e, err := newEncoder(&Config{Column: "data", Schema: DataOnly, Codec: Zstd})
	if err != nil {
		h.t.Fatal(err)
	}
	b := newBatch(e.pageBytes())
	for i, p := range payloads {
		b.add(&Producer{}, int64(i), []byte(p))
	}
	b.seal()
	if err := e.encode(b, 0); err != nil {
		h.t.Fatal(err)
	}
	if err := h.store.Put(h.t.Context(), key, b.file, objectstore.PutOptions{}); err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":1,"dataChange":%v}}`, path, len(b.file), dataChange)
}

// received tails a table from a version until the reader fails or nothing has
// come for a while.
func received(t testing.TB, cfg Config, start queue.Start) (payloads []string, err error) {
	t.Helper()
	cfg.GapAfter = 20 * time.Millisecond
	q := open(t, cfg)
	c, err := q.Consumer(deadline(t), queue.ConsumerConfig{Start: start})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for {
		// How long a silence is the end: on a busy host the first takes a while.
		silence := 400 * time.Millisecond
		if len(payloads) == 0 {
			silence = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), silence)
		batch, err := c.Receive(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return payloads, nil
		}
		if err != nil {
			// It stays so, and is not skipped.
			if _, again := c.Receive(t.Context()); again == nil || again.Error() != err.Error() {
				t.Errorf("Receive failed with %v, and then with %v", err, again)
			}
			return payloads, err
		}
		for _, d := range batch {
			payloads = append(payloads, string(d.Payload))
		}
	}
}

func handTable(t testing.TB) (*byHand, Config) {
	s := folder(t)
	h := &byHand{t, s.Sub("table/")}
	h.version(0, protocolLine, metaDataLine)
	return h, Config{Store: s, Name: "table"}
}

func check(t *testing.T, got []string, err error, want ...string) {
	t.Helper()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("received %q, %v; expected %q", got, err, want)
	}
}

func checkFails(t *testing.T, got []string, err, want error, says string, before ...string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("the reader ended with: %v; expected: %v, naming %s", err, want, says)
	}
	if !slices.Equal(got, before) {
		t.Errorf("received %q before the error, expected %q", got, before)
	}
}

func TestGapIsFatalAndNamed(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	h.version(3, h.data("c.parquet", "c.parquet", true, "3"))
	got, err := received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrGap, "version 2 (_delta_log/00000000000000000002.json)", "1")
}

// What looks like versions below a nested key is none (delta#7451).
func TestNestedKeysAreNoVersions(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	put(t, h.store, "_delta_log/other/00000000000000000007.json", "{}")
	put(t, h.store, "_delta_log/00000000000000000008.json.tmp", "{}")
	put(t, h.store, "_delta_log/00000000000000000005.00000000000000000006.compacted.json", "{}")
	got, err := received(t, cfg, queue.Start{})
	check(t, got, err, "1")
}

func TestStartOlderThanTheLogIsItsOwnError(t *testing.T) {
	h, cfg := handTable(t)
	for v := range int64(5) {
		key := fmt.Sprintf("%d.parquet", v)
		h.version(v+1, protocolLine, metaDataLine, h.data(key, key, true, fmt.Sprint(v+1)))
	}
	for v := range int64(3) {
		if err := h.store.Delete(t.Context(), versionKey(v)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrStartTooOld, "version 0 was asked for, the oldest is 3")
}

func TestMissingDataIsFatalAndNamed(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	h.version(2, h.data("b.parquet", "b.parquet", true, "2"))
	h.version(3, h.data("c.parquet", "c.parquet", true, "3"))
	if err := h.store.Delete(t.Context(), "b.parquet"); err != nil {
		t.Fatal(err)
	}
	got, err := received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrMissingData, "version 2, data file b.parquet", "1")
}

func TestDataFileThatIsNotWhatTheLogSays(t *testing.T) {
	h, cfg := handTable(t)
	cfg.RetryFor = 30 * time.Millisecond
	add := h.data("a.parquet", "a.parquet", true, "1")
	put(t, h.store, "a.parquet", "PAR1 and nothing else")
	h.version(1, add)
	got, err := received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrCorrupt, "a.parquet")

	h, cfg = handTable(t)
	put(t, h.store, "a.parquet", "rubbish")
	h.version(1, `{"add":{"path":"a.parquet","partitionValues":{},"size":7,"modificationTime":1,"dataChange":true}}`)
	got, err = received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrCorrupt, "a.parquet")
}

// A compaction rewrites what was delivered (delta#550, #1490).
func TestCompactionIsPassedOver(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	h.version(2, h.data("b.parquet", "b.parquet", true, "2"))
	h.version(3, `{"remove":{"path":"a.parquet","dataChange":false}}`, `{"remove":{"path":"b.parquet","dataChange":false}}`,
		h.data("ab.parquet", "ab.parquet", false, "1", "2"))
	h.version(4, h.data("c.parquet", "c.parquet", true, "3"))
	got, err := received(t, cfg, queue.Start{})
	check(t, got, err, "1", "2", "3")
}

func TestRemovedRowsAreRefused(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	h.version(2, h.data("b.parquet", "b.parquet", true, "2"), `{"remove":{"path":"a.parquet","dataChange":true}}`)
	got, err := received(t, cfg, queue.Start{})
	// Of a commit that is refused nothing is delivered.
	checkFails(t, got, err, ErrNotAppendOnly, "version 2 removes a.parquet", "1")
}

func TestPathsAreDecodedOnce(t *testing.T) {
	h, cfg := handTable(t)
	for i, key := range []string{"a b.parquet", "dir/x=1/ü.parquet", "100%25.parquet", "p%3D1.parquet", "q?#&+.parquet"} {
		path := (&url.URL{Path: key}).EscapedPath()
		h.version(int64(i+1), h.data(key, path, true, key))
	}
	got, err := received(t, cfg, queue.Start{})
	check(t, got, err, "a b.parquet", "dir/x=1/ü.parquet", "100%25.parquet", "p%3D1.parquet", "q?#&+.parquet")
}

func TestPathsOutsideTheTableAreRefused(t *testing.T) {
	for _, path := range []string{"s3://other/a.parquet", "/etc/passwd", "file:///etc/passwd", "../a.parquet", "x/../../a.parquet", "%2e%2e/a.parquet", "a//b.parquet", "./a.parquet"} {
		h, cfg := handTable(t)
		h.version(1, fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":7,"modificationTime":1,"dataChange":true}}`, path))
		got, err := received(t, cfg, queue.Start{})
		checkFails(t, got, err, ErrUnsupported, path)
	}
}

func TestUnsupportedTablesAreRefusedByName(t *testing.T) {
	features := func(names string) string {
		return `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[` + names + `],"writerFeatures":[` + names + `]}}`
	}
	for says, line := range map[string]string{
		"columnMapping":       features(`"columnMapping"`),
		"deletionVectors":     features(`"deletionVectors"`),
		"catalogManaged":      features(`"catalogManaged"`),
		"typeWidening":        features(`"typeWidening"`),
		"variantType":         features(`"variantType"`),
		"collations":          features(`"collations"`),
		"of-tomorrow":         features(`"timestampNtz","of-tomorrow"`),
		"reader version 2":    `{"protocol":{"minReaderVersion":2,"minWriterVersion":5}}`,
		"reader version 4":    `{"protocol":{"minReaderVersion":4,"minWriterVersion":7}}`,
		`mode "name"`:         strings.Replace(metaDataLine, `"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"name"}`, 1),
		`format "orc"`:        strings.Replace(metaDataLine, `"provider":"parquet"`, `"provider":"orc"`, 1),
		`no column "data"`:    strings.Replace(metaDataLine, `\"data\"`, `\"other\"`, 1),
		`type "long"`:         strings.Replace(metaDataLine, `\"binary\"`, `\"long\"`, 1),
		`partition column`:    strings.Replace(metaDataLine, `"partitionColumns":[]`, `"partitionColumns":["data"]`, 1),
		"deletionVectors (v":  `{"add":{"path":"b.parquet","partitionValues":{},"size":7,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"u"}}}`,
		"deletionVectors (ve": `{"add":{"path":"b.parquet","partitionValues":{},"size":7,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"i"}}}`,
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			h, cfg := handTable(t)
			h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
			h.version(2, line, h.data("c.parquet", "c.parquet", true, "2")) // in the middle of a tail, too
			got, err := received(t, cfg, queue.Start{})
			checkFails(t, got, err, ErrUnsupported, says, "1")
		})
	}
	h, cfg := handTable(t)
	h.version(1, features(`"timestampNtz","vacuumProtocolCheck","v2Checkpoint"`), h.data("a.parquet", "a.parquet", true, "1"), `{"ofTomorrow":{"x":1}}`)
	got, err := received(t, cfg, queue.Start{})
	check(t, got, err, "1")
}

func TestStartPositions(t *testing.T) {
	h, cfg := handTable(t)
	for v := int64(1); v <= 9; v++ {
		key := fmt.Sprintf("%d.parquet", v)
		h.version(v, fmt.Sprintf(`{"commitInfo":{"timestamp":%d}}`, 1000*v), h.data(key, key, true, fmt.Sprint(v)))
	}
	for _, c := range []struct {
		start queue.Start
		want  []string
	}{
		{queue.Start{Kind: queue.StartOffset, Offset: 7}, []string{"7", "8", "9"}},
		{queue.Start{Kind: queue.StartLatest}, nil},
		{queue.Start{Kind: queue.StartTime, Time: time.UnixMilli(7500)}, []string{"8", "9"}},
		{queue.Start{Kind: queue.StartTime, Time: time.UnixMilli(8000)}, []string{"8", "9"}},
		{queue.Start{Kind: queue.StartTime, Time: time.UnixMilli(0)}, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
		{queue.Start{Kind: queue.StartTime, Time: time.UnixMilli(99999)}, nil},
	} {
		got, err := received(t, cfg, c.start)
		check(t, got, err, c.want...)
	}
	if _, err := received(t, cfg, queue.Start{Kind: queue.StartOffset, Offset: -1}); err == nil {
		t.Error("a negative version was not refused")
	}
}

// What is wrong with one partition ends the consumer, whatever the others have.
func TestErrorOfOnePartitionIsFatal(t *testing.T) {
	s := folder(t)
	for k := range 2 {
		h := &byHand{t, s.Sub(fmt.Sprintf("table/p=%d/", k))}
		h.version(0, protocolLine, metaDataLine)
		for v := int64(1); v < 20; v++ {
			key := fmt.Sprintf("%d.parquet", v)
			h.version(v, h.data(key, key, true, fmt.Sprint(v)))
		}
		if k == 1 {
			if err := h.store.Delete(t.Context(), "5.parquet"); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := received(t, Config{Store: s, Name: "table", Partitions: 2}, queue.Start{})
	if !errors.Is(err, ErrMissingData) || !strings.Contains(err.Error(), "table/p=1") {
		t.Errorf("the reader ended with %v", err)
	}
}
