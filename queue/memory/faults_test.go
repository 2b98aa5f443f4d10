package memory

import (
	"errors"
	"testing"
	"time"

	"queuebench/queue"
)

func TestRefuse(t *testing.T) {
	q := open(t, Config{Faults: Faults{Refuse: RefuseByAck}})
	acked, failed, err := send(t, t.Context(), q, 10)
	if acked != 0 || failed != 10 || err != nil {
		t.Errorf("refusing by acknowledgement: %d acknowledged, %d failed, %v", acked, failed, err)
	}
	q = open(t, Config{Faults: Faults{Refuse: RefuseBySend}})
	acked, failed, err = send(t, t.Context(), q, 10)
	if acked != 0 || failed != 0 || !errors.Is(err, ErrRefused) {
		t.Errorf("refusing by Send: %d acknowledged, %d failed, %v", acked, failed, err)
	}
	if got := received(t, q, 10*time.Millisecond); len(got) != 0 {
		t.Errorf("%d messages came from a queue that refuses", len(got))
	}
}

func TestDropAndDuplicate(t *testing.T) {
	q := open(t, Config{Faults: Faults{DropEvery: 10, DuplicateEvery: 7}})
	if acked, _, err := send(t, t.Context(), q, 100); acked != 100 || err != nil {
		t.Fatalf("%d of 100 acknowledged, %v", acked, err)
	}
	count := map[string]int{}
	for _, m := range received(t, q, 20*time.Millisecond) {
		count[m]++
	}
	twice := 0
	for _, n := range count {
		if n == 2 {
			twice++
		}
	}
	// 70 is both the tenth and the seventh, and dropped.
	if len(count) != 90 || twice != 13 {
		t.Errorf("%d distinct messages came, %d of them twice; expected 90 and 13", len(count), twice)
	}
}

func TestFreezeStopsBothSides(t *testing.T) {
	const after, length = 20 * time.Millisecond, 60 * time.Millisecond
	q := open(t, Config{Faults: Faults{Freezes: []Freeze{{after, length}}}})
	c, _ := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	begin := time.Now()
	if _, _, err := send(t, t.Context(), q, 1); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after + 5*time.Millisecond)
	if _, err := c.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < after+length {
		t.Errorf("Receive returned after %v, within the freeze", d)
	}
	q = open(t, Config{Faults: Faults{Freezes: []Freeze{{0, length}}}})
	begin = time.Now()
	if _, _, err := send(t, t.Context(), q, 1); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < length {
		t.Errorf("Send returned after %v, within the freeze", d)
	}
}

func TestDelayAndServiceTime(t *testing.T) {
	q := open(t, Config{Faults: Faults{Delay: 30 * time.Millisecond}})
	c, _ := q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	begin := time.Now()
	send(t, t.Context(), q, 5)
	if _, err := c.Receive(t.Context()); err != nil || time.Since(begin) < 30*time.Millisecond {
		t.Errorf("a message with a delay of 30 ms came after %v, %v", time.Since(begin), err)
	}
	q = open(t, Config{ReceiveMax: 2, Faults: Faults{ServiceTime: 5 * time.Millisecond}})
	c, _ = q.Consumer(t.Context(), queue.ConsumerConfig{Group: "g"})
	begin = time.Now()
	send(t, t.Context(), q, 10)
	for got := 0; got < 10; {
		batch, err := c.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got += len(batch)
	}
	// The last two are handed out without waiting for what they take.
	if d := time.Since(begin); d < 40*time.Millisecond {
		t.Errorf("10 messages of 5 ms each came within %v", d)
	}
}
