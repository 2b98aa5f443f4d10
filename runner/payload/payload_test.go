package payload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"queuebench/queue"
	"queuebench/runner/envelope"
)

func source(t testing.TB, spec Spec, producer, producers int) *Source {
	t.Helper()
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	src, err := New(spec, 42, producers).Source(producer, 7, 4096, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// message is a message in a batch of its own.
func message(t testing.TB, src *Source, seq int64) queue.Message {
	var m queue.Message
	src.Next()
	if !src.Fill(&m, seq) {
		t.Fatalf("message %d: %v", seq, src.Err())
	}
	return m
}

func lines(t testing.TB, text []byte) *Lines {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sizes(t testing.TB, text string) Sizes {
	t.Helper()
	s, err := ParseSizes(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// specs are one of each way to make messages.
func specs(t testing.TB) map[string]Spec {
	zipf := Keys{N: 1000, Distribution: ZipfKeys, S: 1.1}
	headers := []queue.Header{{Name: "origin", Value: []byte("bench")}, {Name: "origin", Value: nil}}
	return map[string]Spec{
		"fixed":     Fixed(100),
		"smallest":  Fixed(16),
		"all":       {Sizes: sizes(t, "uniform:16..900"), Compressibility: 0.3, Keys: zipf, Headers: headers},
		"lognormal": {Sizes: sizes(t, "lognormal:mean=300,p99=1500,max=5000"), Keys: Keys{N: 3}},
		"weighted":  {Sizes: sizes(t, "16:50%,70000:50%")},
		"lines":     {Lines: lines(t, []byte("one\n\nthree\r\nfour")), Keys: Keys{N: 10, Distribution: UniformKeys}},
	}
}

func TestEachMessageFollowsFromSeedProducerAndSeq(t *testing.T) {
	for name, spec := range specs(t) {
		t.Run(name, func(t *testing.T) {
			src, other := source(t, spec, 2, 3), source(t, spec, 2, 3)
			m := make([]queue.Message, src.Most())
			for seq, batches := int64(0), 0; batches < 3; batches++ {
				src.Next()
				n := 0
				for n < len(m) && src.Fill(&m[n], seq+int64(n)) {
					n++
				}
				if n == 0 || src.Err() != nil {
					t.Fatalf("a batch of %d messages: %v", n, src.Err())
				}
				for k := n - 1; k >= 0; k-- { // in another order, one by one, and all are still there
					want := message(t, other, seq+int64(k))
					if !bytes.Equal(m[k].Payload, want.Payload) || !bytes.Equal(m[k].Key, want.Key) || len(m[k].Headers) != len(spec.Headers) {
						t.Fatalf("message %d is %.60q with key %q, and when made alone %.60q with key %q", seq+int64(k), m[k].Payload, m[k].Key, want.Payload, want.Key)
					}
					id, err := envelope.Decode(m[k].Payload)
					if want := (envelope.ID{Producer: 2, Tag: 7, Seq: seq + int64(k)}); err != nil || id != want {
						t.Fatalf("identity %+v, %v, want %+v", id, err, want)
					}
					if size := len(m[k].Payload); size < spec.Smallest() || size > spec.Largest() {
						t.Fatalf("message %d has %d bytes, not %d to %d", seq, size, spec.Smallest(), spec.Largest())
					}
				}
				seq += int64(n)
			}
		})
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	for name, spec := range specs(t) {
		src := source(t, spec, 0, 1)
		var m queue.Message
		seq := int64(0)
		if n := testing.AllocsPerRun(1000, func() {
			src.Next()
			src.Fill(&m, seq)
			seq++
		}); n > 0 {
			t.Errorf("%s: %v allocations a message", name, n)
		}
	}
}

func TestMarksAreEndMarks(t *testing.T) {
	for name, spec := range specs(t) {
		src := source(t, spec, 1, 2)
		m := src.Mark(4, 99)
		id, err := envelope.Decode(m.Payload)
		if err != nil || id != (envelope.ID{Kind: envelope.End, Producer: 1, Tag: 7, Seq: 99}) || m.Partition != 4 {
			t.Errorf("%s: %+v, %v in partition %d", name, id, err, m.Partition)
		}
	}
}

func TestSizesAreDistributedAsAskedFor(t *testing.T) {
	const n = 200_000
	draw := func(s Sizes) (all []int, mean float64) {
		for i := range uint64(n) {
			v := s.size(mix(i * golden))
			all = append(all, v)
			mean += float64(v) / n
		}
		slices.Sort(all)
		return all, mean
	}
	near := func(what string, got, want, share float64) {
		t.Helper()
		if math.Abs(got-want) > share*want {
			t.Errorf("%s: %.1f, want %.1f", what, got, want)
		}
	}
	all, mean := draw(sizes(t, "uniform:64..1024"))
	near("uniform mean", mean, 544, 0.01)
	if all[0] != 64 || all[n-1] != 1024 {
		t.Errorf("uniform from %d to %d", all[0], all[n-1])
	}
	all, mean = draw(sizes(t, "lognormal:mean=1000,p99=8000"))
	near("lognormal mean", mean, 1000, 0.03)
	near("lognormal p99", float64(all[n*99/100]), 8000, 0.05)
	_, mean = draw(sizes(t, "lognormal:mean=500,p99=500"))
	near("a lognormal distribution of one size", mean, 500, 1e-9)
	all, _ = draw(sizes(t, "100:90%,10000:9.5%,20000:0.5%"))
	for _, c := range []struct {
		size int
		want float64
	}{{100, 0.9}, {10000, 0.095}, {20000, 0.005}} {
		first, _ := slices.BinarySearch(all, c.size)
		last, _ := slices.BinarySearch(all, c.size+1)
		near(fmt.Sprintf("share of %d", c.size), float64(last-first)/n, c.want, 0.06)
	}
}

func TestParseSizes(t *testing.T) {
	for text, want := range map[string]string{
		"100": "100", " 1_000 ": "1000", "uniform:64..1024": "uniform:64..1024", "uniform:16..16": "uniform:16..16",
		"lognormal:mean=1000,p99=8000": "lognormal:mean=1000,p99=8000", "lognormal:p99=900,mean=500,max=1000000": "lognormal:mean=500,p99=900",
		"lognormal:mean=1000,p99=8000,max=90000": "lognormal:mean=1000,p99=8000,max=90000",
		"100:90%, 10000:10%":                     "100:90%,10000:10%", "16:0.0001%,20:99.9999%": "16:0.0001%,20:99.9999%",
	} {
		if s, err := ParseSizes(text); err != nil || s.String() != want {
			t.Errorf("%q is %q, %v", text, s, err)
		}
	}
	for text, want := range map[string]string{
		"": "no number of bytes", "15": "identity takes 16", "-5": "identity takes 16", "ten": "no number of bytes", "99999999999": "larger than",
		"uniform:64": "such as uniform:64..1024", "uniform:64..63": "smallest is above", "uniform:15..20": "identity takes 16", "uniform:a..b": "no number",
		"lognormal:mean=1000": "p99", "lognormal:mean=10,p99=20": "at least 16", "lognormal:mean=100,p99=99": "not below the mean",
		"lognormal:mean=100,p99=2000": "15.0 times", "lognormal:mean=20,p99=150": "lie below 16", "lognormal:mean=100,p99=400,max=300": "max that is not below",
		"lognormal:mean=100,p99=400,sd=3": `"sd" is no part`, "100:90%": "add up to 90%", "100:90%,200:11%": "add up to 101%", "100:90%,15:10%": "identity takes 16",
		"100:0%,200:100%": "with their shares", "100:50,200:50": "write 100, uniform", "100:50%,200": "with their shares", "100:33.33333%,200:66.66667%": "four digits",
		"normal:5..6": "write 100, uniform",
	} {
		if s, err := ParseSizes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v, want %q", text, s, err, want)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"100", "uniform:64..1024", "lognormal:mean=1000,p99=8000,max=9000", "100:90%,10000:10%", "16:1e-4%,17:99.9999%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSizes(text)
		if err != nil {
			return
		}
		again, err := ParseSizes(s.String())
		if err != nil || again != s {
			t.Fatalf("%q is written %q, read back as %+v, %v", text, s, again, err)
		}
		for _, u := range []uint64{0, 1, math.MaxUint64 / 2, math.MaxUint64} {
			if n := s.size(u); n < s.Min() || n > s.Max() {
				t.Errorf("%q: the word %d gives %d bytes", text, u, n)
			}
		}
	})
}

func TestKeysAreDistributedAsAskedFor(t *testing.T) {
	const n = 300_000
	for _, text := range []string{"round-robin", "uniform", "zipf:0.5", "zipf:0.99", "zipf:1", "zipf:1.5", "zipf:4"} {
		k, err := ParseKeys(50, text)
		if err != nil {
			t.Fatal(err)
		}
		c := k.chooser(3)
		seen := make([]float64, 50)
		for i := range int64(n) {
			seen[c.choose(i)]++
		}
		var sum float64
		weight := func(i int) float64 { return math.Pow(float64(i+1), -k.S) } // 1 without zipf
		for i := range seen {
			sum += weight(i)
		}
		var chi2 float64
		classes := -1
		for i := range seen {
			if want := n * weight(i) / sum; want > 5 {
				chi2 += (seen[i] - want) * (seen[i] - want) / want
				classes++
			}
		}
		if z := (chi2 - float64(classes)) / math.Sqrt(2*float64(classes)); z > 4 {
			t.Errorf("%s: chi-square %.1f over %d classes", text, chi2, classes+1)
		}
		if text == "round-robin" && chi2 > 0 {
			t.Errorf("round-robin: the keys are not even: %v", seen)
		}
	}
}

// Round-robin goes over the messages of all producers, as they are due.
func TestKeysOfAllProducersTogether(t *testing.T) {
	spec := Fixed(20)
	spec.Keys = Keys{N: 1000}
	for p := range 3 {
		src := source(t, spec, p, 3)
		for seq := range int64(1000) {
			if got, want := string(message(t, src, seq).Key), fmt.Sprintf("key-%03d", (seq*3+int64(p))%1000); got != want {
				t.Fatalf("producer %d, message %d: key %q, want %q", p, seq, got, want)
			}
		}
	}
}

func TestParseKeysRefuses(t *testing.T) {
	for _, c := range []struct {
		n    int64
		text string
	}{{0, "uniform"}, {5, "none"}, {-1, "uniform"}, {2_000_000_000, "uniform"}, {5, "zipf"}, {5, "zipf:0"}, {5, "zipf:-1"}, {5, "zipf:NaN"}, {5, "zipf:99"}, {5, "pareto"}, {5, "uniform:2"}, {5, ""}} {
		if k, err := ParseKeys(c.n, c.text); err == nil {
			t.Errorf("%d keys, %q: %+v", c.n, c.text, k)
		}
	}
	if k, err := ParseKeys(0, "none"); err != nil || k != (Keys{}) {
		t.Errorf("none: %+v, %v", k, err)
	}
}

func TestSpecRefuses(t *testing.T) {
	l := lines(t, []byte("x\n"))
	for name, s := range map[string]Spec{
		"nothing":                {},
		"too small":              Fixed(15),
		"too large":              Fixed(MaxSize + 1),
		"compressibility":        {Sizes: FixedSize(100), Compressibility: 1.1},
		"no number":              {Sizes: FixedSize(100), Compressibility: math.NaN()},
		"lines and sizes":        {Sizes: FixedSize(100), Lines: l},
		"lines and compressible": {Lines: l, Compressibility: 0.5},
		"nameless header":        {Sizes: FixedSize(100), Headers: []queue.Header{{Value: []byte("x")}}},
		"keys":                   {Sizes: FixedSize(100), Keys: Keys{N: -1}},
	} {
		if s.Check() == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var many []string
	for i := range 70_000 { // more than there are marks
		many = append(many, fmt.Sprint(i))
	}
	for name, want := range map[string][]string{
		"one":        {"a"},
		"empty ones": {"", "", "b", ""},
		"long":       {long, "b", long + "y"},
		"many":       many,
	} {
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.Join(want, end)
			if name != "empty ones" {
				check(t, name, lines(t, []byte(text)), want) // the last line ends with the file
			}
			check(t, name, lines(t, []byte(text+end)), want)
		}
	}
	check(t, "carriage returns inside", lines(t, []byte("a\rb\n\r\n\rc\n")), []string{"a\rb", "", "\rc"})
}

// check reads the lines as each of three producers does, over the file's end.
func check(t *testing.T, name string, l *Lines, want []string) {
	t.Helper()
	if l.Count() != int64(len(want)) {
		t.Fatalf("%s: %d lines, want %d", name, l.Count(), len(want))
	}
	for p := range 3 {
		src := source(t, Spec{Lines: l}, p, 3)
		for seq := range min(int64(len(want)), 25_000) {
			if got, want := string(message(t, src, seq).Payload[envelope.Size:]), want[(int(seq)*3+p)%len(want)]; got != want {
				t.Fatalf("%s: producer %d, message %d: %.40q, want %.40q", name, p, seq, got, want)
			}
		}
	}
}

func TestOpenLinesRefuses(t *testing.T) {
	dir := t.TempDir()
	refused := func(path, want string) {
		t.Helper()
		if _, err := OpenLines(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	empty, large := filepath.Join(dir, "empty"), filepath.Join(dir, "large")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, []byte("a\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, MaxSize); err != nil { // a third line of zeros, which takes no room on the disk
		t.Fatal(err)
	}
	refused(empty, "is empty")
	refused(large, "line 3 has 67108860 bytes")
	refused(dir, "no regular file")
	refused(filepath.Join(dir, "absent"), "no such file")
}

func TestAFileThatChangesIsAnError(t *testing.T) {
	l := lines(t, bytes.Repeat([]byte("a line\n"), 100_000))
	src := source(t, Spec{Lines: l}, 0, 1)
	message(t, src, 0)
	if err := os.Truncate(l.Path(), 100); err != nil {
		t.Fatal(err)
	}
	var m queue.Message
	src.Next()
	if src.Fill(&m, 99_999) || !errors.Is(src.Err(), ErrLines) {
		t.Errorf("a file that was cut: %v", src.Err())
	}
	if _, err := l.open(); !errors.Is(err, ErrLines) {
		t.Errorf("opening it again: %v", err)
	}
}
