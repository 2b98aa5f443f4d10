//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// kills is how often each kind of process is killed: KILLS, or a few.
func kills(t *testing.T, few int) int {
	t.Helper()
	n, err := strconv.Atoi(setting("KILLS", strconv.Itoa(few)))
	if err != nil || n < 1 {
		t.Fatalf("KILLS=%s: write how often, such as 100", setting("KILLS", ""))
	}
	return n
}

// moments calls kill at so many seeded moments within a time, a few at once.
func moments(t *testing.T, seed uint64, n, atOnce int, within time.Duration, kill func(t *testing.T, i int, after time.Duration)) {
	t.Helper()
	benchProgram(t)
	random := rand.New(rand.NewPCG(seed, 9))
	slots := make(chan struct{}, atOnce)
	t.Run("at", func(t *testing.T) {
		for i := range n {
			after := time.Duration(random.Int64N(int64(within)))
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				kill(t, i, after)
				if t.Failed() {
					t.Logf("killed %v after its first part", after)
				}
			})
		}
	})
}

// tally counts over the kills of a test.
type tally struct {
	mu                           sync.Mutex
	acked, received, twice, lost int64
}

func (c *tally) add(acked, received, twice, lost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acked, c.received, c.twice, c.lost = c.acked+acked, c.received+received, c.twice+twice, c.lost+lost
}

func (c *tally) String() string {
	return fmt.Sprintf("%d acknowledged, %d received, acknowledged and not received %d, received twice %d", c.acked, c.received, c.lost, c.twice)
}

// noneLost holds that what was acknowledged was received, of a log in a folder.
func noneLost(t *testing.T, run string) (acked, received, twice int64) {
	t.Helper()
	acked, received, twice, lost := rowsOf(t, run)
	if lost > 0 {
		t.Errorf("%d of %d acknowledged messages were not received", lost, acked)
	}
	return acked, received, twice
}

// rowsOf is what the log of a run says, row by row.
func rowsOf(t *testing.T, run string) (acked, received, twice, lost int64) {
	t.Helper()
	sent, got := messages(t, run, rawlog.Sent.Name), messages(t, run, rawlog.Received.Name)
	for m := range sent {
		if got[m] == 0 {
			lost++
		}
	}
	for _, n := range got {
		twice += int64(n - 1)
	}
	return int64(len(sent)), int64(len(got)), twice, lost
}

// split is a run in two halves on a Delta queue in a folder of a store's own.
type split struct {
	dir, id string
	run     string // the log's folder
	store   string // the folder of the queue's store
	others  foreigners
	args    []string // of both halves
	env     []string
}

// newSplit is a run through an S3 server, whose files are looked at as files.
func newSplit(t *testing.T, gw *versitygw.Server, id, drain string) *split {
	t.Helper()
	s := &split{dir: t.TempDir(), id: id, env: gw.Environ()}
	s.store = filepath.Join(gw.Dir, gw.Bucket, id)
	s.run = filepath.Join(s.store, "runs", id)
	s.args = []string{"--run-id", id, "--store", gw.Address(id), "--commit-interval", "50ms", "--quiet", "--calibrate=false", "--drain-timeout", drain, "--part-age", "200ms"}
	s.others = plant(t, s.store, "tables/"+id+"-too/_delta_log/00000000000000000000.json", "runs/"+id+"-too/run.json", "mine.txt", "tables/note.txt")
	return s
}

func (s *split) start(t *testing.T, args ...string) *bench {
	t.Helper()
	return start(t, s.dir, s.env, append(args, s.args...)...)
}

// clean removes what is left of the run, and nothing of anyone else's.
func (s *split) clean(t *testing.T) {
	t.Helper()
	s.others.unharmed(t)
	b := start(t, s.dir, s.env, "clean", s.id, "--store", s.args[3], "--log", "--force")
	if status := b.ends(t, time.Minute); status != 0 {
		t.Errorf("clean: status %d: %s%s", status, b.out.String(), b.errs.String())
	}
	s.others.unharmed(t)
}

// A producer that is killed ends the run clearly: the consumers say that it died,
// what it was told that it is safe was received, and the log can be read.
func TestKilledProducers(t *testing.T) {
	alongside(t, "KILLS")
	n := kills(t, 3)
	row := reliability.Try(t, reliability.Row{
		ID: "kills/producer", What: "`kill -9` of the producing process at a seeded moment, Delta through versitygw", Often: fmt.Sprintf("%d times", n), Effort: float64(n),
		Holds: "the consumers end and name it, the log is read and marked incomplete, nothing acknowledged is lost, nothing received twice, objects of others untouched",
	})
	gw := versitygw.Start(t)
	var c tally
	moments(t, 1, n, 4, 2500*time.Millisecond, func(t *testing.T, i int, after time.Duration) {
		s := newSplit(t, gw, fmt.Sprintf("producer-%d", i), "3s")
		consumers := s.start(t, "consume")
		producers := s.start(t, "produce", "--rate", "2000", "--duration", "5s")
		await(t, "a part of the producer", producers, func() bool { return hasParts(s.run, "sent") })
		time.Sleep(after)
		producers.kill()
		if status := consumers.ends(t, time.Minute); status != 1 || !strings.Contains(consumers.errs.String(), "the producers died") {
			t.Errorf("the consumers end with status %d: %s", status, consumers.errs.String())
		}
		acked, received, twice := noneLost(t, s.run)
		if acked == 0 || twice != 0 {
			t.Errorf("%d acknowledged, %d received twice", acked, twice)
		}
		if summary := readable(t, s.run); summary == nil || summary.Complete {
			t.Errorf("the log is not marked incomplete: %+v", summary)
		}
		c.add(acked, received, twice, 0)
		s.clean(t)
	})
	row.Happened = c.String()
}

// A consumer that is killed is started again with --resume, and the log has each
// message once.
func TestKilledConsumers(t *testing.T) {
	alongside(t, "KILLS")
	n := kills(t, 3)
	row := reliability.Try(t, reliability.Row{
		ID: "kills/consumer", What: "`kill -9` of the consuming process at a seeded moment, started again with `--resume`, Delta through versitygw", Often: fmt.Sprintf("%d times", n), Effort: float64(n),
		Holds: "both end with status 0, lost 0, nothing recorded twice, the log complete, objects of others untouched",
	})
	gw := versitygw.Start(t)
	var c tally
	moments(t, 2, n, 4, 3*time.Second, func(t *testing.T, i int, after time.Duration) {
		for try := 1; !c.killConsumer(t, gw, fmt.Sprintf("consumer-%d-%d", i, try), after); try++ {
			if try == 5 {
				t.Fatal("five times the consumer had ended by itself before its moment came")
			}
		}
	})
	row.Happened = c.String()
}

// killConsumer kills a consuming half some time after its first part, and resumes it.
// It is false if the half had ended by itself until then, as on a host where the part
// is seen late: resuming must be refused, and another run has to be killed.
func (c *tally) killConsumer(t *testing.T, gw *versitygw.Server, id string, after time.Duration) bool {
	t.Helper()
	const all = 8000
	s := newSplit(t, gw, id, "30s")
	first := s.start(t, "consume")
	producers := s.start(t, "produce", "--rate", "2000", "--duration", "4s")
	await(t, "a part of the consumer", first, func() bool { return hasParts(s.run, "received") })
	time.Sleep(after)
	first.kill()
	second := s.start(t, "consume", "--resume")
	if status := producers.ends(t, time.Minute); status != 0 {
		t.Errorf("the producers end with status %d: %s", status, producers.errs.String())
	}
	status := second.ends(t, time.Minute)
	late := status == 2 && strings.Contains(second.errs.String(), "has ended by itself")
	if status != 0 && !late {
		t.Errorf("the consumers end with status %d: %s", status, second.errs.String())
	}
	acked, received, twice := noneLost(t, s.run)
	if acked != all || received != all || twice != 0 {
		t.Errorf("%d acknowledged, %d received, %d twice", acked, received, twice)
	}
	if summary := readable(t, s.run); summary == nil || !summary.Complete || summary.Steps[0].Accounting.Lost != 0 {
		t.Errorf("%+v", summary)
	}
	s.clean(t)
	if !late {
		c.add(acked, received, twice, 0)
	}
	return !late
}

// A store that is killed and comes back has all that it took.
func TestKilledStores(t *testing.T) {
	alongside(t, "KILLS")
	n := kills(t, 2)
	row := reliability.Try(t, reliability.Row{
		ID: "kills/store", What: "`kill -9` of the store (versitygw) under a Delta queue and the raw log at a seeded moment, started again within 1.5 s", Often: fmt.Sprintf("%d times", n), Effort: float64(n),
		Holds: "the run ends with status 0, lost 0, duplicates 0, the log complete, objects of others untouched",
	})
	var c tally
	moments(t, 3, n, 3, 3*time.Second, func(t *testing.T, i int, after time.Duration) {
		gw := versitygw.Start(t)
		s := newSplit(t, gw, fmt.Sprintf("store-%d", i), "60s")
		b := s.start(t, "run", "--queue", "delta", "--rate", "2000", "--duration", "4s", "--json")
		await(t, "a part", b, func() bool { return hasParts(s.run, "sent") })
		time.Sleep(after)
		gw.Kill()
		time.Sleep(after / 2)
		gw.Restart(t)
		status := b.ends(t, 3*time.Minute)
		r, a := b.accounting(t)
		addsUp(t, a, 8000)
		if status != 0 || !r.Complete || len(r.Unsent) > 0 || a.Lost != 0 || a.Duplicates != 0 || a.Failed != 0 || a.Unconfirmed != 0 {
			t.Errorf("status %d, %+v, complete %v, not stored %v\n%s", status, a, r.Complete, r.Unsent, b.errs.String())
		}
		acked, received, twice := noneLost(t, s.run)
		if acked != a.Acked || received != a.Received {
			t.Errorf("the log has %d acknowledged and %d received, the result %+v", acked, received, a)
		}
		if summary := readable(t, s.run); summary == nil || !summary.Complete {
			t.Errorf("%+v", summary)
		}
		c.add(acked, received, twice, 0)
		s.clean(t)
	})
	row.Happened = c.String()
}

// A JetStream server that is killed and comes back: its clients go on or say why not.
// Whether it kept all that it acknowledged is its own doing, and the run's to tell.
func TestKilledJetStream(t *testing.T) {
	alongside(t, "KILLS")
	n := kills(t, 2)
	row := reliability.Try(t, reliability.Row{
		ID: "kills/jetstream", What: "`kill -9` of a JetStream server at a seeded moment, started again within 1.5 s", Often: fmt.Sprintf("%d times", n), Effort: float64(n),
		Holds: "the run ends with status 0, 1 where messages failed, 3 where acknowledged ones were lost; the log is complete and says the same; a stream of others untouched",
	})
	var c tally
	moments(t, 4, n, 4, 3*time.Second, func(t *testing.T, i int, after time.Duration) {
		s := startJetStream(t)
		others := plantStream(t, s)
		dir := t.TempDir()
		id := fmt.Sprintf("jetstream-%d", i)
		b := start(t, dir, nil, "run", "--queue", "nats", "--nats-url", s.url(), "--nats-ack-timeout", "2s", "--rate", "1000", "--duration", "4s", "--drain-timeout", "30s",
			"--run-id", id, "--log-store", "./logs", "--part-age", "200ms", "--quiet", "--calibrate=false", "--json")
		run := filepath.Join(dir, "logs", id)
		await(t, "a part", b, func() bool { return hasParts(run, "sent") })
		time.Sleep(after)
		s.kill()
		time.Sleep(after / 2)
		s.begin(t)
		status := b.ends(t, 3*time.Minute)
		_, a := b.accounting(t)
		addsUp(t, a, 4000)
		want := 0
		switch {
		case a.Lost > 0:
			want = 3
		case a.Failed+a.Unconfirmed > 0:
			want = 1
		}
		if status != want {
			t.Errorf("status %d, expected %d, %+v\n%s", status, want, a, b.errs.String())
		}
		acked, received, twice, lost := rowsOf(t, run)
		if lost != a.Lost {
			t.Errorf("the log has %d lost, the result %+v", lost, a)
		}
		readable(t, run)
		c.add(acked, received, twice, lost)
		others(t)
	})
	row.Happened = c.String()
}

// plantStream makes a stream of others, and returns what holds that it is as it was.
func plantStream(t *testing.T, s *jetStream) (unharmed func(t *testing.T)) {
	t.Helper()
	connect := func() (*nats.Conn, jetstream.JetStream) {
		nc, err := nats.Connect(s.url())
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		return nc, js
	}
	nc, js := connect()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "others", Subjects: []string{"others.>"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := js.Publish(t.Context(), "others.x", fmt.Appendf(nil, "message %d of others", i)); err != nil {
			t.Fatal(err)
		}
	}
	return func(t *testing.T) {
		t.Helper()
		nc, js := connect()
		defer nc.Close()
		stream, err := js.Stream(t.Context(), "others")
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(3) {
			m, err := stream.GetMsg(t.Context(), i+1)
			if err != nil || string(m.Data) != fmt.Sprintf("message %d of others", i) {
				t.Errorf("message %d of others: %v, %v", i, m, err)
			}
		}
		if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs != 3 {
			t.Errorf("the stream of others has %+v, %v", info, err)
		}
		names := js.StreamNames(t.Context())
		for name := range names.Name() {
			if name != "others" {
				t.Errorf("the run left the stream %s", name)
			}
		}
	}
}
