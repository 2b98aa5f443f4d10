package kafka

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// deliveries are a batch for the caller, whose memory is used again. Payloads
// are the client's own memory, which it does not use again.
type deliveries struct {
	all     []queue.Delivery
	headers []queue.Header
	records []*kgo.Record // whose memory goes back to the client with reset
}

func (d *deliveries) reset() {
	for _, r := range d.records {
		r.Recycle()
	}
	clear(d.records)
	clear(d.all) // so that what was delivered can be freed
	clear(d.headers)
	d.all, d.headers, d.records = d.all[:0], d.headers[:0], d.records[:0]
}

// appended is the kind of the stamp LogAppendTime.
const appended = "append"

// records keeps the memory of records, some 200 bytes each, for those that come
// later.
type recordPool struct{ slices sync.Pool }

func (p *recordPool) GetRecords(n int) []kgo.Record {
	if s, ok := p.slices.Get().(*[]kgo.Record); ok && cap(*s) >= n {
		return *s
	}
	return make([]kgo.Record, 0, n)
}

func (p *recordPool) PutRecords(s []kgo.Record) { p.slices.Put(&s) }

// take adds what was fetched, and moves the position behind it.
func (d *deliveries) take(fetches kgo.Fetches, c *Consumer) {
	for i := range fetches {
		for j := range fetches[i].Topics {
			for k := range fetches[i].Topics[j].Partitions {
				p := &fetches[i].Topics[j].Partitions[k]
				for _, r := range p.Records {
					if c.static != nil && c.static.beyond(r.Partition, r.Offset) {
						continue // it came after the end that was seen at the start
					}
					if !r.Attrs.IsControl() && c.diffs.isMessage(r) {
						d.add(r)
					}
				}
				d.records = append(d.records, p.Records...)
				if n := len(p.Records); n > 0 {
					c.moved(p.Partition, p.Records[n-1])
				}
			}
		}
	}
}

// moved notes that everything up to a record was delivered.
func (c *Consumer) moved(partition int32, last *kgo.Record) {
	if c.member != nil {
		c.member.moved(partition, last)
	} else {
		c.static.moved(partition, last.Offset+1)
	}
}

func (d *deliveries) add(r *kgo.Record) {
	v := queue.Delivery{Payload: r.Value, Key: r.Key, Partition: r.Partition, Offset: r.Offset}
	if v.Payload == nil {
		v.Payload = []byte{}
	}
	if ms := r.Timestamp.UnixMilli(); ms >= 0 { // −1 is none
		v.BrokerNs = ms * 1e6
		switch r.Attrs.TimestampType() {
		case 0:
			v.BrokerKind = "create"
		case 1:
			v.BrokerKind = appended
		default:
			v.BrokerNs = 0 // a message of before Kafka 0.10 has none
		}
	}
	if len(r.Headers) > 0 {
		begin := len(d.headers)
		for _, h := range r.Headers {
			d.headers = append(d.headers, queue.Header{Name: h.Key, Value: h.Value})
		}
		v.Headers = d.headers[begin:len(d.headers):len(d.headers)]
	}
	d.all = append(d.all, v)
}

// The headers in which Pathway's connectors tell when a row changed, and how.
const (
	timeHeader = "pathway_time"
	diffHeader = "pathway_diff"
)

// diffs understands them: +1 is a message, −1 takes back one of before.
type diffs struct {
	understood         bool
	retracted, strange atomic.Int64
}

// isMessage tells whether a record is a message, and counts what is none. A diff
// that is no number is counted, and a message all the same.
func (d *diffs) isMessage(r *kgo.Record) bool {
	if !d.understood {
		return true
	}
	for _, h := range r.Headers {
		if h.Key != diffHeader {
			continue
		}
		n, err := strconv.ParseInt(string(h.Value), 10, 64)
		switch {
		case err != nil || n == 0:
			d.strange.Add(1)
		case n < 0:
			d.retracted.Add(1)
			return false
		}
	}
	return true
}

func (d *diffs) tell(event func(queue.Event)) {
	if n := d.retracted.Load(); n > 0 {
		event(queue.Event{Kind: "retraction", Text: fmt.Sprintf("%d records took back an earlier one (%s below 0) and are no deliveries", n, diffHeader)})
	}
	if n := d.strange.Load(); n > 0 {
		event(queue.Event{Kind: "note", Text: fmt.Sprintf("%d records have a %s that is no number but 0; they count as messages", n, diffHeader)})
	}
}
