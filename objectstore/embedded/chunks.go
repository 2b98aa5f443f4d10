package embedded

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	maxChunkLine = 256      // bytes of a chunk's header; a real one has about 100
	maxTrailers  = 16 << 10 // bytes of all trailers
)

// chunkReader decodes aws-chunked: size in hex, for signed chunks
// ";chunk-signature=" and 64 hex digits, CRLF, that many bytes, CRLF; a chunk of
// size 0 ends it, then lines "name:value". Signatures are checked for their form
// only, as the package says.
type chunkReader struct {
	r       *bufio.Reader
	signed  bool
	left    uint64 // of this chunk
	begun   bool
	done    bool
	trailer map[string]string // names in lower case, filled at the end
}

func newChunkReader(r io.Reader, signed bool) *chunkReader {
	return &chunkReader{r: bufio.NewReaderSize(r, 64<<10), signed: signed, trailer: map[string]string{}}
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for c.left == 0 {
		if c.done {
			return 0, io.EOF
		}
		if err := c.next(); err != nil {
			return 0, noEOF(err)
		}
	}
	n, err := c.r.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n)
	if n > 0 {
		return n, nil
	}
	return 0, noEOF(err)
}

// noEOF: the end of the body before the last chunk is never a good one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next reads the header of a chunk.
func (c *chunkReader) next() error {
	if c.begun {
		if err := c.crlf(); err != nil {
			return err
		}
	}
	c.begun = true
	line, err := c.line(maxChunkLine)
	if err != nil {
		return err
	}
	size, signature, has := strings.Cut(line, ";")
	if c.signed {
		signature, ok := strings.CutPrefix(signature, "chunk-signature=")
		if !has || !ok || len(signature) != 64 || strings.Trim(signature, "0123456789abcdef") != "" {
			return malformed("a chunk has no signature of 64 hex digits")
		}
	} else if has {
		return malformed("a chunk that is not signed has an extension")
	}
	if size == "" || strings.Trim(size, "0123456789abcdefABCDEF") != "" {
		return malformed("a chunk's size is no hex number")
	}
	if c.left, err = strconv.ParseUint(size, 16, 63); err != nil {
		return malformed("a chunk's size is too large")
	}
	if c.left == 0 {
		c.done = true
		return c.readTrailers()
	}
	return nil
}

func (c *chunkReader) crlf() error {
	var end [2]byte
	if _, err := io.ReadFull(c.r, end[:]); err != nil {
		return err
	}
	if end != [2]byte{'\r', '\n'} {
		return malformed("a chunk is longer than its size says")
	}
	return nil
}

// line reads up to CRLF.
func (c *chunkReader) line(limit int) (string, error) {
	var b strings.Builder
	for b.Len() <= limit {
		ch, err := c.r.ReadByte()
		if err != nil {
			return "", err
		}
		if ch == '\n' {
			if line, ok := strings.CutSuffix(b.String(), "\r"); ok {
				return line, nil
			}
			return "", malformed("a chunk's header does not end with CRLF")
		}
		b.WriteByte(ch)
	}
	return "", malformed("a chunk's header is too long")
}

// readTrailers reads to the end of the body. Clients end these lines in
// different ways ("\n\r\n" is one), so any line feed ends one here.
func (c *chunkReader) readTrailers() error {
	rest, err := io.ReadAll(io.LimitReader(c.r, maxTrailers+1))
	switch {
	case err != nil:
		return err
	case len(rest) > maxTrailers:
		return malformed("the trailers are too long")
	}
	for line := range strings.SplitSeq(string(rest), "\n") {
		if line = strings.Trim(line, "\r"); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return malformed("after the last chunk there is what is no trailer")
		}
		c.trailer[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	return nil
}
