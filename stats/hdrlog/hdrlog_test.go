package hdrlog

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"queuebench/stats"
)

// randomBuckets draws magnitudes' buckets, dense and sparse ones, with counts
// of all lengths.
func randomBuckets(r *rand.Rand) []stats.Bucket {
	var out []stats.Bucket
	next := int32(0)
	for n := r.IntN(400); n > 0 && next < stats.NumIndexes; n-- {
		if r.IntN(3) == 0 {
			next += r.Int32N(1 << r.IntN(12))
		}
		if next >= stats.NumIndexes {
			break
		}
		out = append(out, stats.Bucket{Index: next, Count: 1 + r.Int64N(1<<r.IntN(50))})
		next++
	}
	return out
}

func fromLibrary(h *hdrhistogram.Histogram) []stats.Bucket {
	var out []stats.Bucket
	for i, n := range h.Export().Counts {
		if n > 0 {
			out = append(out, stats.Bucket{Index: int32(i), Count: n})
		}
	}
	return out
}

func toLibrary(t *testing.T, b []stats.Bucket) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, stats.MaxValue, 3)
	for _, x := range b {
		low, _ := stats.Bounds(x.Index)
		if err := h.RecordValues(low, x.Count); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestAgainstTheLibraryBothWays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var e encoder
	var d decoder
	stored := encoder{stored: 1 << 30}
	for i := range 150 {
		b := randomBuckets(r)
		if i == 0 {
			b = nil
		}
		text, err := e.appendTo(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		h, err := hdrhistogram.Decode(text)
		if err != nil {
			t.Fatalf("the library does not read ours: %v", err)
		}
		if got := fromLibrary(h); !slices.Equal(got, b) {
			t.Fatalf("the library reads %v of ours, want %v", got, b)
		}
		theirs, err := toLibrary(t, b).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.decode(theirs)
		if err != nil {
			t.Fatalf("we do not read the library's: %v", err)
		}
		if !slices.Equal(got, b) {
			t.Fatalf("we read %v of the library's, want %v", got, b)
		}
		if len(b) > 0 && !bytes.Equal(text, theirs) {
			t.Fatalf("ours differs from the library's:\n%s\n%s", text, theirs)
		}
		if got, err = d.decode(text); err != nil || !slices.Equal(got, b) {
			t.Fatalf("ours comes back as %v, %v", got, err)
		}
		text, err = stored.appendTo(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if h, err = hdrhistogram.Decode(text); err != nil || !slices.Equal(fromLibrary(h), b) {
			t.Fatalf("the library reads ours without compression as %v, %v, want %v", h, err, b)
		}
		if got, err = d.decode(text); err != nil || !slices.Equal(got, b) {
			t.Fatalf("ours without compression comes back as %v, %v", got, err)
		}
	}
}

func TestLargestCountSurvives(t *testing.T) {
	var e encoder
	var d decoder
	for _, n := range []int64{1, 63, 64, 1 << 55, 1<<62 - 1, 1 << 62, 1<<63 - 1} {
		b := []stats.Bucket{{Index: 0, Count: n}}
		text, err := e.appendTo(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.decode(text); err != nil || !slices.Equal(got, b) {
			t.Errorf("%d comes back as %v, %v", n, got, err)
		}
	}
}

func TestLogIsReadByTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var buf bytes.Buffer
	w := NewWriter(&buf)
	const base = int64(1_700_000_000_123_456_789)
	if err := w.Header(base); err != nil {
		t.Fatal(err)
	}
	if err := w.Comment([]byte(`[for others {"a":1}]`)); err != nil {
		t.Fatal(err)
	}
	var lines []Line
	for i := range 40 {
		l := Line{Tag: []string{"", "step=0/repeat=0/publish"}[i%2], StartNs: int64(i) * 100e6, LengthNs: 100e6, Buckets: randomBuckets(r)}
		lines = append(lines, l)
		if err := w.Histogram(l); err != nil {
			t.Fatal(err)
		}
	}
	theirs := hdrhistogram.NewHistogramLogReader(bytes.NewReader(buf.Bytes()))
	ours := NewReader(bytes.NewReader(buf.Bytes()))
	comments := 0
	for i, want := range lines {
		h, err := theirs.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("line %d: %v, %v", i, h, err)
		}
		if got := fromLibrary(h); !slices.Equal(got, want.Buckets) {
			t.Fatalf("line %d: other buckets", i)
		}
		if want.Tag != "" && h.Tag() != want.Tag {
			t.Errorf("line %d: tag %q", i, h.Tag())
		}
		if start := base/1e6 + want.StartNs/1e6; h.StartTimeMs() < start-1 || h.StartTimeMs() > start+1 {
			t.Errorf("line %d: start %d, want %d", i, h.StartTimeMs(), start)
		}
		for {
			comment, l, err := ours.Next()
			if err != nil {
				t.Fatal(err)
			}
			if l == nil {
				if strings.HasPrefix(string(comment), "[for others") {
					comments++
				}
				continue
			}
			if l.Tag != want.Tag || l.StartNs != want.StartNs || l.LengthNs != want.LengthNs || !slices.Equal(l.Buckets, want.Buckets) {
				t.Fatalf("line %d comes back as %+v", i, l)
			}
			break
		}
	}
	if _, _, err := ours.Next(); err != io.EOF || comments != 1 {
		t.Errorf("the end: %v after %d comments", err, comments)
	}
	if h, err := theirs.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("the library goes on: %v, %v", h, err)
	}
}

// What the library's writer makes is read, with whatever stands around it.
func TestTheLibrarysLogIsRead(t *testing.T) {
	var buf bytes.Buffer
	w := hdrhistogram.NewHistogramLogWriter(&buf)
	h := toLibrary(t, []stats.Bucket{{Index: 7, Count: 3}, {Index: 20_000, Count: 1}})
	h.SetTag("A")
	h.SetStartTimeMs(1500)
	h.SetEndTimeMs(2500)
	if err := errors.Join(w.OutputLogFormatVersion(), w.OutputStartTime(1000), w.OutputLegend(), w.OutputIntervalHistogram(h)); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&buf)
	for {
		_, l, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			continue
		}
		if l.Tag != "A" || l.StartNs != 1500e6 || l.LengthNs != 1000e6 || !slices.Equal(l.Buckets, fromLibrary(h)) {
			t.Errorf("%+v", l)
		}
		return
	}
}

func TestRefusals(t *testing.T) {
	var e encoder
	good, err := e.appendTo(nil, []stats.Bucket{{Index: 5, Count: 1}, {Index: 3000, Count: 2}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := hdrhistogram.New(1000, 3_600_000_000, 2).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	var d decoder
	if _, err := d.decode(other); !errors.Is(err, ErrGeometry) {
		t.Errorf("another geometry: %v", err)
	}
	raw, err := base64.StdEncoding.DecodeString(string(good))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		bad := slices.Clone(raw)
		bad[i] ^= 0x41
		b, err := d.decode([]byte(base64.StdEncoding.EncodeToString(bad)))
		if err == nil {
			t.Errorf("byte %d flipped: read as %v", i, b)
		}
		if _, err := d.decode([]byte(base64.StdEncoding.EncodeToString(raw[:i]))); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
	}
	if b, err := d.decode(good); err != nil || len(b) != 2 {
		t.Errorf("after the refusals: %v, %v", b, err)
	}

	w := NewWriter(io.Discard)
	for _, l := range []Line{{Tag: "a,b"}, {Tag: "a b"}, {StartNs: -1}, {LengthNs: -1},
		{Buckets: []stats.Bucket{{Index: -3, Count: 1}}}, {Buckets: []stats.Bucket{{Index: stats.NumIndexes, Count: 1}}},
		{Buckets: []stats.Bucket{{Index: 3, Count: 1}, {Index: 3, Count: 1}}}, {Buckets: []stats.Bucket{{Index: 3, Count: 0}}}} {
		if err := w.Histogram(l); err == nil {
			t.Errorf("%+v was written", l)
		}
	}
	if err := w.Comment([]byte("a\nb")); err == nil {
		t.Error("a comment with a line break was written")
	}
}

// A text that inflates to far more than a histogram holds is refused early.
func TestInflationIsBounded(t *testing.T) {
	var e encoder
	b := make([]stats.Bucket, stats.NumIndexes)
	for i := range b {
		b[i] = stats.Bucket{Index: int32(i), Count: 1}
	}
	text, err := e.appendTo(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	var d decoder
	if got, err := d.decode(text); err != nil || !slices.Equal(got, b) {
		t.Fatalf("a full histogram: %d buckets, %v", len(got), err)
	}
	if cap(d.raw) > maxPayload {
		t.Errorf("%d bytes for one histogram", cap(d.raw))
	}
}

func FuzzReader(f *testing.F) {
	var buf bytes.Buffer
	w := NewWriter(&buf)
	if err := errors.Join(w.Header(1e18), w.Comment([]byte("x")),
		w.Histogram(Line{Tag: "t", LengthNs: 5, Buckets: []stats.Bucket{{Index: 5, Count: 1}, {Index: 3000, Count: 200}}})); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add([]byte("Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMAgxQABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=\n"))
	f.Add([]byte("\n#\n\"\n,,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for range 1000 {
			_, l, err := r.Next()
			if err != nil {
				return
			}
			if l == nil {
				continue
			}
			// What is read can be written, and comes back.
			if strings.ContainsAny(l.Tag, " \t\r") {
				continue
			}
			var out bytes.Buffer
			if err := NewWriter(&out).Histogram(*l); err != nil {
				t.Fatalf("%+v was read and cannot be written: %v", l, err)
			}
			_, again, err := NewReader(&out).Next()
			if err != nil || again.Tag != l.Tag || !slices.Equal(again.Buckets, l.Buckets) {
				t.Fatalf("%+v comes back as %+v, %v", l, again, err)
			}
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	var c stats.Counter
	for range 1000 {
		if err := c.Record(20e6 + r.Int64N(100e6)); err != nil {
			b.Fatal(err)
		}
	}
	h := c.Take().Buckets
	var e encoder
	text, err := e.appendTo(nil, h)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		for range b.N {
			text, _ = e.appendTo(text[:0], h)
		}
		b.ReportMetric(float64(len(text)), "bytes")
	})
	b.Run("Decode", func(b *testing.B) {
		var d decoder
		for range b.N {
			_, _ = d.decode(text)
		}
	})
	b.Run("Library", func(b *testing.B) {
		dense := hdrhistogram.New(1, stats.MaxValue, 3)
		for _, x := range h {
			low, _ := stats.Bounds(x.Index)
			_ = dense.RecordValues(low, x.Count)
		}
		for range b.N {
			t, _ := dense.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			_, _ = hdrhistogram.Decode(t)
		}
	})
}
