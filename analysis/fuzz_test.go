package analysis

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"queuebench/rawlog"
)

// FuzzRead damages one object of a log, or its numbers in run.json: what is
// read is a digest that can be summarized, or an error, never a panic.
func FuzzRead(f *testing.F) {
	src, err := loadSource(filepath.Join("testdata", "log"))
	if err != nil {
		f.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(src))
	f.Add(uint8(0), uint32(0), []byte{}, int64(0), int64(4e9))
	f.Add(uint8(3), uint32(100), []byte{1, 2, 3}, testStart, int64(1<<63-1))
	f.Add(uint8(9), uint32(2000), []byte{0xff}, int64(-1<<63), int64(1))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, start, duration int64) {
		s := maps.Clone(src)
		name := names[int(which)%len(names)]
		body := slices.Clone(s[name])
		for i, b := range patch {
			if k := int(at) + i; k < len(body) {
				body[k] ^= b
			}
		}
		s[name] = body
		if name == rawlog.ManifestName {
			var m rawlog.Manifest
			if err := json.Unmarshal(src[name], &m); err != nil {
				t.Fatal(err)
			}
			m.Steps[0].StartedNs, m.Steps[0].DurationNs = start, duration
			s.put(t, &m)
		}
		before := allocated()
		defer func() {
			if used := allocated() - before; used > mostFuzzed {
				t.Errorf("%d MB were allocated", used>>20)
			}
		}()
		d, err := Read(t.Context(), s, Options{Edges: []time.Duration{time.Duration(start), time.Duration(duration)}})
		if err != nil {
			return
		}
		Summarize(d, View{})
		for i := range d.Steps {
			SeriesOf(&d.Steps[i], View{})
		}
	})
}

// mostFuzzed is what a log of the fuzzer may take, bytes.
const mostFuzzed = 200 << 20

// allocated is the number of bytes that were ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
