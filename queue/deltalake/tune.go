package deltalake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"queuebench/objectstore"
)

// Times are how long the requests of a message's way take, one each.
type Times struct {
	DataPut, CommitPut, Miss, CommitGet, DataGet time.Duration
}

// ExpectedP50 is the sum that the median latency end to end comes to, from
// docs/delta.md: Teff/2 + Pd + Pc + (δ+g)/2 + Gc + Gd.
func ExpectedP50(commitInterval, pollInterval time.Duration, pipeline int, m Times) time.Duration {
	T := max(commitInterval, m.CommitPut, (m.DataPut+m.CommitPut)/time.Duration(max(1, pipeline)))
	return T/2 + m.DataPut + m.CommitPut + (pollInterval+m.Miss)/2 + m.CommitGet + m.DataGet
}

// CostPerSecond bounds what the requests of a partition cost, in dollars a
// second: P·[2/T·c_put + C·(1/δ + 1/T)·c_get] of docs/delta.md, and the GET of
// the data besides.
func CostPerSecond(commitInterval, pollInterval time.Duration, consumers int, p objectstore.Prices) float64 {
	T, poll := commitInterval.Seconds(), pollInterval.Seconds()
	return 2/T*p.Put + float64(consumers)*(1/poll+2/T)*p.Get
}

// Target is what Tune is to reach: a median latency, or a cost.
type Target struct {
	P50               time.Duration // 0 for none
	DollarsPerMillion float64       // messages; 0 for none
	Rate              float64       // messages a second, of all partitions
	Partitions        int
	Consumers         int // that read all messages
	Pipeline          int
	Prices            objectstore.Prices
}

// Tuning is what Tune chose, and what it expects of it.
type Tuning struct {
	CommitInterval, PollInterval time.Duration
	P50                          time.Duration
	DollarsPerMillion            float64
	Reached                      bool
	Times                        Times
}

func (t Tuning) String() string {
	reached := ""
	if !t.Reached {
		reached = ", which misses the target: nothing reaches it"
	}
	ms := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("commit interval %v and poll interval %v: expected p50 %v and at most $%.3g per million messages%s (measured: data PUT %v, commit PUT %v, miss %v, commit GET %v, data GET %v)",
		t.CommitInterval, t.PollInterval, ms(t.P50), t.DollarsPerMillion, reached, ms(t.Times.DataPut), ms(t.Times.CommitPut), ms(t.Times.Miss), ms(t.Times.CommitGet), ms(t.Times.DataGet))
}

// The intervals that Tune chooses among, in ms.
var (
	commitChoices = []time.Duration{5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 2000, 5000, 10000}
	pollChoices   = []time.Duration{2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}
)

// Tune chooses the cheapest intervals that keep to a latency, or the fastest
// ones that keep to a cost; if none does, the fastest or the cheapest of all.
func Tune(to Target, m Times) Tuning {
	var best Tuning
	for _, T := range commitChoices {
		for _, poll := range pollChoices {
			if poll > T {
				continue
			}
			c := Tuning{CommitInterval: T * time.Millisecond, PollInterval: poll * time.Millisecond, Times: m}
			c.P50 = ExpectedP50(c.CommitInterval, c.PollInterval, to.Pipeline, m)
			c.DollarsPerMillion = float64(to.Partitions) * CostPerSecond(c.CommitInterval, c.PollInterval, to.Consumers, to.Prices) / to.Rate * 1e6
			c.Reached = (to.P50 == 0 || c.P50 <= to.P50) && (to.DollarsPerMillion == 0 || c.DollarsPerMillion <= to.DollarsPerMillion)
			byLatency := c.P50 < best.P50 || c.P50 == best.P50 && c.DollarsPerMillion < best.DollarsPerMillion
			byCost := c.DollarsPerMillion < best.DollarsPerMillion || c.DollarsPerMillion == best.DollarsPerMillion && c.P50 < best.P50
			// What is given is kept to and the other made small; where it
			// cannot be kept to, it is itself made small.
			better := byCost
			if c.Reached == (to.P50 == 0) {
				better = byLatency
			}
			if best.CommitInterval == 0 || c.Reached && !best.Reached || c.Reached == best.Reached && better {
				best = c
			}
		}
	}
	return best
}

// measureTries is how often each request is made; their median counts. Data
// files are of measureBytes.
const (
	measureTries = 7
	measureBytes = 100_000
)

// Measure makes the requests of a message's way, one after the other, below a
// name of its own, which it removes again.
func Measure(ctx context.Context, store objectstore.Store, name string) (m Times, err error) {
	name += ".measure." + rand.Text()
	body := []byte(strings.Repeat("x", measureBytes))
	var keys []string
	defer func() {
		for _, k := range keys {
			err = errors.Join(err, store.Delete(context.WithoutCancel(ctx), k))
		}
	}()
	var took [5][]time.Duration
	for i := range measureTries {
		data, commit := fmt.Sprintf("%s/%d.data", name, i), fmt.Sprintf("%s/%d.json", name, i)
		keys = append(keys, data, commit)
		for k, request := range []func() error{
			func() error { return store.Put(ctx, data, body, objectstore.PutOptions{}) },
			func() error {
				_, _, err := store.Get(ctx, commit)
				if errors.Is(err, objectstore.ErrNotFound) {
					err = nil
				}
				return err
			},
			func() error { return store.Put(ctx, commit, body[:500], objectstore.PutOptions{IfAbsent: true}) },
			func() error { _, _, err := store.Get(ctx, commit); return err },
			func() error { _, _, err := store.Get(ctx, data); return err },
		} {
			begun := time.Now()
			if err := request(); err != nil {
				return m, fmt.Errorf("deltalake: measuring the store: %w", err)
			}
			took[k] = append(took[k], time.Since(begun))
		}
	}
	median := func(k int) time.Duration { slices.Sort(took[k]); return took[k][len(took[k])/2] }
	return Times{DataPut: median(0), Miss: median(1), CommitPut: median(2), CommitGet: median(3), DataGet: median(4)}, nil
}
