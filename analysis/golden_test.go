package analysis

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"queuebench/internal/golden"
)

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
		golden.Check(t, "testdata/summary-"+name+".txt.golden", text.Bytes())
		golden.Check(t, "testdata/summary-"+name+".json.golden", indented(t, s))
		if a, b := indented(t, s), indented(t, Summarize(again, v)); !bytes.Equal(a, b) {
			t.Errorf("%s: the digest's summary differs from the raw log's", name)
		}
	}
	var series []Series
	for i := range d.Steps {
		series = append(series, SeriesOf(&d.Steps[i], View{Percentiles: []float64{50, 99}, Kind: Publish}))
	}
	golden.Check(t, "testdata/series.json.golden", indented(t, series))
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}
