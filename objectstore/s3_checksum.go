package objectstore

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"

	"github.com/minio/crc64nvme"
)

// A whole object comes with the checksum that it was stored with, where the store
// keeps one and is asked for it (x-amz-checksum-mode; Amazon S3 User Guide,
// "Checking object integrity"): a byte that was changed on the way, in a proxy or on
// a disk, is then an error and no message. Of a range there is none.

// checksumMode asks for it.
const checksumMode = "X-Amz-Checksum-Mode"

// checksum is one of those that stores keep, all of which are CRCs: they are computed
// at the speed of memory. SHA-1 and SHA-256 cost more than the request, and are left
// to others.
type checksum struct {
	name, header string
	of           func(body []byte) string
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums are looked for in this order. Ours is the first; the second is what
// Amazon S3 gives an object that came without.
var checksums = [...]checksum{
	{"CRC-32C", "X-Amz-Checksum-Crc32c", crc32c},
	{"CRC-64/NVME", "X-Amz-Checksum-Crc64nvme", func(body []byte) string {
		return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc64nvme.Checksum(body)))
	}},
	{"CRC-32", "X-Amz-Checksum-Crc32", func(body []byte) string { return crcText(crc32.ChecksumIEEE(body)) }},
}

// crc32c is a body's checksum as the header x-amz-checksum-crc32c has it.
func crc32c(body []byte) string { return crcText(crc32.Checksum(body, castagnoli)) }

func crcText(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// verify holds a whole object against the checksum that came with it. checked is
// false where none came that is known, or one of parts (a composite one).
func verify(h http.Header, body []byte) (checked bool, err error) {
	if kind := h.Get("X-Amz-Checksum-Type"); kind != "" && kind != "FULL_OBJECT" {
		return false, nil
	}
	for _, c := range checksums {
		told := h.Get(c.header)
		if told == "" || strings.Contains(told, "-") { // a composite one, of a store that does not say so
			continue
		}
		if came := c.of(body); came != told {
			return false, &damagedError{c.name, told, came, len(body)}
		}
		return true, nil
	}
	return false, nil
}

// damagedError says that what came is not what the store says that it sent.
type damagedError struct {
	name, told, came string
	bytes            int
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("the %s of the %d bytes that came is %s, the store says %s", e.name, e.bytes, e.came, e.told)
}
