package analysis

import (
	"bytes"
	"fmt"
	"unsafe"
)

// A digest of some kilobytes can claim millions of intervals, or a number of two
// bytes for each of millions of messages, and compresses to a hundredth of that. So
// what it may take in memory grows with the bytes that were read of it, as
// compressed: ours take some 20 times their compressed size, and 5 times their own.
const (
	freeDigestBytes     = 64 << 20
	bytesPerPackedByte  = 32
	bytesPerDigestByte  = 10
	numberBytes         = 20                                         // of a number in a list, while the list grows
	objectBytes         = 512                                        // of the largest object, or of a list of them
	stepBytes           = int64(unsafe.Sizeof(StepDigest{})) * 9 / 4 // while the list grows
	secondRecordBytes   = int64(unsafe.Sizeof(Second{}))
	shareBytes          = int64(unsafe.Sizeof(Share{})) + 2*objectBytes
	slowestMessageBytes = int64(unsafe.Sizeof(SlowMessage{}))
)

// jsonBytes is about the most that JSON of ours takes when it is decoded.
func jsonBytes(body []byte) int64 {
	objects := bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("null"))
	return int64(len(body)) + numberBytes*int64(bytes.Count(body, []byte(","))) + objectBytes*int64(objects)
}

// bytes is what the digest of a step takes, without its buckets.
func (r *stepRecord) bytes() int64 {
	n := stepBytes + int64(len(r.Intervals.Scheduled))*intervalBytes + int64(len(r.Received))*8 + int64(len(r.Events))*eventBytes
	for i := range r.Events {
		e := &r.Events[i]
		n += int64(len(e.Actor) + len(e.Kind) + len(e.Text))
	}
	if r.Seconds != nil {
		n += int64(len(r.Seconds.AtNs)) * secondRecordBytes
	}
	if r.PerSecond != nil {
		n += int64(len(r.PerSecond.Commits)) * commitBytes
	}
	if r.Breakdown != nil {
		n += int64(len(r.Breakdown.Shares)) * shareBytes
	}
	if r.Slowest != nil {
		n += int64(len(r.Slowest.Seq)) * slowestMessageBytes
	}
	if f := r.Fine; f != nil {
		n += 8 * int64(len(f.Level)+len(f.Publish)+len(f.Settling)+len(f.Due)+len(f.P99)+len(f.Together)+len(f.Bounds))
	}
	return n
}

// hold takes memory; the error says that it is too much.
func (p *digestParser) hold(n int64) error {
	p.held += n
	each := int64(bytesPerDigestByte)
	if p.zipped {
		each = bytesPerPackedByte
	}
	if most := freeDigestBytes + each*p.packed.N(); p.held > most {
		return fmt.Errorf("it takes more than %d MB of memory, the most for a digest of which %.1f MB were read (was it written by analyze?)", most>>20, float64(p.packed.N())/1e6)
	}
	return nil
}

func (p *digestParser) give(n int64) { p.held -= n }
