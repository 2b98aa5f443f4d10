package ledger

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"queuebench/queue"
	"queuebench/rawlog"
)

// tape is a log in memory.
type tape struct {
	rows      []rawlog.SentRow
	room      []rawlog.SentRow
	watermark int64
}

func (l *tape) Append(r rawlog.SentRow) { l.rows = append(l.rows, r) }

// Reserve returns at most three dirty rows.
func (l *tape) Reserve(n int) []rawlog.SentRow {
	l.room = make([]rawlog.SentRow, min(n, 3))
	for i := range l.room {
		l.room[i] = rawlog.SentRow{Producer: -5, Seq: -5, IntendedNs: -5, SentNs: -5, AckedNs: -5, Status: rawlog.Overrun, BlockedNs: -5, Partition: -5, Offset: -5}
	}
	return l.room
}

func (l *tape) Publish(n int) { l.rows = append(l.rows, l.room[:n]...) }

func (l *tape) SetWatermark(ns int64) { l.watermark = ns }

func (l *tape) byseq() map[int64]rawlog.SentRow {
	m := map[int64]rawlog.SentRow{}
	for _, r := range l.rows {
		m[r.Seq] = r
	}
	return m
}

// rig is a ledger with a clock that a test sets.
func rig(limit int) (*Ledger, *tape, *int64) {
	log, now := &tape{}, new(int64)
	return New(3, limit, 1, log, func() int64 { return *now }), log, now
}

// enter registers entries, over the ring's end too.
func enter(l *Ledger, entries ...Entry) {
	for len(entries) > 0 {
		n := copy(l.Slots(len(entries)), entries)
		l.Register(n)
		entries = entries[n:]
	}
}

func register(l *Ledger, from, n int64) {
	for seq := from; seq < from+n; seq++ {
		enter(l, Entry{Seq: seq, Intended: 100 * seq, Sent: 100*seq + 7, Blocked: 5})
		l.Next(100 * (seq + 1))
	}
}

func TestRowsCarryWhatBecameOfEachMessage(t *testing.T) {
	l, log, now := rig(100)
	register(l, 0, 10)
	*now = 5000
	l.Acked([]queue.Ack{{First: 0, N: 4, Partition: 2, Offset: 40, OffsetStep: 1}, {First: 4, N: 2, Partition: -1, Offset: -1, Err: errors.New("no")}, {First: 6, N: 2, Partition: 1, Offset: 9}})
	l.Overrun(10, 1000)
	l.Close(false)
	rows := log.byseq()
	for seq, want := range map[int64]rawlog.SentRow{
		3:  {Producer: 3, Seq: 3, IntendedNs: 300, SentNs: 307, AckedNs: 5000, Status: rawlog.Acked, BlockedNs: 5, Partition: 2, Offset: 43},
		5:  {Producer: 3, Seq: 5, IntendedNs: 500, SentNs: 507, AckedNs: 5000, Status: rawlog.Failed, BlockedNs: 5, Partition: -1, Offset: -1},
		7:  {Producer: 3, Seq: 7, IntendedNs: 700, SentNs: 707, AckedNs: 5000, Status: rawlog.Acked, BlockedNs: 5, Partition: 1, Offset: 9},
		9:  {Producer: 3, Seq: 9, IntendedNs: 900, SentNs: 907, Status: rawlog.Unconfirmed, BlockedNs: 5, Partition: -1, Offset: -1},
		10: {Producer: 3, Seq: 10, IntendedNs: 1000, Status: rawlog.Overrun, Partition: -1, Offset: -1},
	} {
		if rows[seq] != want {
			t.Errorf("message %d: got %+v, want %+v", seq, rows[seq], want)
		}
	}
	if len(log.rows) != 11 {
		t.Errorf("%d rows for 11 messages", len(log.rows))
	}
	if err := l.Check(11); err != nil {
		t.Error(err)
	}
	if l.Check(12) == nil {
		t.Error("12 scheduled messages balance with 11 rows")
	}
	if set := &l.ackedSet; set.Len() != 6 || set.Has(4) || !set.Has(7) {
		t.Errorf("the acknowledged set has %d members", set.Len())
	}
}

func TestTheWatermarkIsTheOldestOpenMessage(t *testing.T) {
	l, log, _ := rig(100)
	check := func(what string, want int64) {
		t.Helper()
		l.Watermark()
		if log.watermark != want {
			t.Errorf("%s: watermark %d, want %d", what, log.watermark, want)
		}
	}
	check("before anything", 0)
	register(l, 0, 10)
	check("all open", 0)
	l.Acked([]queue.Ack{{First: 5, N: 5}})
	check("the first still open", 0)
	l.Acked([]queue.Ack{{First: 0, N: 3}})
	check("message 3 open", 300)
	l.Acked([]queue.Ack{{First: 3, N: 2}})
	check("nothing open", 1000)
}

func TestWhatTheClientDidNotTakeIsFailedAndItsNumbersAreUsedAgain(t *testing.T) {
	l, log, now := rig(100)
	register(l, 0, 5)
	*now = 900
	l.Retract(2, false) // 3 and 4 were not taken
	register(l, 5, 2)   // the client counts them 3 and 4
	l.Acked([]queue.Ack{{First: 0, N: 5}})
	l.Close(false)
	rows := log.byseq()
	for seq := range int64(7) {
		want := rawlog.Acked
		if seq == 3 || seq == 4 {
			want = rawlog.Failed
		}
		if rows[seq].Status != want {
			t.Errorf("message %d is %v, want %v", seq, rows[seq].Status, want)
		}
	}
	if c := l.Counts(); c.Strange != 0 || l.Check(7) != nil {
		t.Errorf("counts %+v, check %v", c, l.Check(7))
	}
}

func TestRetractedBecauseTheStepEndedIsOverrun(t *testing.T) {
	l, log, _ := rig(100)
	register(l, 0, 5)
	l.Retract(2, true)
	l.Acked([]queue.Ack{{First: 0, N: 3}})
	l.Close(false)
	if c := l.Counts(); c.Overrun != 2 || c.Attempted != 3 || l.Check(5) != nil {
		t.Errorf("counts %+v, check %v", c, l.Check(5))
	}
	if r := log.byseq()[4]; r.Status != rawlog.Overrun || r.SentNs != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestEndMarksHaveNoRow(t *testing.T) {
	l, log, _ := rig(10)
	register(l, 0, 2)
	l.RegisterEnd(3, 200)
	if c := l.Counts(); c.InFlight != 5 || c.Attempted != 2 {
		t.Errorf("counts %+v", c)
	}
	l.Acked([]queue.Ack{{First: 0, N: 4}})
	l.Close(false)
	if len(log.rows) != 2 || l.Check(2) != nil {
		t.Errorf("%d rows, check %v", len(log.rows), l.Check(2))
	}
}

func TestStrangeAcknowledgementsAreCounted(t *testing.T) {
	l, log, _ := rig(10)
	register(l, 0, 2)
	l.Acked([]queue.Ack{{First: 0, N: 2}, {First: 1, N: 2}}) // 1 again, and 2, which was never sent
	if c := l.Counts(); c.Strange != 2 || c.Acked != 2 || len(log.rows) != 2 {
		t.Errorf("counts %+v, %d rows", c, len(log.rows))
	}
}

func TestLateAcknowledgementsChangeNothing(t *testing.T) {
	l, log, _ := rig(10)
	register(l, 0, 2)
	l.Close(false)
	l.Acked([]queue.Ack{{First: 0, N: 2}})
	l.Close(false)
	if c := l.Counts(); c.Unconfirmed != 2 || c.Acked != 0 || len(log.rows) != 2 {
		t.Errorf("counts %+v, %d rows", c, len(log.rows))
	}
}

func TestOneMessageThatIsNeverResolvedDoesNotStopTheRest(t *testing.T) {
	const limit = 100
	l, log, _ := rig(limit)
	var seq int64
	for seq = range int64(10_000) {
		if l.Room() < 1 {
			t.Fatalf("no room for message %d with %d in flight", seq, l.Counts().InFlight)
		}
		register(l, seq, 1)
		if seq%1000 != 7 {
			l.Acked([]queue.Ack{{First: seq, N: 1}})
		}
	}
	if log.watermark != 700 {
		t.Errorf("watermark %d, want that of message 7", log.watermark)
	}
	l.Acked([]queue.Ack{{First: 7, N: 1}})
	if log.watermark != 100_700 {
		t.Errorf("watermark %d, want that of message 1007", log.watermark)
	}
	l.Close(false)
	if c := l.Counts(); c.Unconfirmed != 9 || c.Acked != 9991 || c.Strange != 0 || l.Check(10_000) != nil {
		t.Errorf("counts %+v, check %v", c, l.Check(10_000))
	}
}

// TestRandomFates drives a ledger from two goroutines, as a sender and a client
// do, and compares the rows with what happened.
func TestRandomFates(t *testing.T) {
	const messages, limit = 50_000, 1000
	l, log, _ := rig(limit)
	taken := make(chan [2]int64, 100) // first, n
	fates := map[int64]rawlog.Status{}
	done := make(chan bool)
	go func() {
		r := rand.New(rand.NewPCG(2, 2))
		defer close(done)
		var open []int64
		for b := range taken {
			for i := range b[1] {
				open = append(open, b[0]+i)
			}
			for len(open) > 500 || len(open) > 0 && r.IntN(3) == 0 {
				k := r.IntN(min(len(open), 50))
				at := open[k]
				open = slices.Delete(open, k, k+1)
				a := queue.Ack{First: at, N: 1}
				if at%11 == 0 {
					a.Err = errors.New("failed")
				}
				l.Acked([]queue.Ack{a})
			}
		}
	}()
	r := rand.New(rand.NewPCG(1, 1))
	var first int64
	for seq := int64(0); seq < messages; {
		n := min(int64(1+r.IntN(20)), l.Room(), messages-seq)
		if n <= 0 {
			continue
		}
		var batch []Entry
		for i := range n {
			batch = append(batch, Entry{Seq: seq + i, Intended: seq + i, Sent: seq + i})
		}
		enter(l, batch...)
		refused := int64(0)
		if r.IntN(10) == 0 {
			refused = int64(r.IntN(int(n) + 1))
			l.Retract(int(refused), false)
		}
		for i := range n {
			if i >= n-refused {
				fates[seq+i] = rawlog.Failed
				continue
			}
			fates[seq+i] = rawlog.Acked
			if (first+i)%11 == 0 {
				fates[seq+i] = rawlog.Failed
			}
		}
		if n > refused {
			taken <- [2]int64{first, n - refused}
		}
		first += n - refused
		seq += n
		l.Next(seq)
	}
	close(taken)
	<-done
	l.Close(false)
	rows := log.byseq()
	if len(log.rows) != messages || len(rows) != messages {
		t.Fatalf("%d rows for %d messages, %d distinct", len(log.rows), messages, len(rows))
	}
	for seq, want := range fates {
		if got := rows[seq].Status; got != want && got != rawlog.Unconfirmed {
			t.Fatalf("message %d is %v, want %v", seq, got, want)
		}
	}
	if err := l.Check(messages); err != nil {
		t.Error(err)
	}
	if c := l.Counts(); c.Strange != 0 || c.Unconfirmed > 500 {
		t.Errorf("counts %+v", c)
	}
}

func TestHolds(t *testing.T) {
	var h Holds
	h.Add(100, 200)
	h.Add(300, 350)
	h.Add(350, 350) // nothing
	for _, c := range []struct{ moment, want int64 }{
		{0, 150}, {100, 150}, {150, 100}, {200, 50}, {299, 50}, {310, 40}, {349, 1}, {350, 0}, {1000, 0},
	} {
		if got := h.Since(c.moment); got != c.want {
			t.Errorf("held since %d: %d, want %d", c.moment, got, c.want)
		}
	}
}

func TestHoldsStayBoundedAndNearlyExact(t *testing.T) {
	h := Holds{limit: 64}
	// Held for 90 of each 100 ns.
	const n = 10_000
	for i := range int64(n) {
		h.Add(100*i, 100*i+90)
		if len(h.spans) > 64 {
			t.Fatalf("%d spans", len(h.spans))
		}
	}
	for _, moment := range []int64{0, 123_450, 500_000, 999_000} {
		want := (int64(n)*100 - moment) * 9 / 10
		if got := h.Since(moment); got < want-100 || got > want+100 {
			t.Errorf("held since %d: %d, want about %d", moment, got, want)
		}
	}
}

// BenchmarkRecord is the producer's side of a message without encoding: into
// the books and out as a row.
func BenchmarkRecord(b *testing.B) {
	l := New(0, 1<<16, 1, make(null, 256), func() int64 { return 1 })
	b.ReportAllocs()
	for i := 0; i < b.N; {
		batch := l.Slots(100)
		for k := range batch {
			batch[k] = Entry{Seq: int64(i + k), Intended: int64(i + k)}
		}
		l.Register(len(batch))
		l.Acked([]queue.Ack{{First: int64(i), N: int64(len(batch)), Offset: 1}})
		i += len(batch)
	}
}

// null is a log that keeps nothing; its rows are the room for the next.
type null []rawlog.SentRow

func (null) Append(rawlog.SentRow)            {}
func (l null) Reserve(n int) []rawlog.SentRow { return l[:min(n, len(l))] }
func (null) Publish(int)                      {}
func (null) SetWatermark(int64)               {}
