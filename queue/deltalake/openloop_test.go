//go:build unix

package deltalake

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/internal/alarm"
	"queuebench/internal/cputimetest"
	"queuebench/queue"
)

// nothing takes messages and does nothing with them.
type nothing struct{ queue.Producer }

func (nothing) Send(_ context.Context, batch []queue.Message) (int, error) { return len(batch), nil }
func (nothing) Flush(context.Context) error                                { return nil }

// loadAlone is the processor time of the load, ns a message.
func loadAlone(b *testing.B, rate int) float64 {
	clk := clock.New()
	used := cputimetest.Used(b)
	const seconds = 2
	if err := openLoop(b.Context(), nothing{}, clk, clk.Now(), seconds*rate, rate); err != nil {
		b.Fatal(err)
	}
	return float64(cputimetest.Used(b)-used) / float64(seconds*rate)
}

// openLoop sends each message when it is due, with its due time in it, or up to
// half a millisecond later: what it is late by is in the latency.
func openLoop(ctx context.Context, p queue.Producer, clk *clock.Clock, start int64, n, rate int) error {
	a := alarm.New()
	defer a.Close()
	payloads := make([]byte, 100*4096)
	var batch []queue.Message
	for i := 0; i < n; {
		now := clk.Now()
		batch = batch[:0]
		for ; i < n && len(batch) < 4096; i++ {
			due := start + int64(i)*int64(time.Second)/int64(rate)
			if due > now {
				break
			}
			payload := payloads[100*len(batch):][:100]
			binary.LittleEndian.PutUint64(payload, uint64(due))
			batch = append(batch, queue.Message{Payload: payload, Partition: queue.AnyPartition})
		}
		if len(batch) == 0 {
			due := start + int64(i)*int64(time.Second)/int64(rate)
			if err := a.Sleep(ctx, max(time.Duration(due-now), 500*time.Microsecond)); err != nil {
				return err
			}
			continue
		}
		if _, err := p.Send(ctx, batch); err != nil {
			return err
		}
	}
	return p.Flush(ctx)
}
