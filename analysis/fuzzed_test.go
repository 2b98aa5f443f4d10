package analysis

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime/metrics"
	"testing"
)

// mostFuzzed is what a log of the fuzzer may take, bytes.
const mostFuzzed = 200 << 20

// allocated is the number of bytes that were ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// readAgain shows a digest, writes it and reads it again: every number can be
// written as JSON, and nothing of it changes.
func readAgain(t *testing.T, d *Digest) {
	var buf bytes.Buffer
	s := Summarize(d, View{})
	if err := WriteText(&buf, s); err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(&s); err != nil {
		t.Fatalf("the summary has no JSON: %v", err)
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		SeriesOf(s, View{})
		CumulativeOf(s, View{})
		FlowOf(s, View{})
	}
	buf.Reset()
	if err := WriteDigest(&buf, d); err != nil {
		t.Fatal(err)
	}
	again, err := ReadDigest(&buf)
	if err != nil {
		t.Fatalf("what was read and written is not read again: %v", err)
	}
	for i := range d.Steps {
		if !reflect.DeepEqual(d.Steps[i].Fine, again.Steps[i].Fine) {
			t.Fatalf("step %d: what was kept is %+v and then %+v", i, d.Steps[i].Fine, again.Steps[i].Fine)
		}
	}
}
