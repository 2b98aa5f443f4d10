package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// fineDigest is a small digest whose intervals were added up, with all that this
// leaves behind: medians over time, and seconds around a fault.
func fineDigest(t testing.TB) *Digest {
	s := synthStep(t, 0, 5, 24*sec, sec, schedule(120, 5, func(_ int, at time.Duration) time.Duration { return 20*ms + at/100 }))
	for i := range 24 {
		s.Seconds = append(s.Seconds, Second{At: time.Duration(i+1) * sec, Backlog: int64(i)})
	}
	s.Told = []string{"backlog"}
	s.Events = []Event{{At: 12 * sec, Kind: "fault", Text: "it stops"}}
	d := synthDigest(s).Coarsen(12)
	if f := d.Steps[0].Fine; f == nil || len(f.Level) == 0 || len(f.P99) == 0 {
		t.Fatalf("nothing was kept: %+v", f)
	}
	return d
}

func FuzzReadDigest(f *testing.F) {
	f.Add(write(f, synthDigest(synthStep(f, 0, 100, sec, 500*ms, schedule(100, 100, steady(20*ms))))))
	r := rand.New(rand.NewPCG(9, 9))
	f.Add(write(f, randomDigest(r)))
	f.Add(write(f, fineDigest(f)))
	for _, column := range []string{"unknown", "parts", "blocked_ns", "own_is_lag", "scheduled"} { // there, and empty
		f.Add(fmt.Appendf(nil, `#[%s manifest {}]
#[%[1]s step {"intervals":{"edges_ns":[0,1],"scheduled":[0],%q:[]}}]
#[StartTime: 0 (seconds since epoch)]
"Tag=step=0/repeat=0/own_lag",0,1,1,HISTFAAAABx4nJNpmSzMwMDAzAABzFCaEUoz2X+AMIBKAAVTAbg=
`, DigestSchema, column))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := allocated()
		d, err := ReadDigest(bytes.NewReader(data))
		if used := allocated() - before; used > mostFuzzed {
			t.Fatalf("%d MB were allocated to read %d bytes", used>>20, len(data))
		}
		if err == nil {
			readAgain(t, d)
		}
	})
}

// fuzzedFine makes what a digest kept of bytes: lengths, and then a value each.
func fuzzedFine(interval, every, width int64, b []byte) *fineRecord {
	next := func() byte {
		if len(b) == 0 {
			return 0
		}
		x := b[0]
		b = b[1:]
		return x
	}
	extremes := []int64{noValue, Never, 0, -1, math.MaxInt64 - 1, math.MinInt64 + 1, 1, 1 << 40}
	series := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			if x := next(); x < 224 {
				out[i] = int64(x) * 1e6
			} else {
				out[i] = extremes[x&7]
			}
		}
		return out
	}
	var n [5]int
	for i := range n {
		n[i] = int(next() % 64)
	}
	return &fineRecord{interval, every, series(n[0]), series(n[1]), width, series(n[2]), series(n[3]), series(n[4]), series(n[4] % int(NumKinds+1)), series(n[3])}
}

// FuzzFine puts anything in the place of what a digest kept of intervals that
// were added up (the JSON of it where text is one, else values made of bytes) and
// looks at the digest as a reader does.
func FuzzFine(f *testing.F) {
	d := fineDigest(f)
	text := write(f, d)
	section, err := json.Marshal(newFineRecord(d.Steps[0].Fine))
	if err != nil {
		f.Fatal(err)
	}
	if bytes.Count(text, section) != 1 {
		f.Fatal("the digest has not what it kept")
	}
	rising := []byte{24, 24, 24, 24, 24}
	for i := range 5 * 24 {
		rising = append(rising, byte(20+i%24*8))
	}
	f.Add(section, int64(0), int64(0), int64(0), []byte{})
	f.Add([]byte(`{"interval_ns":1000000000,"every_ns":1,"level_ns":[1,2],"publish_ns":[],"width_ns":1,"settling_ns":[-5]}`), int64(0), int64(0), int64(0), []byte{})
	f.Add([]byte{}, int64(sec), int64(sec), int64(sec), rising)
	f.Add([]byte{}, int64(sec), int64(sec), int64(200*ms), []byte{20, 20, 60, 0, 0, 250, 249, 248, 247, 246, 245})
	f.Add([]byte{}, int64(1), int64(math.MaxInt64/64), int64(1), []byte{2, 2, 2, 2, 2, 224, 225, 226, 227, 228, 229, 230, 231, 1, 2})
	f.Fuzz(func(t *testing.T, body []byte, interval, every, width int64, values []byte) {
		if len(body) == 0 {
			var err error
			if body, err = json.Marshal(fuzzedFine(interval, every, width, values)); err != nil {
				t.Fatal(err)
			}
		}
		before := allocated()
		d, err := ReadDigest(bytes.NewReader(bytes.Replace(text, section, body, 1)))
		if used := allocated() - before; used > mostFuzzed {
			t.Fatalf("%d MB were allocated to read %d bytes", used>>20, len(body))
		}
		if err != nil {
			return
		}
		readAgain(t, d)
		again := d.Coarsen(5)
		if a, b := len(found(Summarize(d, View{}))), len(found(Summarize(again, View{}))); a != b {
			t.Errorf("%d findings, and %d in a digest that was made coarser again", a, b)
		}
	})
}
