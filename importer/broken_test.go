package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
)

// broken gives a text and then an error, as a file on a disk that fails does.
type broken struct{ text string }

var errDisk = errors.New("the disk does not answer")

func (b *broken) Read(p []byte) (int, error) {
	if len(b.text) == 0 {
		return 0, errDisk
	}
	n := copy(p, b.text)
	b.text = b.text[n:]
	return n, nil
}

// columnsOf take latencies in ms from the column latency.
var columnsOf = Options{Columns: []Column{{Latency, "latency", 1e6}}}

// An input whose reading fails at any byte is an error that says so, whatever its
// format: neither a panic nor a short result.
func TestInputsThatFailInTheMiddle(t *testing.T) {
	type sample struct {
		text string
		opt  Options
	}
	samples := map[string]sample{
		"columns":         {"latency,text\n1,a\n2,\"b\nc\"\n", columnsOf},
		"columns, quoted": {"\"latency\",text\n\"1\",a\n\n\"2\",\"b\nc\"\n", columnsOf},
		"blank lines":     {"\n\n\n", columnsOf},
		"k6, quoted":      {"metric_name,timestamp,metric_value\n\"http_req_duration\",1768478400,1\n", Options{}},
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples[filepath.Base(file)] = sample{string(body), Options{Unit: 1000}}
	}
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			for at := 0; at <= len(s.text); at += 1 + len(s.text)/80 {
				d, err := Read("file", &broken{s.text[:at]}, s.opt)
				if err == nil {
					t.Fatalf("cut after %d of %d bytes it has %d steps and no error", at, len(s.text), len(d.Steps))
				}
				if !strings.HasPrefix(err.Error(), "file: ") {
					t.Fatalf("cut after %d bytes: an error that does not name the file: %v", at, err)
				}
			}
		})
	}
}

// A CSV without a record is empty; a quoted field of any length, or without an end, is
// no reason to panic.
func TestRecordsThatAreNone(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"nothing":               strings.NewReader(""),
		"a line end":            strings.NewReader("\n"),
		"line ends":             strings.NewReader("\r\n\n\r\n"),
		"a byte order mark":     strings.NewReader("\ufeff\n"),
		"a quote":               strings.NewReader("\""),
		"a header and no end":   &endless{head: "\"", text: "x\n"},
		"a record and no end":   &endless{head: "latency\n\"", text: "x\n"},
		"a line that is broken": &broken{"\"latency"},
	} {
		d, err := Read("file", r, columnsOf)
		if err == nil {
			t.Errorf("%s: %d steps and no error", name, len(d.Steps))
		} else if !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%s: an error that does not name the file: %v", name, err)
		}
	}
}

// A few messages that are far apart make no more intervals than many: 20 lines over ten
// hours were 14 GB, and a digest that nobody could read.
func TestMessagesFarApart(t *testing.T) {
	for name, c := range map[string]struct {
		gap time.Duration
		n   int
	}{
		"two in ten days":      {longestSpan, 2},
		"twenty in ten hours":  {30 * time.Minute, 20},
		"a minute between":     {time.Minute, 2000},
		"an hour between":      {time.Hour, 200},
		"as near as they come": {time.Millisecond, 20},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString("due,latency\n")
			begin := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
			for i := range c.n {
				fmt.Fprintf(&text, "%s,%d\n", begin.Add(time.Duration(i)*c.gap).Format("2006-01-02T15:04:05.000Z"), 1+i%7)
			}
			d, err := Read("file", strings.NewReader(text.String()), Options{Columns: []Column{{Intended, "due", 0}, {Latency, "latency", 1e6}}})
			if err != nil {
				t.Fatal(err)
			}
			s := d.Steps[0]
			var scheduled int64
			for i := range s.Intervals {
				scheduled += s.Intervals[i].Scheduled
			}
			if n := len(s.Intervals); n > 2*mostBins+1 || scheduled != int64(c.n) || s.Accounting.Received != int64(c.n) {
				t.Errorf("%d intervals, %d messages in them, %+v", n, scheduled, s.Accounting)
			}
			if want := time.Duration(c.n-1) * c.gap; s.Duration < want || s.Duration > 2*want+2*s.Interval {
				t.Errorf("it lasts %v, of %v", s.Duration, want)
			}
			var b bytes.Buffer
			if err := analysis.WriteDigest(&b, d); err != nil {
				t.Fatal(err)
			}
			if _, err := analysis.ReadDigest(&b); err != nil {
				t.Error(err)
			}
		})
	}
}
