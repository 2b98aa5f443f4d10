package objectstore

import "sync/atomic"

// counters are the live form of Counts, shared by a store and its Subs.
type counters struct {
	put, putIfAbsent, get, miss, list, head, del, failed, open atomic.Int64
}

func (c *counters) snapshot() Counts {
	return Counts{
		Put:         c.put.Load(),
		PutIfAbsent: c.putIfAbsent.Load(),
		Get:         c.get.Load(),
		Miss:        c.miss.Load(),
		List:        c.list.Load(),
		Head:        c.head.Load(),
		Delete:      c.del.Load(),
		Failed:      c.failed.Load(),
		Open:        c.open.Load(),
	}
}

// Minus is what was counted since an earlier reading. Open stays as it is: it
// is a level.
func (c Counts) Minus(earlier Counts) Counts {
	return Counts{
		Put:         c.Put - earlier.Put,
		PutIfAbsent: c.PutIfAbsent - earlier.PutIfAbsent,
		Get:         c.Get - earlier.Get,
		Miss:        c.Miss - earlier.Miss,
		List:        c.List - earlier.List,
		Head:        c.Head - earlier.Head,
		Delete:      c.Delete - earlier.Delete,
		Failed:      c.Failed - earlier.Failed,
		Open:        c.Open,
	}
}

// Total is the number of requests of all kinds.
func (c Counts) Total() int64 {
	return c.Put + c.PutIfAbsent + c.Get + c.Miss + c.List + c.Head + c.Delete
}
