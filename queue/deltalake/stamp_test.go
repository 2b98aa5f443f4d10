package deltalake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"queuebench/objectstore"
	"queuebench/queue"
)

// addRows stores rows of any struct as a data file, and returns its add.
func addRows[T any](t testing.TB, h *byHand, key string, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, h.store, key, b.String())
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":7000,"dataChange":true}}`, key, b.Len())
}

// metaDataOf is the metaData of columns, "name type".
func metaDataOf(columns ...string) string {
	var fields []string
	for _, c := range columns {
		name, kind, _ := strings.Cut(c, " ")
		fields = append(fields, fmt.Sprintf(`{\"name\":\"%s\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}`, name, kind))
	}
	return `{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[` + strings.Join(fields, ",") + `]}","partitionColumns":[],"configuration":{}}}`
}

// stampsOf tails a table that is complete, and returns payload, stamp and kind
// of each message.
func stampsOf(t *testing.T, cfg Config) ([]string, error) {
	t.Helper()
	cfg.ReadOnly = true
	q := open(t, cfg)
	c, err := q.Consumer(deadline(t), queue.ConsumerConfig{})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var got []string
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		batch, err := c.Receive(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		for _, d := range batch {
			got = append(got, fmt.Sprintf("%s %d %s", d.Payload, d.BrokerNs, d.BrokerKind))
		}
	}
}

func TestStamps(t *testing.T) {
	const at = int64(1_700_000_000) // s
	type long struct {
		Data []byte `parquet:"data"`
		At   *int64 `parquet:"at,optional"`
	}
	type micros struct {
		Data []byte `parquet:"data"`
		At   int64  `parquet:"at,timestamp(microsecond)"`
	}
	type millis struct {
		Data []byte `parquet:"data"`
		At   int64  `parquet:"at,timestamp(millisecond)"`
	}
	type int96 struct {
		Data []byte           `parquet:"data"`
		At   deprecated.Int96 `parquet:"at"`
	}
	first, second := at*1e3, at*1e3+2
	day, ofDay := uint32(at/86400+julianEpoch), uint64(at%86400*1e9+5)
	for name, c := range map[string]struct {
		kind  string
		stamp *Stamp
		add   func(h *byHand) string
		want  []string
	}{
		"none":   {"long", nil, func(h *byHand) string { return addRows(t, h, "a", long{[]byte("1"), &first}) }, []string{"1 0 "}},
		"commit": {"long", &Stamp{}, func(h *byHand) string { return addRows(t, h, "a", long{[]byte("1"), &first}) }, []string{"1 9000000000 commit"}},
		"long": {"long", &Stamp{Column: "at", Unit: time.Millisecond}, func(h *byHand) string {
			return addRows(t, h, "a", long{[]byte("1"), &first}, long{[]byte("2"), nil}, long{[]byte("3"), &second})
		}, []string{"1 1700000000000000000 column", "2 0 ", "3 1700000000002000000 column"}},
		"long, all there": {"long", &Stamp{Column: "at", Unit: time.Second}, func(h *byHand) string {
			return addRows(t, h, "a", struct {
				Data []byte `parquet:"data"`
				At   int64  `parquet:"at,plain"`
			}{[]byte("1"), at})
		}, []string{"1 1700000000000000000 column"}},
		"microseconds": {"timestamp", &Stamp{Column: "at"}, func(h *byHand) string { return addRows(t, h, "a", micros{[]byte("1"), at*1e6 + 7}) }, []string{"1 1700000000000007000 column"}},
		"milliseconds": {"timestamp_ntz", &Stamp{Column: "at"}, func(h *byHand) string { return addRows(t, h, "a", millis{[]byte("1"), at*1e3 + 7}) }, []string{"1 1700000000007000000 column"}},
		"INT96": {"timestamp", &Stamp{Column: "at"}, func(h *byHand) string {
			return addRows(t, h, "a", int96{[]byte("1"), deprecated.Int96{uint32(ofDay), uint32(ofDay >> 32), day}})
		}, []string{"1 1700000000000000005 column"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, cfg := handTable(t)
			cfg.Stamp = c.stamp
			h.version(0, protocolLine, metaDataOf("data binary", "at "+c.kind))
			h.version(1, `{"commitInfo":{"timestamp":9000}}`, c.add(h))
			got, err := stampsOf(t, cfg)
			check(t, got, err, c.want...)
		})
	}
}

// A row that Pathway takes back keeps its stamp from none of the others.
func TestStampsBesideRetractions(t *testing.T) {
	type row struct {
		Data []byte `parquet:"data"`
		Time int64  `parquet:"time"`
		Diff int64  `parquet:"diff"`
	}
	h, cfg := handTable(t)
	cfg.Stamp = &Stamp{Column: "time", Unit: time.Millisecond}
	h.version(0, protocolLine, metaDataOf("data string", "time long", "diff long"))
	h.version(1, addRows(t, h, "a", row{[]byte("1"), 2, 1}, row{[]byte("1"), 4, -1}, row{[]byte("2"), 6, 1}))
	h.version(2, addRows(t, h, "b", row{[]byte("2"), 8, -1}))
	got, err := stampsOf(t, cfg)
	check(t, got, err, "1 2000000 column", "2 6000000 column")
}

func TestStampsThatATableHasNot(t *testing.T) {
	for says, s := range map[string]*Stamp{
		`no column "other"`:        {Column: "other"},
		`is of type "binary"`:      {Column: "data"},
		"its unit was not given":   {Column: "at"},
		"is a partition column":    {Column: "part", Unit: time.Second},
		"the unit of a time stamp": {Column: "at", Unit: time.Minute},
	} {
		h, cfg := handTable(t)
		cfg.Stamp = s
		h.version(0, protocolLine, strings.Replace(metaDataOf("data binary", "at long", "part long"), `"partitionColumns":[]`, `"partitionColumns":["part"]`, 1))
		cfg.Name = "table"
		q, err := New(cfg)
		if err == nil {
			q.Close()
			_, err = stampsOf(t, cfg)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; expected: %s", err, says)
		}
	}
}

// Who only reads writes nothing, and refuses to.
func TestReadOnlyWritesNothing(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	s, f := withFaults(cfg.Store)
	cfg.Store, cfg.ReadOnly = s, true
	got, err := received(t, cfg, queue.Start{})
	check(t, got, err, "1")
	if n := f.count("PUT", ""); n > 0 {
		t.Errorf("%d PUTs", n)
	}
	q := open(t, cfg)
	if _, err := q.Producer(t.Context(), queue.ProducerConfig{}); err == nil {
		t.Error("a producer was opened")
	}
	if q.Create(t.Context()) == nil || q.Remove(t.Context()) == nil {
		t.Error("the table was emptied or removed")
	}
}

func TestInspect(t *testing.T) {
	h, cfg := handTable(t)
	cfg.ReadOnly = true
	h.version(0, protocolLine, metaDataOf("data binary", "time long", "diff long"))
	h.version(1, h.data("a.parquet", "a.parquet", true, "1"))
	s, f := withFaults(cfg.Store)
	cfg.Store = s
	q := open(t, cfg)
	got, err := q.Inspect(t.Context())
	if err != nil || got.Version != 1 || !got.Retracts || got.Columns["data"] != "binary" {
		t.Errorf("%+v, %v", got, err)
	}
	// A consumer behind what was inspected reads the log no second time.
	before := f.count("GET", versionKey(0))
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Start: queue.Start{Kind: queue.StartOffset, Offset: 2}})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Data []byte `parquet:"data"`
		Time int64  `parquet:"time"`
		Diff int64  `parquet:"diff"`
	}
	h.version(2, addRows(t, h, "b", row{[]byte("2"), 2, -1}, row{[]byte("3"), 2, 1}))
	batch, err := c.Receive(deadline(t))
	if err != nil || len(batch) != 1 || string(batch[0].Payload) != "3" || q.Retractions() != 1 {
		t.Errorf("%v, %v, %d retractions", batch, err, q.Retractions())
	}
	if n := f.count("GET", versionKey(0)); n != before {
		t.Errorf("version 0 was read again")
	}
	empty := open(t, Config{Store: folder(t), Name: "table", ReadOnly: true})
	if _, err := empty.Inspect(t.Context()); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("where there is no table: %v", err)
	}
}
