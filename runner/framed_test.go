package runner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/runner/payload"
)

// without takes a frame off.
func without(frame string) func([]byte) ([]byte, error) {
	return func(payload []byte) ([]byte, error) {
		body, ok := bytes.CutPrefix(payload, []byte(frame))
		if !ok {
			return nil, fmt.Errorf("it has no %s", frame)
		}
		return body, nil
	}
}

// Messages, marks and header lines have the frame, and identities are found behind
// it.
func TestFramedMessages(t *testing.T) {
	for _, c := range []payload.Spec{
		{Sizes: payload.FixedSize(50)},
		{Sizes: payload.FixedSize(50), Identity: place(t, "header:h")},
		{Sizes: payload.FixedSize(90), Format: payload.DelimitedFormat},
		{Sizes: payload.FixedSize(90), Identity: place(t, "json:/a"), Format: payload.JSONFormat},
	} {
		t.Run(c.Identity.String()+" "+c.Format.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, memory.Config{Partitions: 2}, 100_000, time.Second)
			p := r.plan()
			p.Load.Payload, p.Load.Producers, p.Load.DrainTimeout = c, 2, time.Minute
			p.Load.Payload.Frame, p.Load.Unframe = []byte("frame"), without("frame")
			began := time.Now()
			accounting(t, r, rawlog.Accounting{Scheduled: 100, Attempted: 100, Acked: 100, Received: 100})
			if time.Since(began) > p.Load.DrainTimeout {
				t.Error("it ended at the deadline: its marks were not read")
			}
		})
	}
}

// A delivery with another frame is no message of the step: it is counted, and said.
func TestDeliveriesWithoutTheirFrameAreCounted(t *testing.T) {
	r, in, out := throughRig(t, payload.Spec{Sizes: payload.FixedSize(50), Frame: []byte("in")}, "payload", 1, 1)
	r.plan().Load.Unframe, r.plan().Through.Unframe = without("in"), without("out")
	n := 0
	pipe(t, in, out, 5*time.Millisecond, func(batch []queue.Delivery) (all []queue.Message) {
		for _, d := range batch {
			frame := "out"
			if n++; n%3 == 0 {
				frame = "in"
			}
			all = append(all, queue.Message{Payload: append([]byte(frame), d.Payload[2:]...), Partition: queue.AnyPartition})
		}
		return all
	})
	r.plan().Load.DrainTimeout = time.Second
	accounting(t, r, rawlog.Accounting{Scheduled: 300, Attempted: 300, Acked: 300, Received: 200, Lost: 100, Foreign: 100})
	if text := strings.Join(r.manifest(t).Warnings, "\n"); !strings.Contains(text, "100 messages without the frame of their schema, the first: it has no out") {
		t.Error(text)
	}
}
