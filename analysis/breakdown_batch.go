package analysis

import "queuebench/stats"

// room tells whether a batch may be counted: its pages are at hand, whatever its
// values. Where they are not, what is left out is counted one by one.
func (b *breaker) room() bool {
	return b.pages+int(NumKinds)*len(b.came)*stats.MaxBatchPages <= maxPages
}

func (b *breaker) recordBatch(sharers []*shareCounter, k Kind, values stats.Batch) {
	if len(values.Values()) == 0 {
		return
	}
	for _, c := range sharers {
		if c == nil {
			continue
		}
		if c.latency[k] == nil {
			c.latency[k] = new(stats.Sparse)
		}
		b.pages += c.latency[k].RecordBatch(values)
	}
}

// sentBatch counts rows that were handed over and acknowledged.
func (b *breaker) sentBatch(lag, published stats.Batch) {
	b.recordBatch(b.row[:], SendLag, lag)
	b.recordBatch(b.row[:], Publish, published)
}

// arrivedBatch counts the latencies of deliveries; broker is empty where the
// broker stamped none.
func (b *breaker) arrivedBatch(endToEnd, fromSend, broker stats.Batch) {
	b.recordBatch(b.came[:], EndToEnd, endToEnd)
	b.recordBatch(b.came[:], EndToEndFromSend, fromSend)
	b.recordBatch(b.came[:], BrokerToConsumer, broker)
}
