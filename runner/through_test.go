package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/identity"
	"queuebench/runner/payload"
)

func place(t testing.TB, text string) identity.Place {
	t.Helper()
	p, err := identity.ParsePlace(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pipe is a pipeline in the test: what it makes of the deliveries that came
// within an interval goes to out as messages.
func pipe(t *testing.T, in, out queue.Queue, every time.Duration, f func([]queue.Delivery) []queue.Message) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	c, err := in.Consumer(ctx, queue.ConsumerConfig{Group: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := out.Producer(ctx, queue.ProducerConfig{Acked: func([]queue.Ack) {}})
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		for ctx.Err() == nil {
			var messages []queue.Message
			got, cancel := context.WithTimeout(ctx, every)
			for got.Err() == nil {
				batch, err := c.Receive(got)
				if err == nil {
					messages = append(messages, f(batch)...)
				}
			}
			cancel()
			if messages = append(messages, f(nil)...); len(messages) > 0 {
				if _, err := p.Send(ctx, messages); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		p.Close()
		c.Close()
	})
}

// throughRig is a rig with a pipeline between two queues in memory.
func throughRig(t *testing.T, spec payload.Spec, out string, into, from int) (r *rig, in, outlet queue.Queue) {
	t.Helper()
	r = newRig(t, memory.Config{}, 300_000, time.Second)
	in, err := memory.New(memory.Config{Partitions: into, Retain: true})
	if err != nil {
		t.Fatal(err)
	}
	outlet, err = memory.New(memory.Config{Partitions: from, Retain: true})
	if err != nil {
		t.Fatal(err)
	}
	p := r.plan()
	p.Load.Payload, p.Load.Producers = spec, 2
	p.Load.DrainTimeout = 5 * time.Second
	r.opens(func() (queue.Queue, error) { return created{in}, nil })
	p.Through = &Through{Open: func(context.Context, int) (queue.Queue, error) { return created{outlet}, nil }, Identity: place(t, out)}
	t.Cleanup(func() { in.Close(); outlet.Close() })
	return r, in, outlet
}

// created is a queue of somebody else's: it is there, and stays.
type created struct{ queue.Queue }

func (created) Create(context.Context) error { return nil }
func (created) Remove(context.Context) error { return nil }
func (created) Close() error                 { return nil }

// sums makes one output of the inputs of an interval.
func sums(t *testing.T, ranges func(seqs *identity.Cover) []string) func([]queue.Delivery) []queue.Message {
	var cover identity.Cover
	var sum, n int64
	return func(batch []queue.Delivery) (out []queue.Message) {
		for _, d := range batch {
			var v struct {
				ID    string
				Value int64
			}
			if err := json.Unmarshal(d.Payload, &v); err != nil {
				t.Errorf("%q: %v", d.Payload, err)
			}
			if err := cover.Add([]byte(v.ID)); err != nil {
				t.Errorf("%q: %v", d.Payload, err)
			}
			sum += v.Value
			n++
		}
		if batch != nil || n == 0 {
			return nil
		}
		for _, text := range ranges(&cover) {
			body, _ := json.Marshal(map[string]any{"sum": sum, "covers": text})
			out = append(out, queue.Message{Payload: body, Partition: queue.AnyPartition})
		}
		cover.Reset()
		n = 0
		return out
	}
}

func TestOutputsOfAPipelineCoverRangesOfInputs(t *testing.T) {
	for name, c := range map[string]struct {
		every  int // of the outputs, one is lost
		twice  bool
		want   func(a rawlog.Accounting) bool
		expect string
	}{
		"all": {expect: "nothing lost or repeated", want: func(a rawlog.Accounting) bool { return a.Received == 300 && a.Lost == 0 && a.Duplicates == 0 }},
		"an output that is sent twice": {twice: true, expect: "every message repeated", want: func(a rawlog.Accounting) bool {
			return a.Received == 300 && a.Lost == 0 && a.Duplicates == 300
		}},
		"outputs that are lost": {every: 2, expect: "their inputs lost", want: func(a rawlog.Accounting) bool {
			return a.Received < 300 && a.Received > 0 && a.Lost == 300-a.Received && a.Duplicates == 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := payload.Spec{Sizes: payload.FixedSize(120), Format: payload.JSONFormat, Identity: place(t, "json:/id")}
			r, in, out := throughRig(t, spec, "json:/covers", 2, 1)
			outputs := 0
			pipe(t, in, out, 20*time.Millisecond, sums(t, func(cover *identity.Cover) []string {
				outputs++
				texts := cover.Texts(1 << 16)
				if c.twice {
					texts = append(texts, texts...)
				}
				if c.every > 0 && outputs%c.every == 0 {
					return nil
				}
				return texts
			}))
			res, err := Run(t.Context(), r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			a := res.Steps[0].Accounting
			if a.Scheduled != 300 || a.Acked != 300 || a.Foreign != 0 || !c.want(a) {
				t.Errorf("accounting %+v, want %s", a, c.expect)
			}
			if len(res.Broken) > 0 {
				t.Errorf("a pipeline promises nothing, and broke %q", res.Broken)
			}
			m := r.manifest(t)
			if m.Consumed == nil || m.Consumed.Partitions != 1 || m.Queue.Partitions != 2 || m.Queue.LosesNothing || m.Consumed.LosesNothing {
				t.Errorf("the queues are %+v and %+v", m.Queue, m.Consumed)
			}
			// Each input has a row of its own, at the place of its output.
			rows, offsets := 0, map[int64]bool{}
			r.rows(t, "received", []string{"producer", "seq", "offset"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
				rows += n
				for i := range n {
					offsets[v[2].Ints[i]] = true
				}
			})
			if int64(rows) != a.Received+a.Duplicates || len(offsets) > rows/2 || len(offsets) < 2 {
				t.Errorf("%d rows of %d outputs", rows, len(offsets))
			}
		})
	}
}

func TestAPipelineThatPassesIdentitiesOn(t *testing.T) {
	lines := "name,n\n"
	for i := range 50 {
		lines += fmt.Sprintf("row %d,%d\n", i, i)
	}
	for name, c := range map[string]struct {
		spec payload.Spec
		out  string
		f    func(d queue.Delivery) (queue.Message, bool)
	}{
		"a rewritten body, the key kept": {payload.Spec{Sizes: payload.FixedSize(50), Identity: place(t, "key")}, "key", func(d queue.Delivery) (queue.Message, bool) {
			return queue.Message{Payload: []byte("other"), Key: d.Key}, true
		}},
		"a rewritten body, the header kept": {payload.Spec{Sizes: payload.FixedSize(50), Identity: place(t, "header:id")}, "header:id", func(d queue.Delivery) (queue.Message, bool) {
			return queue.Message{Headers: d.Headers}, true
		}},
		"the body as it is": {payload.Fixed(50), "payload", func(d queue.Delivery) (queue.Message, bool) {
			return queue.Message{Payload: d.Payload}, true
		}},
		"lines with their header to keys": {payload.Spec{Lines: linesOf(t, lines), Format: payload.DelimitedFormat}, "key", func(d queue.Delivery) (queue.Message, bool) {
			id, row, _ := strings.Cut(string(d.Payload), ",")
			return queue.Message{Key: []byte(id), Payload: []byte(row)}, row != "name,n"
		}},
		"delimited as it is": {payload.Spec{Sizes: payload.FixedSize(80), Format: payload.DelimitedFormat}, "payload", func(d queue.Delivery) (queue.Message, bool) {
			return queue.Message{Payload: d.Payload}, true // with the header line, which is no message
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in, out := throughRig(t, c.spec, c.out, 1, 3)
			var headers int
			pipe(t, in, out, 5*time.Millisecond, func(batch []queue.Delivery) (all []queue.Message) {
				for _, d := range batch {
					d.Payload, d.Key = bytes.Clone(d.Payload), bytes.Clone(d.Key) // which the next Receive uses again
					d.Headers = slices.Clone(d.Headers)
					for i := range d.Headers {
						d.Headers[i].Value = bytes.Clone(d.Headers[i].Value)
					}
					m, ok := c.f(d)
					if ok {
						m.Partition = queue.AnyPartition
						all = append(all, m)
					} else {
						headers++
					}
				}
				return all
			})
			accounting(t, r, rawlog.Accounting{Scheduled: 300, Attempted: 300, Acked: 300, Received: 300})
			if want := strings.Contains(name, "header to"); want != (headers == 1) {
				t.Errorf("the header line came %d times", headers)
			}
		})
	}
}

// Without a pipeline, the identity may stand elsewhere too, marks included.
func TestIdentitiesElsewhereWithoutAPipeline(t *testing.T) {
	for _, c := range []payload.Spec{
		{Sizes: payload.FixedSize(50), Identity: place(t, "key")},
		{Sizes: payload.FixedSize(90), Identity: place(t, "json:/a/b"), Format: payload.JSONFormat},
		{Sizes: payload.FixedSize(90), Format: payload.DelimitedFormat},
		{Sizes: payload.FixedSize(90), Format: payload.TextFormat, Identity: place(t, "header:h")},
	} {
		t.Run(c.Identity.String()+" "+c.Format.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, memory.Config{Partitions: 2}, 100_000, time.Second)
			p := r.plan()
			p.Load.Payload, p.Load.Producers, p.Load.Groups, p.Load.DrainTimeout = c, 2, 2, time.Minute
			began := time.Now()
			accounting(t, r, rawlog.Accounting{Scheduled: 100, Attempted: 100, Acked: 100, Received: 100})
			if time.Since(began) > p.Load.DrainTimeout {
				t.Error("it ended at the deadline: its marks were not read")
			}
		})
	}
}

func linesOf(t testing.TB, text string) *payload.Lines {
	t.Helper()
	path := t.TempDir() + "/lines"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := payload.OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWhatCannotGoThroughAPipelineIsRefused(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 100*time.Millisecond)
	for says, change := range map[string]func(p *Plan){
		"one half":    func(p *Plan) { p.Role = rawlog.RoleProduce },
		"closed loop": func(p *Plan) { p.Closed = &Closed{} },
		"a backlog":   func(p *Plan) { p.Backlog = &Backlog{} },
	} {
		p := *r.plan()
		p.Through = &Through{}
		change(&p)
		if err := p.Through.check(&p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	p := ofRate(*r.plan(), 1000, time.Second)
	p.Through, p.Role = &Through{}, rawlog.RoleProduce
	p.Load.Groups, p.Load.Consumers = 0, 0
	if err := p.Check(); err == nil {
		t.Error("a half through a pipeline was taken")
	}
}
