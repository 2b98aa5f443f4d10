package rawlog_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"queuebench/rawlog"
)

// readQuietly is a part's identity and its values, or an error.
func readQuietly(t testing.TB, r *rawlog.PartReader, b []byte) (part rawlog.Part, columns [][]any, err error) {
	if err := r.Open(rawlog.Memory(b)); err != nil {
		return part, nil, err
	}
	columns = make([][]any, len(r.Columns()))
	for r.Next() {
		for c, v := range r.Columns() {
			columns[c] = append(columns[c], values(t, v, r.Len())...)
		}
	}
	return r.Part(), columns, r.Err()
}

// A part of which one byte was changed, any one, is refused, or says what it said before:
// it is no other number, time, watermark or clock.
func TestNoChangedByteIsAnotherNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, c := range tableCases() {
		t.Run(c.table.Name, func(t *testing.T) {
			reader := new(rawlog.PartReader)
			parts, _ := c.write(t, rng, 7, 0)
			was, want, err := readQuietly(t, reader, parts[0])
			if err != nil {
				t.Fatal(err)
			}
			tried, refused := 0, 0
			stride := len(parts[0])/120 + 1 // a part of each of the bytes of a large one
			for at := rng.IntN(stride); at < len(parts[0]); at += stride {
				mask := byte(1 + rng.IntN(255))
				changed := bytes.Clone(parts[0])
				changed[at] ^= mask
				tried++
				is, got, err := readQuietly(t, reader, changed)
				if err != nil {
					refused++
					continue
				}
				if is != was || !reflect.DeepEqual(got, want) {
					t.Fatalf("byte %d of %d, changed by %#x: %+v with\n%v, it was %+v with\n%v", at, len(changed), mask, is, got, was, want)
				}
			}
			// Of the page index, which is for other readers, nothing is read.
			if refused < tried/2 {
				t.Errorf("only %d of %d changes were refused", refused, tried)
			}
		})
	}
}
