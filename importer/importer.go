// Package importer reads what other tools recorded: raw latencies into the
// digest that our own runs have, summaries into references.
//
// A file is known by its content, never by its name. Of raw kinds (a value for
// each message, or a histogram for each interval) percentiles are computed here;
// of summaries the percentiles are carried as they are, with their definition,
// and never merged, averaged or drawn out of each other. What a file does not
// say (a unit, the time of a window) is said to be assumed, or asked for.
//
// The package reads from an io.Reader and knows no files. Its memory does not
// grow with the input: what is hostile or too large ends in an error that names
// the file, the line and the reason.
package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"queuebench/analysis"
	"queuebench/internal/inflate"
)

// Options say what a file does not.
type Options struct {
	// Unit of the values of formats that carry none: .hlog (0 for ns), .hgrm,
	// wrk2's spectrum and nats latency (0 for ms).
	Unit time.Duration
	// Metrics of a k6 file that are read, each as a step of its own. Empty: the
	// only one of the script's own, or the duration of requests.
	Metrics []string
	// Columns name those of a plain CSV or Parquet. Not empty: the input is read
	// as such, whatever it looks like.
	Columns []Column
}

// ErrUnknown: the content is of no format that is read.
var ErrUnknown = errors.New("the content is of no format that is known")

// headSize is how much is looked at to know a format.
const headSize = 64 << 10

// format is a kind of file.
type format struct {
	name string // for people
	is   func(head []byte) bool
	read func(*source) (*analysis.Digest, error)
}

// formats in the order in which they are tried: the ones with a mark of their
// own first, those that are known by their shape last.
var formats = []format{
	{"Queuebench digest", isDigest, readDigest},
	{"HdrHistogram interval log", isHLog, readHLog},
	{"wrk2 output", isWrk, readWrk},
	{"HdrHistogram percentile distribution", isHGRM, readHGRM},
	{"Kafka producer performance test", isKafkaProducer, readKafkaProducer},
	{"Kafka end-to-end latency test", isKafkaEndToEnd, readKafkaEndToEnd},
	{"Kafka consumer performance test", isKafkaConsumer, readKafkaConsumer},
	{"OpenMessaging Benchmark result", isOMB, readOMB},
	{"k6 JSON", isK6JSON, readK6JSON},
	{"k6 CSV", isK6CSV, readK6CSV},
	{"vegeta JSON", isVegetaJSON, readVegetaJSON},
	{"PerfTest JSON", isPerfTestJSON, readPerfTestJSON},
	{"PerfTest CSV", isPerfTestCSV, readPerfTestCSV},
	{"nats bench CSV", isNatsBench, readNatsBench},
	{"warp operations", isWarp, readWarp},
	{"Pathway benchmark CSV", isPathway, readPathway},
	{"reference series", isSeries, readSeries},
	{"vegeta CSV", isVegetaCSV, readVegetaCSV},
	{"nats latency values", isNatsLatency, readNatsLatency},
}

// Formats are the names of what Read knows by its content.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// source is an input that is being read.
type source struct {
	name string // of the file, for messages
	r    *bufio.Reader
	opt  Options
}

// fail is the error of a line, from 1; 0 for the input as a whole.
func (s *source) fail(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if line == 0 {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return fmt.Errorf("%s: line %d: %w", s.name, line, err)
}

// Read reads a file, also one that is compressed with gzip or zstd. name is what
// it is called in messages; only of a Pathway CSV, whose name is its rate, does
// it mean anything. The error is ErrUnknown for what is of no known format, and
// names the file, where it can the line, and the reason.
func Read(name string, r io.Reader, opt Options) (*analysis.Digest, error) {
	s := &source{name: name, opt: opt}
	closeIt, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer closeIt()
	if len(opt.Columns) > 0 {
		return readColumns(s)
	}
	head, err := s.r.Peek(headSize)
	if len(head) == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, s.fail(0, "%w", err)
	}
	for _, f := range formats {
		if f.is(head) {
			d, err := f.read(s)
			if err != nil {
				return nil, fmt.Errorf("%w (read as: %s)", err, f.name)
			}
			return d, nil
		}
	}
	return nil, s.fail(0, "%w: it begins with %s; `analyze import --help` lists what is read, and any CSV or Parquet is with --columns%s",
		ErrUnknown, show(head), advice(head))
}

// open takes off the compression and the byte order mark.
func (s *source) open(r io.Reader) (closeIt func(), err error) {
	closeIt = func() {}
	s.r = bufio.NewReaderSize(r, headSize)
	magic, _ := s.r.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		packed := inflate.NewCounter(s.r)
		z, err := gzip.NewReader(packed)
		if err != nil {
			return closeIt, s.fail(0, "gzip: %w", err)
		}
		s.r = bufio.NewReaderSize(inflate.Guard(z, packed, 0), headSize)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		packed := inflate.NewCounter(s.r)
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return closeIt, s.fail(0, "zstd: %w", err)
		}
		closeIt = z.Close
		s.r = bufio.NewReaderSize(inflate.Guard(z, packed, 0), headSize)
	}
	if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = s.r.Discard(3) // what was peeked is there
	}
	return closeIt, nil
}

// show quotes the beginning of an input.
func show(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return fmt.Sprintf("%.60q", line)
}

// advice says what to do with inputs that are known and not read.
func advice(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return "; this is Parquet: name its columns"
	case bytes.Contains(head[:min(len(head), 400)], []byte("Attack")) && bytes.Contains(head[:min(len(head), 400)], []byte("BytesOut")):
		return "; this looks like vegeta's own encoding: `vegeta encode --to csv` makes a file that is read"
	}
	return ""
}

func isDigest(head []byte) bool {
	return bytes.HasPrefix(head, []byte("#[")) && bytes.Contains(head, []byte("#[queuebench.digest/"))
}

func readDigest(s *source) (*analysis.Digest, error) {
	d, err := analysis.ReadDigest(s.r)
	if err != nil {
		return nil, s.fail(0, "%w", err)
	}
	return d, nil
}
