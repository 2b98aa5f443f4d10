package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/pagecheck"
)

const (
	maxFooterBytes = 16 << 20
	maxGroupRows   = 1 << 24
	// maxPageRows bounds a page, whose nulls take no bytes.
	maxPageRows = 1 << 21
)

// limits are what a column of a row group may take.
var limits = pagecheck.Limits{ChunkBytes: 64 << 20, PageBytes: 16 << 20, PageRows: maxPageRows, Rows: maxGroupRows}

var errDamaged = errors.New("the file is damaged")

func readAt(r io.ReaderAt, offset, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := r.ReadAt(b, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// checkFooter follows the footer of a file and checks each length in it.
func checkFooter(r io.ReaderAt, size int64) error {
	tail, err := readAt(r, max(0, size-8), 8)
	if err != nil {
		return err
	}
	n, err := pagecheck.FooterSize(tail, size)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if n > maxFooterBytes {
		return fmt.Errorf("%w: %w", errDamaged, pagecheck.ErrClaims)
	}
	footer, err := readAt(r, size-8-n, n)
	if err != nil {
		return err
	}
	if err := pagecheck.Footer(footer); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// checkPages follows the page headers of a chunk and checks what they claim.
func checkPages(r io.ReaderAt, size int64, md *format.ColumnMetaData) error {
	begin, n, err := limits.Place(md, size)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	stored, err := readAt(r, begin, n)
	if err != nil {
		return err
	}
	if err := limits.Chunk(stored, md); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}
