package redisstreams

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// An entry of a stream is a list of fields: the payload first, then the key if
// there is one, then each header under its name behind a prefix.
const (
	payloadField = "p"
	keyField     = "k"
	headerPrefix = "h:"
)

// arguments are those of the XADD of a message.
func (q *Queue) arguments(m *broker.Outgoing) []any {
	args := make([]any, 0, 10+2*len(m.Headers))
	args = append(args, "XADD", q.keys[m.Partition])
	if q.cfg.MaxLen > 0 {
		args = append(args, "MAXLEN", "~", q.cfg.MaxLen)
	}
	args = append(args, "*", q.cfg.PayloadField, m.Payload)
	if m.Key != nil {
		args = append(args, keyField, m.Key)
	}
	for _, h := range m.Headers {
		args = append(args, headerPrefix+h.Name, h.Value)
	}
	return args
}

// An ID is the milliseconds of the server's clock and a number within them. As an
// offset it has the number in the lower 20 bits: more than a million entries in a
// millisecond do not fit, and are refused.
const numberBits = 20

func parseID(id string) (int64, error) {
	a, b, ok := strings.Cut(id, "-")
	ms, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || ms < 0 || ms > math.MaxInt64>>numberBits || n < 0 || n >= 1<<numberBits {
		return -1, fmt.Errorf("redis: %q is no ID of an entry that can be told as an offset", id)
	}
	return ms<<numberBits | n, nil
}

func idOf(offset int64) string {
	return fmt.Sprintf("%d-%d", offset>>numberBits, offset&(1<<numberBits-1))
}

// stampOf is the server's time of an offset, ns since the epoch, at a resolution
// of a millisecond.
func stampOf(offset int64) int64 { return (offset >> numberBits) * int64(time.Millisecond) }

// appended is the kind of that stamp.
const appended = "append"

// before is the ID after which a group begins to read.
func before(s queue.Start) string {
	justBefore := func(ms, n int64) string {
		switch {
		case n > 0:
			return fmt.Sprintf("%d-%d", ms, n-1)
		case ms > 0:
			return fmt.Sprintf("%d-%d", ms-1, uint64(math.MaxUint64))
		}
		return "0"
	}
	switch s.Kind {
	case queue.StartLatest:
		return "$"
	case queue.StartOffset:
		return justBefore(max(0, s.Offset)>>numberBits, max(0, s.Offset)&(1<<numberBits-1))
	case queue.StartTime:
		return justBefore(max(0, s.Time.UnixMilli()), 0)
	}
	return "0"
}

// entry is a message as it came.
type entry struct {
	partition int32
	id        string
	offset    int64
	fields    []any
}

// parseEntries reads a list of [id, [field, value, …]]. Entries that were deleted
// while they were pending have no fields; they are counted.
func parseEntries(dst []entry, partition int32, list any) (_ []entry, gone int, err error) {
	all, ok := list.([]any)
	if !ok {
		return dst, 0, fmt.Errorf("redis: a list of entries is %T", list)
	}
	for _, one := range all {
		pair, ok := one.([]any)
		if !ok || len(pair) != 2 {
			return dst, gone, fmt.Errorf("redis: an entry is %T", one)
		}
		id, ok := pair[0].(string)
		if !ok {
			return dst, gone, fmt.Errorf("redis: an entry's ID is %T", pair[0])
		}
		if pair[1] == nil {
			gone++
			continue
		}
		fields, ok := pair[1].([]any)
		if !ok || len(fields)%2 != 0 {
			return dst, gone, fmt.Errorf("redis: the fields of entry %s are %T", id, pair[1])
		}
		offset, err := parseID(id)
		if err != nil {
			return dst, gone, err
		}
		dst = append(dst, entry{partition, id, offset, fields})
	}
	return dst, gone, nil
}

// parseStreams reads the reply to XREADGROUP: a list of [key, entries].
func (q *Queue) parseStreams(dst []entry, reply any) (_ []entry, gone int, err error) {
	streams, ok := reply.([]any)
	if !ok {
		return dst, 0, fmt.Errorf("redis: the reply to XREADGROUP is %T", reply)
	}
	for _, one := range streams {
		pair, ok := one.([]any)
		if !ok || len(pair) != 2 {
			return dst, gone, fmt.Errorf("redis: a stream of XREADGROUP is %T", one)
		}
		partition := int32(-1)
		for k, key := range q.keys {
			if pair[0] == key {
				partition = int32(k)
			}
		}
		if partition < 0 {
			return dst, gone, fmt.Errorf("redis: XREADGROUP answers for %v, which was not asked for", pair[0])
		}
		n := 0
		if dst, n, err = parseEntries(dst, partition, pair[1]); err != nil {
			return dst, gone, err
		}
		gone += n
	}
	return dst, gone, nil
}

// delivery copies an entry into memory that the caller uses again. What somebody
// else added without the field of payloads has an empty one.
func (e *entry) delivery(cfg *Config, bytes []byte, headers []queue.Header) (d queue.Delivery, _ []byte, _ []queue.Header, err error) {
	d = queue.Delivery{Partition: e.partition, Offset: e.offset, BrokerNs: stampOf(e.offset), BrokerKind: appended}
	first := len(headers)
	found := false
	for i := 0; i < len(e.fields); i += 2 {
		name, ok1 := e.fields[i].(string)
		value, ok2 := e.fields[i+1].(string)
		if !ok1 || !ok2 {
			return d, bytes, headers, fmt.Errorf("redis: a field of entry %s is no string", e.id)
		}
		from := len(bytes)
		bytes = append(bytes, value...)
		b := bytes[from:len(bytes):len(bytes)]
		header, isHeader := strings.CutPrefix(name, headerPrefix)
		switch {
		case isHeader:
			headers = append(headers, queue.Header{Name: header, Value: b})
		case name == cfg.PayloadField:
			d.Payload, found = b, true
		case name == keyField:
			if d.Key = b; b == nil {
				d.Key = []byte{}
			}
		}
	}
	if !found && !cfg.Existing {
		return d, bytes, headers, fmt.Errorf("redis: entry %s of partition %d has no field %q: Queuebench did not add it", e.id, e.partition, cfg.PayloadField)
	}
	if len(headers) > first {
		d.Headers = headers[first:len(headers):len(headers)]
	}
	return d, bytes, headers, nil
}
