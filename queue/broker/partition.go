package broker

import (
	"fmt"

	"queuebench/queue"
)

// CheckPartitions says which message of a batch is meant for a partition that
// the queue of that kind does not have.
func CheckPartitions(kind string, batch []queue.Message, partitions int) error {
	for i := range batch {
		if k := batch[i].Partition; k < queue.AnyPartition || int(k) >= partitions {
			return fmt.Errorf("%s: message %d of the batch is for partition %d, the queue has 0 to %d", kind, i, k, partitions-1)
		}
	}
	return nil
}

// Partition is where a message goes: where it says, else where its key's hash
// (FNV-1a, 64 bits) says, else to the one whose turn it is.
func Partition(m *queue.Message, partitions, turn int) int32 {
	switch {
	case m.Partition != queue.AnyPartition:
		return m.Partition
	case partitions == 1:
		return 0
	case m.Key == nil:
		return int32(turn % partitions)
	}
	h := uint64(14695981039346656037)
	for _, b := range m.Key {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return int32(h % uint64(partitions))
}
