package rabbitmq

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"queuebench/queue"
	"queuebench/queue/broker"
)

// messageID tells a message that is returned from others.
func messageID(number int64) string { return strconv.FormatInt(number, 36) }

// publishing is a message as the protocol has it. Its headers are a table.
func (q *Queue) publishing(m *broker.Outgoing) amqp.Publishing {
	out := amqp.Publishing{Body: m.Payload, DeliveryMode: amqp.Persistent, MessageId: messageID(m.Number)}
	if q.cfg.Transient {
		out.DeliveryMode = amqp.Transient
	}
	if q.cfg.Stamp {
		out.Timestamp = time.Now()
	}
	if len(m.Headers) > 0 {
		out.Headers = make(amqp.Table, len(m.Headers))
		for _, h := range m.Headers {
			out.Headers[h.Name] = h.Value
		}
	}
	return out
}

// checkHeaders refuses what a table cannot carry: a name that comes twice, and one
// of more than 128 bytes.
func checkHeaders(hs []queue.Header) error {
	for i := range hs {
		if len(hs[i].Name) > 128 {
			return fmt.Errorf("rabbitmq: the header %.20s… has a name of %d bytes: 128 at most", hs[i].Name, len(hs[i].Name))
		}
		for j := range i {
			if hs[j].Name == hs[i].Name {
				return fmt.Errorf("rabbitmq: the header %q comes twice: headers are a table with one value for a name", hs[i].Name)
			}
		}
	}
	return nil
}

// appendHeaders are the headers of a delivery, ascending by name: a table has no
// order.
func appendHeaders(dst []queue.Header, table amqp.Table) []queue.Header {
	first := len(dst)
	for name, value := range table {
		var b []byte
		switch v := value.(type) {
		case []byte:
			b = v
		case string:
			b = []byte(v)
		default:
			if name == "x-delivery-count" { // of a quorum queue, not of the message
				continue
			}
			b = fmt.Append(nil, v)
		}
		dst = append(dst, queue.Header{Name: name, Value: b})
	}
	slices.SortFunc(dst[first:], func(a, b queue.Header) int { return strings.Compare(a.Name, b.Name) })
	return dst
}
