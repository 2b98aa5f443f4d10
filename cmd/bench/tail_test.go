package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/rawlog"
)

// foreignTable writes a table as Pathway does, by hand.
type foreignTable struct {
	t   *testing.T
	dir string
}

type foreignRow struct {
	Data string `parquet:"data"`
	Time int64  `parquet:"time"`
	Diff int64  `parquet:"diff"`
}

func newForeignTable(t *testing.T, dir string) *foreignTable {
	f := &foreignTable{t, dir}
	field := `{\"name\":\"%s\",\"type\":\"%s\",\"nullable\":false,\"metadata\":{}}`
	f.version(0, `{"protocol":{"minReaderVersion":1,"minWriterVersion":1}}`,
		`{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[`+
			fmt.Sprintf(field, "data", "string")+","+fmt.Sprintf(field, "time", "long")+","+fmt.Sprintf(field, "diff", "long")+`]}","partitionColumns":[],"configuration":{}}}`)
	return f
}

// write stores a file and then puts it in its place, as one step.
func (f *foreignTable) write(name string, body []byte) {
	path := filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".new", body, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		f.t.Error(err)
	}
}

func (f *foreignTable) version(v int, lines ...string) {
	f.write(fmt.Sprintf("_delta_log/%020d.json", v), []byte(strings.Join(lines, "\n")+"\n"))
}

func (f *foreignTable) add(v int, rows ...foreignRow) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[foreignRow](&b, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		f.t.Error(err)
	}
	if err := w.Close(); err != nil {
		f.t.Error(err)
	}
	name := fmt.Sprintf("%d.parquet", v)
	f.write(name, b.Bytes())
	f.version(v, fmt.Sprintf(`{"commitInfo":{"timestamp":%d}}`, time.Now().UnixMilli()),
		fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":%d,"dataChange":true}}`, name, b.Len(), time.Now().UnixMilli()))
}

func tailJSON(t *testing.T, stdout string) jsonTail {
	t.Helper()
	var r jsonTail
	line, _, _ := strings.Cut(stdout, "\n")
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	return r
}

// A table that Pathway writes while it is tailed: the stamps are its own, a row
// that is taken back is counted and is no message, and what was there before has
// no latency.
func TestTailOfATableThatOthersWrite(t *testing.T) {
	bareEnvironment(t)
	table := newForeignTable(t, "theirs/table")
	table.add(1, foreignRow{"before", 2000, 1}, foreignRow{"before", 2002, 1})
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(2 * time.Second) // by then it tails, but on a very slow host
		for v := 2; v < 12; v++ {
			now := time.Now().UnixMilli() &^ 1
			table.add(v, foreignRow{"a", now, 1}, foreignRow{"b", now, 1}, foreignRow{"a", now, -1})
			time.Sleep(20 * time.Millisecond)
		}
	})
	status, stdout, stderr := bench(t, "tail", "./theirs/table", "--start", "earliest", "--count", "22", "--duration", "30s", "--json", "--run-id", "t1")
	wg.Wait()
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	r := tailJSON(t, stdout)
	tail := r.Tail
	// A slow start finds more versions there than the one of before.
	if tail.PresentRows != 2*tail.Present {
		t.Errorf("%d rows of %d versions were there", tail.PresentRows, tail.Present)
	}
	if r.Received != 22 || tail.Retractions != 10 || tail.Versions != 11 || tail.First != 1 || tail.Last != 11 || tail.EndedBy != "count" || !r.Complete {
		t.Errorf("%+v, %+v", r, tail)
	}
	if tail.Stamp != "column" || tail.StampColumn != "time" || tail.ResolutionNs != 2e6 || tail.Column != "data" {
		t.Errorf("stamps of %+v", tail)
	}
	if r.Latency.N != 22-tail.PresentRows || r.Latency.MinNs < 0 || r.Latency.MaxNs > int64(30*time.Second) {
		t.Errorf("latency %+v", r.Latency)
	}
	if n := r.Requests["put"] + r.Requests["put_if_absent"] + r.Requests["delete"]; n != 0 || r.Requests["get"] == 0 {
		t.Errorf("requests %v: the table of others was written to", r.Requests)
	}
	m, rows := readLog(t, lastLine(stdout))
	if rows["received"] != 22 || rows["batches"] != 11 || rows["seconds"] == 0 || rows["sent"] != 0 {
		t.Errorf("rows %v", rows)
	}
	if s := m.Steps[0]; s.Loop != rawlog.LoopTail || s.Accounting.Received != 22 || m.Queue.LosesNothing || !m.Complete {
		t.Errorf("%+v", m)
	}
	for _, name := range filesBelow("theirs") {
		if !strings.HasSuffix(name, ".parquet") && !strings.HasSuffix(name, ".json") {
			t.Errorf("%s lies beside the table", name)
		}
	}
}

// It ends by time and by idle time, from each start, and says in its table what
// it measured.
func TestTailEndsAsAsked(t *testing.T) {
	bareEnvironment(t)
	table := newForeignTable(t, "table")
	for v := 1; v < 5; v++ {
		table.add(v, foreignRow{fmt.Sprint(v), 2, 1})
	}
	for _, c := range []struct {
		args   string
		status int
		rows   int64
		by     string
	}{
		{"--start earliest --idle-timeout 100ms", 0, 4, "idle"},
		{"--start earliest --duration 200ms", 0, 4, "duration"},
		{"--start version:3 --idle-timeout 100ms --time-column @commit", 0, 2, "idle"},
		{"--start time:2020-01-02T15:04:05Z --idle-timeout 100ms --time-column @none", 0, 4, "idle"},
		{"--idle-timeout 100ms", 1, 0, "idle"},
	} {
		status, stdout, stderr := bench(t, append([]string{"tail", "table", "--json"}, strings.Fields(c.args)...)...)
		r := tailJSON(t, stdout)
		if status != c.status || r.Received != c.rows || r.Tail.EndedBy != c.by {
			t.Errorf("%s: status %d, %d rows, ended by %q, %s", c.args, status, r.Received, r.Tail.EndedBy, stderr)
		}
	}
	_, stdout, _ := bench(t, "tail", "table", "--start", "earliest", "--count", "1")
	for _, want := range []string{"column data; latency from the column time (long), steps of 2ms", "there before", "ended by --count"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	// A table that a queue must refuse ends it, and the log has what came.
	table.version(5, `{"remove":{"path":"1.parquet","dataChange":true}}`)
	status, stdout, stderr := bench(t, "tail", "table", "--start", "earliest", "--json")
	r := tailJSON(t, stdout)
	if status != 1 || !strings.Contains(stderr, "version 5 removes 1.parquet") || r.Received != 4 || r.Complete || r.Failure == "" {
		t.Errorf("status %d, %+v, %s", status, r, stderr)
	}
}

func TestTailMisuse(t *testing.T) {
	bareEnvironment(t)
	tables := t.TempDir()
	newForeignTable(t, filepath.Join(tables, "table")).add(1, foreignRow{"1", 2, 1})
	table := filepath.Join(tables, "table")
	for line, want := range map[string]string{
		"tail":                                             "name one table",
		"tail a b":                                         "name one table",
		"tail s3://bucket":                                 "needs a name below the bucket",
		"tail " + table + " --start 7":                     "--start \"7\": say latest",
		"tail " + table + " --start time":                  "say latest",
		"tail " + table + " --duration -1s":                "--duration -1s is not positive",
		"tail " + table + " --idle-timeout 0s":             "--idle-timeout 0s is not positive",
		"tail " + table + " --count 0":                     "--count 0",
		"tail " + table + " --time-unit min":               "say s, ms, us or ns",
		"tail " + table + " --column other":                "it has data (string), diff (long), time (long)",
		"tail " + table + " --column time":                 "no such column of the type binary or string",
		"tail " + table + " --time-column data":            "--time-column data is of the type string",
		"tail " + table + " --time-column when":            "say @commit for the time of the commit",
		"tail " + table + " --time-column diff":            "--time-unit is needed",
		"tail " + table + " --log-store " + table + "/log": "lies inside of the table",
	} {
		refused(t, 2, want, line)
	}
	refused(t, 1, "there was no Delta table at "+tables+"/absent within", "tail "+tables+"/absent --duration 100ms --quiet")
}
