package deltalake

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// A commit may carry a copy of its data file, in a field of commitInfo, which
// every engine may fill as it likes: who tails the table then has the messages
// with the commit, and saves the GET of the data. It is a copy and no more: the
// data file was stored before, and who does not know the field, or does not
// believe the copy, reads that.

// MaxInlineBytes bounds Config.InlineBytes: a log is read by others, too, and
// whole by whoever opens a table.
const MaxInlineBytes = 1 << 20

// inlineInfo says of which file a commit has a copy.
type inlineInfo struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // of the file
}

// inlineCopy is a data file on its way into a commit.
type inlineCopy struct {
	info inlineInfo
	text []byte // base64
}

// copyInline makes a copy of a file.
func copyInline(path string, file []byte) *inlineCopy {
	sum := sha256.Sum256(file)
	return &inlineCopy{
		inlineInfo{path, int64(len(file)), hex.EncodeToString(sum[:])},
		base64.StdEncoding.AppendEncode(make([]byte, 0, base64.StdEncoding.EncodedLen(len(file))), file),
	}
}

// The copy stands last in commitInfo, which is the first line. It never passes
// through a JSON encoder or decoder, which would look at each byte several
// times: base64 needs no escape.
var (
	inlineBegin = []byte(`,"inlineData":"`)
	commitInfo0 = []byte(`{"commitInfo":{`)
)

// into puts the copy into the body of a version.
func (c *inlineCopy) into(body []byte) ([]byte, error) {
	end := bytes.Index(body, []byte("}}\n"))
	if !bytes.HasPrefix(body, commitInfo0) || end < 0 || end != bytes.IndexByte(body, '\n')-2 {
		return nil, errors.New("no commitInfo to put a copy into")
	}
	return slices.Concat(body[:end], inlineBegin, c.text, []byte{'"'}, body[end:]), nil
}

// cutInline takes the copy out of a line of a log; nil where there is none. Inside
// of a JSON string its quotes would be escaped, so what it finds is a field.
func cutInline(line []byte) (rest, text []byte) {
	if !bytes.HasPrefix(line, commitInfo0) {
		return line, nil
	}
	before, after, ok := bytes.Cut(line, inlineBegin)
	if !ok {
		return line, nil
	}
	text, after, ok = bytes.Cut(after, []byte{'"'})
	if !ok {
		return line, nil
	}
	return slices.Concat(before, after), text
}

// inlineOf is the copy of a file that a commit has, appended to dst; false where
// it has none of it. An error says that there is one, and that it is not the
// file that it says it is.
func (c *commit) inlineOf(a *addFile, dst []byte) ([]byte, bool, error) {
	i := c.info.Inline
	if i == nil || c.inline == nil || i.Path != a.Path {
		return dst, false, nil
	}
	if i.Size != a.Size || i.Size > MaxInlineBytes || int64(base64.StdEncoding.DecodedLen(len(c.inline))) > i.Size+2 {
		return dst, false, fmt.Errorf("the copy in the commit has %d bytes, the log says %d", i.Size, a.Size)
	}
	body, err := base64.StdEncoding.AppendDecode(dst[:0], c.inline)
	if err != nil {
		return dst, false, fmt.Errorf("the copy in the commit: %w", err)
	}
	if sum := sha256.Sum256(body); int64(len(body)) != i.Size || hex.EncodeToString(sum[:]) != i.SHA256 {
		return dst, false, errors.New("the copy in the commit is not the file that it says it is")
	}
	return body, true, nil
}
