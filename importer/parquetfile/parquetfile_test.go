package parquetfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/analysis"
	"queuebench/importer"
)

// message is a row as others write it: a TIMESTAMP, a number and a float.
type message struct {
	Due   time.Time `parquet:"due,timestamp(microsecond)"`
	Got   *int64    `parquet:"got,optional"` // ms
	Sent  float64   `parquet:"sent"`         // s
	Queue string    `parquet:"queue,dict"`
}

// table is the samples' 20 latencies, and a message that was lost.
func table(t testing.TB, options ...parquet.WriterOption) []byte {
	t.Helper()
	start := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	var rows []message
	for i := range 21 {
		due := start.Add(time.Duration(i) * 100 * time.Millisecond)
		m := message{Due: due, Sent: float64(due.UnixNano())/1e9 + 0.005, Queue: "a"}
		ms := int64(210 + 10*i)
		switch i {
		case 19:
			ms = 1200
		case 20:
			m.Queue = "b"
		}
		if i < 20 {
			got := due.UnixMilli() + ms
			m.Got = &got
		}
		rows = append(rows, m)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[message](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func columns(t testing.TB, text string) []importer.Column {
	t.Helper()
	c, err := importer.ParseColumns(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(body []byte, c []importer.Column) (*analysis.Digest, error) {
	return Read("file", bytes.NewReader(body), int64(len(body)), c)
}

func TestColumnsOfParquet(t *testing.T) {
	for name, option := range map[string]parquet.WriterOption{
		"snappy": parquet.Compression(&parquet.Snappy), "zstd": parquet.Compression(&parquet.Zstd), "gzip": parquet.Compression(&parquet.Gzip),
		"small row groups": parquet.MaxRowsPerRowGroup(7), "small pages": parquet.PageBufferSize(16), "pages V1": parquet.DataPageVersion(1),
	} {
		d, err := read(table(t, option), columns(t, "intended=due,received=got:ms,sent=sent:s,series=queue"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := analysis.Summarize(d, analysis.View{Percentiles: []float64{50, 95, 99}})
		if len(s.Steps) != 2 || s.Steps[1].Accounting.Lost != 1 {
			t.Fatalf("%s: %+v", name, s.Steps)
		}
		for kind, want := range map[analysis.Kind][3]float64{analysis.EndToEnd: {300, 390, 1200}, analysis.EndToEndFromSend: {295, 385, 1195}, analysis.SendLag: {5, 5, 5}} {
			l := s.Steps[0].Latencies[kind.String()]
			for i, p := range []string{"50", "95", "99"} {
				if got := float64(l.Percentiles[p].Ns) / 1e6; got < want[i]*0.999 || got > want[i]*1.0015 {
					t.Errorf("%s: %s: p%s is %v ms, want %v", name, kind, p, got, want[i])
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	whole := table(t)
	for want, c := range map[string]string{
		`no column "x"`: "intended=x,received=got:ms",
		"has no unit":   "intended=due,received=got",
		"is a number":   "intended=queue:ms,received=got:ms",
		"by a text":     "intended=due,received=got:ms,series=got",
	} {
		if _, err := read(whole, columns(t, c)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%s: %v", c, err)
		}
	}
	good := columns(t, "intended=due,received=got:ms")
	for n := range len(whole) {
		if _, err := read(whole[:n], good); err == nil {
			t.Fatalf("cut to %d bytes of %d: no error", n, len(whole))
		}
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x55
		if _, err := read(bad, good); err != nil && !strings.HasPrefix(err.Error(), "file: ") {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(table(f))
	f.Add(table(f, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(7)))
	c := columns(f, "intended=due,received=got:ms,sent=sent:s,series=queue")
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := read(body, c)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := analysis.WriteDigest(&b, d); err != nil {
			t.Fatal(fmt.Errorf("a digest that cannot be written: %w", err))
		}
	})
}
