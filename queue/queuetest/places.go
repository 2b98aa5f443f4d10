package queuetest

import (
	"testing"

	"queuebench/queue"
)

func (s *suite) createRemovesAnEarlierRun(t *testing.T) {
	q := s.created(t)
	p := s.producer(t, q, 0)
	p.sendMessages(t, 50, 10, 50, anyPartition)
	p.flush(t)
	p.Close()
	if err := q.Create(s.deadline(t)); err != nil {
		t.Fatalf("Create over an earlier run: %v", err)
	}
	c := s.consumer(t, q, "g", earliest)
	p = s.producer(t, q, 1)
	p.sendMessages(t, 20, 10, 50, anyPartition)
	got := s.mustCollect(t, c, 20)
	s.checkAll(t, q, got, 1, 0, 20)
	for _, d := range got {
		if d.id.producer != 1 {
			t.Fatalf("message %d of the earlier run is still there", d.id.seq)
		}
	}
	s.quiet(t, c)
}

func (s *suite) removeLeavesNeighboursAlone(t *testing.T) {
	short, long := s.opt.Neighbours(t)
	for i, q := range []queue.Queue{short, long} {
		s.create(t, q)
		p := s.producer(t, q, i)
		p.sendMessages(t, 10, 10, 50, anyPartition)
		p.flush(t)
		p.Close()
	}
	if err := short.Remove(s.deadline(t)); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	s.checkAll(t, long, s.mustCollect(t, s.consumer(t, long, "after-remove", earliest), 10), 1, 0, 10)
	if err := short.Create(s.deadline(t)); err != nil {
		t.Fatalf("Create: %v", err)
	}
	s.checkAll(t, long, s.mustCollect(t, s.consumer(t, long, "after-create", earliest), 10), 1, 0, 10)
	if err := short.Remove(s.deadline(t)); err != nil {
		t.Errorf("Remove of what has no producer yet: %v", err)
	}
}
