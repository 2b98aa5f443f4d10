// Package parquettest holds Parquet files that we write against what readers of
// others believe of them. Only tests use it.
package parquettest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// CheckBounds fails unless the column index of each page holds for the page's
// values: readers skip pages by it, and by a wrong one they skip rows in
// silence. It returns the number of pages that it looked at.
func CheckBounds(t testing.TB, body []byte) (pages int) {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.RowGroups() {
		for _, chunk := range group.ColumnChunks() {
			pages += checkChunk(t, file.Schema().Columns()[chunk.Column()], chunk)
		}
	}
	return pages
}

func checkChunk(t testing.TB, name []string, chunk parquet.ColumnChunk) (n int) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatalf("column %v: %v", name, err)
	}
	pages := chunk.Pages()
	defer pages.Close()
	for ; ; n++ {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("column %v: %v", name, err)
		}
		values := make([]parquet.Value, page.NumValues())
		if got, err := page.Values().ReadValues(values); got != len(values) {
			t.Fatalf("column %v, page %d: %d of %d values, %v", name, n, got, len(values), err)
		}
		compare := chunk.Type().Compare
		nulls := int64(0)
		for _, v := range values {
			switch {
			case v.IsNull():
				nulls++
			case index.NullPage(n):
				t.Fatalf("column %v, page %d: %v in what is said to be all null", name, n, v)
			case compare(v, index.MinValue(n)) < 0 || compare(v, index.MaxValue(n)) > 0:
				t.Fatalf("column %v, page %d: %v is not within %v and %v", name, n, v, index.MinValue(n), index.MaxValue(n))
			}
		}
		if index.NullCount(n) != nulls || index.NullPage(n) != (nulls == int64(len(values))) {
			t.Errorf("column %v, page %d: %d nulls of %d, the index says %d, all null %v", name, n, nulls, len(values), index.NullCount(n), index.NullPage(n))
		}
		parquet.Release(page)
	}
	if n != index.NumPages() {
		t.Errorf("column %v: %d pages, the index has %d", name, n, index.NumPages())
	}
	return n
}
