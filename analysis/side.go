package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// maxEvents is how many events a digest keeps of a step, the earliest ones; the
// last one then says how many more there were.
const maxEvents = 10_000

// side reads the three series of a step.
func (r *reading) side(out *StepDigest, s *stepParts) error {
	for _, read := range []func(*StepDigest, *stepParts) error{r.seconds, r.batches, r.events} {
		if err := read(out, s); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for the columns of each batch of a table and its rows.
func (r *reading) each(s *stepParts, table string, columns []string, f func(actor string, c []rawlog.Values, n int)) error {
	for _, actor := range s.actors(table) {
		x := stream{read: r, columns: columns, times: timeColumns(columns), parts: s.tables[table][actor]}
		for {
			ok, err := x.load()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			f(actor, x.cols, x.n)
			if r.memory.over() {
				return r.memory.tooMuch("what is kept of the table " + table)
			}
			x.pos = x.n
		}
		x.close()
	}
	return nil
}

// timeColumns are the columns of a series that hold a time.
func timeColumns(columns []string) []int {
	if at := slices.Index(columns, "time_ns"); at >= 0 {
		return []int{at}
	}
	return nil
}

// seconds reads the series of loads and resources.
func (r *reading) seconds(out *StepDigest, s *stepParts) error {
	columns := []string{"time_ns"}
	for i := range secondColumns {
		columns = append(columns, secondColumns[i].Name)
	}
	rows := map[string][]secondRow{}
	told := make([]bool, len(secondColumns))
	err := r.each(s, rawlog.Seconds.Name, columns, func(actor string, c []rawlog.Values, n int) {
		for i := range n {
			row := secondRow{Second: Second{At: time.Duration(c[0].Ints[i] - out.StartNs)}}
			for k := range secondColumns {
				v := c[1+k].Ints[i]
				if v == rawlog.Null {
					continue
				}
				told[k] = true
				*secondColumns[k].of(&row.Second) = v
				row.withBacklog = row.withBacklog || secondColumns[k].Name == "backlog"
			}
			rows[actor] = append(rows[actor], row)
		}
		r.memory.take(int64(n) * secondBytes)
	})
	if len(rows) == 1 {
		for _, only := range rows {
			out.Seconds = byTime(only)
		}
	} else if len(rows) > 1 {
		out.Seconds = joinSeconds(rows, r.groups)
	}
	for k, is := range told {
		if is {
			out.Told = append(out.Told, secondColumns[k].Name)
		}
	}
	return err
}

// batches reads commits and fetches for their medians. A commit is a batch that
// has the time of a commit; one without messages (a table's first) is none.
func (r *reading) batches(out *StepDigest, s *stepParts) error {
	var bytes, put, commit, fetch stats.Counter
	columns := []string{"messages", "bytes", "tries", "data_put_ns", "commit_put_ns", "commit_get_ns", "data_get_ns", "time_ns"}
	first := len(columns)
	columns = append(columns, stageColumns()...)
	stages := new(stageCounters)
	err := r.each(s, rawlog.Batches.Name, columns, func(_ string, c []rawlog.Values, n int) {
		for i := range n {
			v := func(column int) int64 { return c[column].Ints[i] }
			if v(0) <= 0 || r.narrowed && !out.inside(time.Duration(v(7)-out.StartNs)) {
				continue
			}
			stages.count(v, first)
			if v(4) != rawlog.Null {
				out.Commits.Commits++
				if v(2) > 1 {
					out.Commits.Retried++
				}
				record(&bytes, v(1))
				record(&put, v(3))
				record(&commit, v(4))
				had := len(out.CommitsPerSecond)
				out.commitDone(v(7)-out.StartNs, CommitSecond{Commits: 1, Messages: v(0), Bytes: max(0, v(1)), MaxNs: max(0, v(3)) + v(4)}, v(2) > 1)
				r.memory.take(int64(len(out.CommitsPerSecond)-had) * commitBytes)
			}
			if v(5) != rawlog.Null {
				record(&fetch, v(5)+max(0, v(6)))
			}
		}
	})
	sums := &batchSums{bytes: bytes.Take(), put: put.Take(), commit: commit.Take(), fetch: fetch.Take(), stages: stages.take()}
	sums.medians(out)
	if r.narrowed {
		out.batches = sums
	}
	return err
}

// commitDone counts a commit that was done so many ns after the step's start.
// What came before it is the making of a table.
func (s *StepDigest) commitDone(at int64, c CommitSecond, retried bool) {
	second := at / int64(time.Second)
	if at < 0 || second >= maxSeconds {
		return
	}
	for int64(len(s.CommitsPerSecond)) <= second {
		s.CommitsPerSecond = append(s.CommitsPerSecond, CommitSecond{})
	}
	x := &s.CommitsPerSecond[second]
	x.Commits, x.Messages, x.Bytes, x.MaxNs = x.Commits+1, x.Messages+c.Messages, x.Bytes+c.Bytes, max(x.MaxNs, c.MaxNs)
	if retried {
		x.Retried++
	}
}

// record counts a value that is not null. These are stage times and sizes: one
// beyond 30 days, or 2.6 PB, is nonsense and tells nothing of the median.
func record(h *stats.Counter, v int64) {
	if v >= 0 {
		_ = h.Record(v)
	}
}

func (r *reading) events(out *StepDigest, s *stepParts) error {
	more := 0
	err := r.each(s, rawlog.Events.Name, []string{"time_ns", "actor", "kind", "text", "duration_ns"}, func(_ string, c []rawlog.Values, n int) {
		for i := range n {
			if len(out.Events) == maxEvents {
				more += n - i
				return
			}
			e := Event{At: time.Duration(c[0].Ints[i] - out.StartNs), Actor: strings.Clone(c[1].String(i)), Kind: strings.Clone(c[2].String(i)), Text: strings.Clone(c[3].String(i))}
			r.memory.take(eventBytes + int64(len(e.Actor)+len(e.Kind)+len(e.Text)))
			if d := c[4].Ints[i]; d != rawlog.Null {
				e.Duration = time.Duration(d)
			}
			out.Events = append(out.Events, e)
		}
	})
	slices.SortStableFunc(out.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	if more > 0 {
		out.Events = append(out.Events, Event{At: out.Duration, Actor: "analysis", Kind: "note", Text: fmt.Sprintf("%d more events are in the raw log", more)})
	}
	return err
}
