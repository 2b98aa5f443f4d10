package deltalake

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/queue"
)

const testT, testPoll = 100 * time.Millisecond, 5 * time.Millisecond

// follow lets a reader with this pace find versions that appear at the given
// times, and returns how late each was found and how many misses it took in
// all. A request takes no time.
func follow(p *pace, appear []time.Duration) (late []time.Duration, misses int) {
	now := time.Duration(1)
	for _, at := range appear {
		for now < at {
			misses++
			now += p.miss(int64(now))
		}
		late = append(late, now-at)
		now += p.hit(int64(now))
	}
	return late, misses
}

func TestPaceOfASteadyWriter(t *testing.T) {
	p := newPace(testT, testPoll)
	var appear []time.Duration
	for i := range 100 {
		appear = append(appear, time.Duration(i+1)*testT+time.Duration(i%3)*time.Millisecond)
	}
	late, misses := follow(&p, appear)
	if m := slices.Max(late); m > 2*testPoll {
		t.Errorf("a version was found %v late", m)
	}
	// Polling all the time would be 20 misses a version.
	if misses > 100*5 {
		t.Errorf("%d misses for 100 versions", misses)
	}
}

// A writer that is sometimes early makes the reader look earlier.
func TestPaceOfAnUnsteadyWriter(t *testing.T) {
	p := newPace(testT, testPoll)
	var appear []time.Duration
	for i := range 200 {
		appear = append(appear, time.Duration(i+1)*testT+time.Duration(i*37%60)*time.Millisecond)
	}
	late, _ := follow(&p, appear)
	slices.Sort(late)
	if m := late[len(late)*9/10]; m > 3*testPoll {
		t.Errorf("one in ten versions was found more than %v late", m)
	}
}

// One version that is found late, or comes late, costs nothing afterwards.
func TestPaceAfterOneLateVersion(t *testing.T) {
	p := newPace(testT, testPoll)
	var appear []time.Duration
	for i := range 100 {
		at := time.Duration(i+1) * testT
		if i%10 == 5 {
			at += 40 * time.Millisecond
		}
		appear = append(appear, at)
	}
	late, misses := follow(&p, appear)
	if m := slices.Max(late); m > 2*testPoll {
		t.Errorf("a version was found %v late", m)
	}
	if misses > 100*5 {
		t.Errorf("%d misses for 100 versions", misses)
	}
}

// A writer whose interval is not the reader's is followed all the same.
func TestPaceOfAnotherInterval(t *testing.T) {
	for _, interval := range []time.Duration{7 * time.Millisecond, 30 * time.Millisecond, 70 * time.Millisecond, 130 * time.Millisecond, 950 * time.Millisecond} {
		p := newPace(testT, testPoll)
		var appear []time.Duration
		for i := range 300 {
			appear = append(appear, time.Duration(i+1)*interval)
		}
		late, _ := follow(&p, appear)
		late = late[100:]
		slices.Sort(late)
		if m := late[len(late)*9/10]; m > 3*testPoll {
			t.Errorf("interval %v: one in ten versions was found more than %v late", interval, m)
		}
	}
}

// Versions that are all there are read one after the other.
func TestPaceCatchesUp(t *testing.T) {
	p := newPace(testT, testPoll)
	appear := make([]time.Duration, 1000)
	late, misses := follow(&p, appear)
	if m := slices.Max(late); m > 1 || misses > 0 {
		t.Errorf("with %d misses the last version was read after %v", misses, m)
	}
}

// The timer keeps its grid, and writes nothing in an interval without
// messages.
func TestCommitTimer(t *testing.T) {
	const T, phase = 80 * time.Millisecond, 30 * time.Millisecond
	q := open(t, Config{Store: folder(t), Name: "table", CommitInterval: T, Phase: phase, FixedPhase: true})
	l := newLoad(t, q, 1)
	if err := l.send(deadline(t), 0, 300, 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	var after []time.Duration
	for v := range int64(len(l.traces)) {
		c, err := q.tables[0].getCommit(t.Context(), v+1)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Duration(c.adds[0].ModificationTime) * time.Millisecond
		after = append(after, (at-phase+T)%T)
	}
	slices.Sort(after)
	if m := after[len(after)/4]; m > 10*time.Millisecond || len(after) < 4 {
		t.Errorf("of %d batches three quarters were cut more than %v after their time: %v", len(after), m, after)
	}
	time.Sleep(3 * T)
	if _, newest, err := q.tables[0].versions(t.Context()); err != nil || newest != int64(len(l.traces)) {
		t.Errorf("the newest version is %d after %d commits and a silence: %v", newest, len(l.traces), err)
	}
}

// A steady load finds messages waiting whenever the writer looks. Each tick
// must still cut one batch only, with slow stores and batches above all.
func TestATickCutsOneBatch(t *testing.T) {
	const T = 50 * time.Millisecond
	q := open(t, Config{Store: folder(t), Name: "table", CommitInterval: T})
	var commits atomic.Int64
	p, err := q.Producer(t.Context(), queue.ProducerConfig{Acked: func([]queue.Ack) {}, Trace: func(queue.Trace) { commits.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]queue.Message, 100)
	for i := range batch {
		batch[i] = queue.Message{Payload: make([]byte, 200), Partition: queue.AnyPartition}
	}
	began := time.Now()
	for time.Since(began) < 12*T {
		if _, err := p.Send(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Microsecond)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most := int64(time.Since(began)/T) + 2; commits.Load() > most {
		t.Errorf("%d commits in %v, at most %d ticks", commits.Load(), time.Since(began), most)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTooManyConsumersAreTold(t *testing.T) {
	q := open(t, Config{Store: folder(t), Name: "table"})
	told := 0
	for i := range 3 {
		c, err := q.Consumer(t.Context(), queue.ConsumerConfig{ID: i, Group: "g", Event: func(e queue.Event) {
			if e.Kind == "idle" {
				told++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if told != 2 {
		t.Errorf("%d of 2 idle consumers were told of", told)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	store := folder(t)
	for name, cfg := range map[string]Config{
		"no store":    {Name: "a"},
		"no name":     {Store: store},
		"slash":       {Store: store, Name: "a/"},
		"partitions":  {Store: store, Name: "a", Partitions: -1},
		"interval":    {Store: store, Name: "a", CommitInterval: -1},
		"codec":       {Store: store, Name: "a", Codec: "lzma"},
		"schema":      {Store: store, Name: "a", Schema: "mine"},
		"phase":       {Store: store, Name: "a", FixedPhase: true, Phase: time.Hour},
		"batch bytes": {Store: store, Name: "a", BatchBytes: 1 << 40},
		"column":      {Store: store, Name: "a", Schema: Pathway, Column: "payload"},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: %+v was not refused", name, cfg)
		}
	}
}
