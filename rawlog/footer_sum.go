package rawlog

import (
	"bytes"
	"hash/crc32"
	"strconv"

	"github.com/parquet-go/parquet-go/format"
)

// checkFooter holds a footer against its checksum, where it has one.
func checkFooter(meta *format.FileMetaData, footer []byte) error {
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key != FooterKey {
			continue
		}
		at := FooterSum(footer)
		if at < 0 {
			return damaged("the checksum of the footer is not where it should be")
		}
		end := at + len(FooterNone)
		sum := crc32.ChecksumIEEE(footer[:at])
		sum = crc32.Update(sum, crc32.IEEETable, []byte(FooterNone))
		sum = crc32.Update(sum, crc32.IEEETable, footer[end:])
		told, err := strconv.ParseUint(string(footer[at:end]), 16, 32)
		if err != nil || uint32(told) != sum {
			return damaged("the checksum of the footer is wrong")
		}
		return nil
	}
	return nil
}

// FooterSum is where in a footer, as it is encoded, its checksum stands; −1 where
// there is none. Between the key and the value of an entry Thrift's compact protocol
// has the head of a field and a length, a byte each.
func FooterSum(footer []byte) int {
	at := bytes.LastIndex(footer, []byte(FooterKey))
	if at < 0 {
		return -1
	}
	at += len(FooterKey) + 2
	if at+len(FooterNone) > len(footer) || int(footer[at-1]) != len(FooterNone) {
		return -1
	}
	return at
}
