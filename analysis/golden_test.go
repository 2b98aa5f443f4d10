package analysis

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files and the log that they are made of anew")

// golden compares with testdata/name.golden. On a mismatch what came stands
// beside it as name.got.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		other := filepath.Join("testdata", name+".got")
		if err := os.WriteFile(other, got, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s differs: what came is in %s", path, other)
	}
}

// The same log, the same bytes natively and in WebAssembly.
func TestGolden(t *testing.T) {
	src, err := loadSource(filepath.Join("testdata", "log"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(t.Context(), src, Options{Edges: []time.Duration{750 * ms}})
	if err != nil {
		t.Fatal(err)
	}
	// A summary from the raw log and one from the digest cannot disagree.
	again, err := ReadDigest(bytes.NewReader(write(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	warmup := 750 * ms
	for name, v := range map[string]View{"default": {}, "warmup": {Warmup: &warmup, Percentiles: []float64{10, 50, 99}}} {
		s := Summarize(d, v)
		var text bytes.Buffer
		if err := WriteText(&text, s); err != nil {
			t.Fatal(err)
		}
		golden(t, "summary-"+name+".txt", text.Bytes())
		golden(t, "summary-"+name+".json", indented(t, s))
		if a, b := indented(t, s), indented(t, Summarize(again, v)); !bytes.Equal(a, b) {
			t.Errorf("%s: the digest's summary differs from the raw log's", name)
		}
	}
	var series []Series
	for i := range d.Steps {
		series = append(series, SeriesOf(&d.Steps[i], View{Percentiles: []float64{50, 99}, Kind: Publish}))
	}
	golden(t, "series.json", indented(t, series))
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}
