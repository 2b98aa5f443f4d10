package deltalake

import (
	"errors"
	"testing"

	"queuebench/objectstore"
	"queuebench/queue"
)

// A consumer that waits for a table that is there with another number of
// partitions is told so. Another table's data in a folder of that name is none.
func TestAConsumerIsToldOfOtherPartitions(t *testing.T) {
	for _, c := range []struct {
		theirs, ours int
		refused      bool
	}{{1, 2, true}, {1, 5, true}, {2, 1, true}, {3, 1, true}, {1, 1, false}, {3, 3, false}} {
		store := newMemStore()
		theirs := open(t, Config{Store: store, Name: "table", Partitions: c.theirs})
		p, err := theirs.Producer(t.Context(), queue.ProducerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte("x"), Partition: 0}}); err != nil {
			t.Fatal(err)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := received(t, Config{Store: store, Name: "table", Partitions: c.ours}, queue.Start{})
		if errors.Is(err, ErrOtherPartitions) != c.refused || !c.refused && (err != nil || len(got) != 1) {
			t.Errorf("%d partitions, read as %d: %q, %v", c.theirs, c.ours, got, err)
		}
	}
	store := newMemStore()
	if err := store.Put(t.Context(), "table/p=0/x.parquet", nil, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := received(t, Config{Store: store, Name: "table"}, queue.Start{}); err != nil || len(got) > 0 {
		t.Errorf("a folder beside it: %q, %v", got, err)
	}
}
