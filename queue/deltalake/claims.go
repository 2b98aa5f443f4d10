package deltalake

import (
	"github.com/parquet-go/parquet-go/format"

	"queuebench/internal/pagecheck"
)

// The decoders of parquet-go allocate what a file claims to hold before they
// look for it: a list as long as its header says, a page as large as its header
// says. A damaged file must not take the process with it, so the claims are
// checked before the decoders see them.

const (
	// maxPageBytes and maxFileRows bound what one data file makes a reader
	// allocate. Beyond them it is refused, not cut.
	maxPageBytes = 1 << 28
	maxFileRows  = 1 << 24
)

// checkFooter follows the footer of a file and checks each length in it.
func checkFooter(body []byte) error {
	size := int64(len(body))
	n, err := pagecheck.FooterSize(body[max(0, size-8):], size)
	if err != nil {
		return err
	}
	return pagecheck.Footer(body[size-8-n : size-8])
}

// checkPages follows the page headers of a chunk and checks what they claim.
func checkPages(body []byte, md *format.ColumnMetaData) error {
	size := int64(len(body))
	l := pagecheck.Limits{ChunkBytes: size, PageBytes: maxPageBytes, PageRows: maxFileRows, Rows: maxFileRows}
	begin, n, err := l.Place(md, size)
	if err != nil {
		return err
	}
	return l.Chunk(body[begin:][:n], md)
}
