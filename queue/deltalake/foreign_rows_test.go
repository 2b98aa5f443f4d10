package deltalake

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// rowsOf reads a Parquet file as texts, a row each: "column=value" of each
// column of names in their order; fixed are the columns that do not stand in the
// file.
func rowsOf(t *testing.T, body []byte, names []string, fixed map[string]*string) []string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]int{}
	for i, path := range f.Schema().Columns() {
		columns[strings.Join(path, ".")] = i
	}
	var out []string
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				var cells []string
				for _, name := range names {
					text := "null"
					if i, ok := columns[name]; ok {
						text = cellOf(row, i)
					}
					if v, ok := fixed[name]; ok && v != nil {
						text = hex.EncodeToString([]byte(*v))
					}
					cells = append(cells, name+"="+text)
				}
				out = append(out, strings.Join(cells, " "))
			}
			if err != nil {
				break
			}
		}
		rows.Close()
	}
	return out
}

// cellOf is a value as text, whatever width its kind has.
func cellOf(row parquet.Row, column int) string {
	for _, v := range row {
		switch {
		case v.Column() != column:
			continue
		case v.IsNull():
			return "null"
		case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
			return hex.EncodeToString(v.ByteArray())
		case v.Kind() == parquet.Int96:
			return fmt.Sprint(int96Ns(v))
		}
		return v.String()
	}
	return "absent"
}

// expectedRows are those of a folder of expectations.
func expectedRows(t *testing.T, dir string, names []string) (rows []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "table_content", "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowsOf(t, body, names, nil)...)
	}
	slices.Sort(rows)
	return rows
}

// The rows of each snapshot, of the newest version and of the earlier ones, are
// those that are expected: the log replayed with its removes, from checkpoints,
// with the values of partitions.
func TestForeignSnapshotRows(t *testing.T) {
	versions := 0
	for name, wantVersions := range map[string]int{"basic_append": 3, "basic_partitioned": 3, "all_primitive_types": 1, "with_schema_change": 2, "with_checkpoint": 1, "no_replay": 1} {
		store, ok := foreign(t, name)
		if !ok {
			continue
		}
		expectations, err := filepath.Glob(filepath.Join(foreignTables, name, "expected", "*"))
		if err != nil || len(expectations) != wantVersions {
			t.Errorf("%s: expectations %q, %v", name, expectations, err)
		}
		tb := open(t, Config{Store: store, Name: "delta", ReadOnly: true}).tables[0]
		for _, dir := range expectations {
			versions++
			var want struct {
				Version          int64             `json:"version"`
				Properties       map[string]string `json:"properties"`
				MinReaderVersion int               `json:"min_reader_version"`
				MinWriterVersion int               `json:"min_writer_version"`
			}
			body, err := os.ReadFile(filepath.Join(dir, "table_version_metadata.json"))
			if err != nil || json.Unmarshal(body, &want) != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			s, err := tb.snapshotAt(t.Context(), want.Version)
			if err != nil {
				t.Errorf("%s: %v", dir, err)
				continue
			}
			if s.version != want.Version || s.protocol.MinReaderVersion != want.MinReaderVersion || s.protocol.MinWriterVersion != want.MinWriterVersion {
				t.Errorf("%s: version %d, %+v; expected %+v", dir, s.version, s.protocol, want)
			}
			for k, v := range want.Properties {
				if s.metaData.Configuration[k] != v {
					t.Errorf("%s: the property %s is %q, expected %q", dir, k, s.metaData.Configuration[k], v)
				}
			}
			var schema structType
			if err := json.Unmarshal([]byte(s.metaData.SchemaString), &schema); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range schema.Fields {
				names = append(names, f.Name)
			}
			var got []string
			for _, f := range s.files {
				key, err := dataKey(f.Path)
				if err != nil {
					t.Fatal(err)
				}
				body, err := tb.get(t.Context(), key)
				if err != nil || int64(len(body)) != f.Size {
					t.Fatalf("%s: %s has %d bytes, the log says %d: %v", dir, key, len(body), f.Size, err)
				}
				got = append(got, rowsOf(t, body, names, f.PartitionValues)...)
			}
			slices.Sort(got)
			if rows := expectedRows(t, dir, names); len(rows) == 0 || !slices.Equal(got, rows) {
				t.Errorf("%s: the rows are\n%s\nexpected\n%s", dir, strings.Join(got, "\n"), strings.Join(rows, "\n"))
			}
		}
	}
	t.Logf("%d versions were compared row by row", versions)
}
