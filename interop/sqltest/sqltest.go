// Package sqltest holds the rows that an engine computed by `analyze sql`
// against the summary that analyze computed itself. Only tests use it.
package sqltest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// Tolerance is by how much a percentile may differ, as a ratio: the value error
// that the analysis states.
const Tolerance = 0.005

// Compare fails unless the rows (a JSON array, as the engine has them) say what
// the summary (`analyze summary --json`) says of every step.
func Compare(t testing.TB, rows, summary []byte, percentiles ...string) {
	t.Helper()
	var got []map[string]any
	if err := json.Unmarshal(rows, &got); err != nil {
		t.Fatalf("%v in %s", err, rows)
	}
	var want struct {
		Steps []struct {
			Step, Repeat int
			Accounting   map[string]int64
			Latencies    map[string]struct {
				N, Infinite int64
				MinNs       int64 `json:"min_ns"`
				MaxNs       int64 `json:"max_ns"`
				MeanNs      int64 `json:"mean_ns"`
				Percentiles map[string]struct {
					Ns     int64
					Beyond bool
				}
			}
		}
	}
	if err := json.Unmarshal(summary, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want.Steps) || len(got) == 0 {
		t.Fatalf("%d rows for %d steps", len(got), len(want.Steps))
	}
	for i, s := range want.Steps {
		row := got[i]
		number := func(name string) float64 {
			if v, ok := row[name].(float64); ok {
				return v
			}
			return math.NaN()
		}
		check := func(name string, want int64) {
			if number(name) != float64(want) {
				t.Errorf("step %d, repeat %d: %s is %v, the summary has %d", s.Step, s.Repeat, name, row[name], want)
			}
		}
		check("step", int64(s.Step))
		check("repeat", int64(s.Repeat))
		for _, name := range []string{"scheduled", "attempted", "acked", "failed", "unconfirmed", "overrun", "received", "lost", "duplicates"} {
			check(name, s.Accounting[name])
		}
		l := s.Latencies["end_to_end"]
		check("n", l.N)
		check("infinite", l.Infinite)
		check("min_ns", l.MinNs)
		check("max_ns", l.MaxNs)
		near := func(name string, want int64) {
			if v := number(name); !(math.Abs(v-float64(want)) <= Tolerance*math.Abs(v)) {
				t.Errorf("step %d, repeat %d: %s is %v, the summary has %d", s.Step, s.Repeat, name, row[name], want)
			}
		}
		near("mean_ns", l.MeanNs)
		for _, p := range percentiles {
			name := "p" + strings.ReplaceAll(p, ".", "_") + "_ns"
			if x := l.Percentiles[p]; x.Beyond {
				if row[name] != nil {
					t.Errorf("step %d, repeat %d: %s is %v, the summary says that it never came", s.Step, s.Repeat, name, row[name])
				}
			} else {
				near(name, x.Ns)
			}
		}
	}
}
