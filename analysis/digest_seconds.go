package analysis

import (
	"fmt"
	"slices"
	"time"
)

// Second is a row of the table seconds, of all processes together: what is
// drawn and judged. What no process told is 0; StepDigest.Told says which.
type Second struct {
	At        time.Duration // its end, since the step's start
	Scheduled int64
	Attempted int64
	Acked     int64
	Failed    int64
	Received  int64

	Backlog       int64 // acknowledged and not received
	InFlight      int64 // handed over and not acknowledged
	QueueDepth    int64 // the client's own queue
	ScheduleLagNs int64

	CPUNs            int64 // of the processes
	StealNs          int64 // of the host, all CPUs
	MemoryBytes      int64
	GCPauseNs        int64
	NetworkInBytes   int64 // of the host, as all below
	NetworkOutBytes  int64
	DiskReadBytes    int64
	DiskWrittenBytes int64
	DiskUsedBytes    int64
	Connections      int64

	// Requests to the queue's store.
	RequestsPut, RequestsPutIfAbsent, RequestsGet, RequestsMiss, RequestsList, RequestsHead, RequestsDelete, RequestsFailed int64
}

// joining is how the rows of a second of several processes become one, and how
// rows of neighbouring seconds do.
type joining struct {
	// processes: counts and levels of a process are added, of what is the host's
	// the largest is taken.
	add bool
	// level is what neighbours have at their end; else they are added, or the
	// largest is taken where largest says so.
	level, largest bool
}

// secondColumn is a column of the table seconds in a digest, under its name in
// the raw log.
type secondColumn struct {
	Name string
	of   func(*Second) *int64
	joining
}

var (
	counted = joining{add: true}
	levels  = joining{add: true, level: true}
	worst   = joining{largest: true}
	hosts   = joining{}
)

// secondColumns are all but the time.
var secondColumns = []secondColumn{
	{"scheduled", func(s *Second) *int64 { return &s.Scheduled }, counted},
	{"attempted", func(s *Second) *int64 { return &s.Attempted }, counted},
	{"acked", func(s *Second) *int64 { return &s.Acked }, counted},
	{"failed", func(s *Second) *int64 { return &s.Failed }, counted},
	{"received", func(s *Second) *int64 { return &s.Received }, counted},
	{"backlog", func(s *Second) *int64 { return &s.Backlog }, levels},
	{"in_flight", func(s *Second) *int64 { return &s.InFlight }, levels},
	{"queue_depth", func(s *Second) *int64 { return &s.QueueDepth }, levels},
	{"schedule_lag_ns", func(s *Second) *int64 { return &s.ScheduleLagNs }, worst},
	{"cpu_ns", func(s *Second) *int64 { return &s.CPUNs }, counted},
	{"steal_ns", func(s *Second) *int64 { return &s.StealNs }, hosts},
	{"memory_bytes", func(s *Second) *int64 { return &s.MemoryBytes }, levels},
	{"gc_pause_ns", func(s *Second) *int64 { return &s.GCPauseNs }, hosts},
	{"network_in_bytes", func(s *Second) *int64 { return &s.NetworkInBytes }, hosts},
	{"network_out_bytes", func(s *Second) *int64 { return &s.NetworkOutBytes }, hosts},
	{"disk_read_bytes", func(s *Second) *int64 { return &s.DiskReadBytes }, hosts},
	{"disk_written_bytes", func(s *Second) *int64 { return &s.DiskWrittenBytes }, hosts},
	{"disk_used_bytes", func(s *Second) *int64 { return &s.DiskUsedBytes }, joining{level: true}},
	{"connections", func(s *Second) *int64 { return &s.Connections }, levels},
	{"requests_put", func(s *Second) *int64 { return &s.RequestsPut }, counted},
	{"requests_put_if_absent", func(s *Second) *int64 { return &s.RequestsPutIfAbsent }, counted},
	{"requests_get", func(s *Second) *int64 { return &s.RequestsGet }, counted},
	{"requests_miss", func(s *Second) *int64 { return &s.RequestsMiss }, counted},
	{"requests_list", func(s *Second) *int64 { return &s.RequestsList }, counted},
	{"requests_head", func(s *Second) *int64 { return &s.RequestsHead }, counted},
	{"requests_delete", func(s *Second) *int64 { return &s.RequestsDelete }, counted},
	{"requests_failed", func(s *Second) *int64 { return &s.RequestsFailed }, counted},
}

// join adds a row of another process.
func (s *Second) join(o *Second) {
	for i := range secondColumns {
		c := &secondColumns[i]
		if x, y := c.of(s), c.of(o); c.add {
			*x += *y
		} else {
			*x = max(*x, *y)
		}
	}
}

// follow adds the second after it.
func (s *Second) follow(o *Second) {
	s.At = o.At
	for i := range secondColumns {
		c := &secondColumns[i]
		switch x, y := c.of(s), c.of(o); {
		case c.level:
			*x = *y
		case c.largest:
			*x = max(*x, *y)
		default:
			*x += *y
		}
	}
}

// Tells says whether a column of the table seconds, by its name there, was told
// by any process.
func (s *StepDigest) Tells(column string) bool { return slices.Contains(s.Told, column) }

// Span is how long row i of Seconds counted: a second, or more in a digest that
// was made coarser.
func (s *StepDigest) Span(i int) time.Duration { return spanOf(s.Seconds, i) }

// SecondsColumns are the names of the columns that SecondsOf takes.
func SecondsColumns() []string {
	var names []string
	for i := range secondColumns {
		names = append(names, secondColumns[i].Name)
	}
	return names
}

// SecondsOf is a column of the table seconds over the step, by its name there:
// a value for each row of s.Seconds; nil where no process told it or there is no
// such column.
func SecondsOf(s *StepDigest, column string) []int64 {
	at := slices.IndexFunc(secondColumns, func(c secondColumn) bool { return c.Name == column })
	if at < 0 || !s.Tells(column) {
		return nil
	}
	out := make([]int64, len(s.Seconds))
	for i := range s.Seconds {
		out[i] = *secondColumns[at].of(&s.Seconds[i])
	}
	return out
}

// secondsRecord has a value per second: differences from one time to the next,
// and the columns that were told.
type secondsRecord struct {
	AtNs    []int64            `json:"at_ns"`
	Columns map[string][]int64 `json:"columns,omitempty"`
}

func newSecondsRecord(s *StepDigest) *secondsRecord {
	if len(s.Seconds) == 0 {
		return nil
	}
	r := &secondsRecord{Columns: map[string][]int64{}}
	for i := range s.Seconds {
		r.AtNs = append(r.AtNs, int64(s.Seconds[i].At))
	}
	for i := range secondColumns {
		c := &secondColumns[i]
		x := make([]int64, len(s.Seconds))
		for j := range s.Seconds {
			x[j] = *c.of(&s.Seconds[j])
		}
		if s.Tells(c.Name) || dropZeros(x) != nil {
			r.Columns[c.Name] = x
		}
	}
	return r
}

func (r *secondsRecord) into(s *StepDigest) error {
	if r == nil || len(r.AtNs) == 0 {
		return nil
	}
	s.Seconds = make([]Second, len(r.AtNs))
	for i, at := range r.AtNs {
		s.Seconds[i].At = time.Duration(at)
	}
	for i := range secondColumns {
		c := &secondColumns[i]
		x, told := r.Columns[c.Name]
		if !told {
			continue
		}
		if len(x) != len(s.Seconds) {
			return fmt.Errorf("%s has %d values of %d seconds", c.Name, len(x), len(s.Seconds))
		}
		s.Told = append(s.Told, c.Name)
		for j, v := range x {
			*c.of(&s.Seconds[j]) = v
		}
	}
	return nil
}

// commitColumns have a value per second from the step's start on.
type commitColumns struct {
	Commits  []int64 `json:"commits"`
	Messages []int64 `json:"messages"`
	Bytes    []int64 `json:"bytes"`
	Retried  []int64 `json:"retried,omitempty"` // left out where all are 0
	MaxNs    []int64 `json:"max_ns"`
}

func newCommitColumns(s *StepDigest) *commitColumns {
	if len(s.CommitsPerSecond) == 0 {
		return nil
	}
	c := &commitColumns{}
	for _, x := range s.CommitsPerSecond {
		c.Commits, c.Messages, c.Bytes = append(c.Commits, x.Commits), append(c.Messages, x.Messages), append(c.Bytes, x.Bytes)
		c.Retried, c.MaxNs = append(c.Retried, x.Retried), append(c.MaxNs, x.MaxNs)
	}
	c.Retried = dropZeros(c.Retried)
	return c
}

func (c *commitColumns) into(s *StepDigest) error {
	if c == nil {
		return nil
	}
	n := len(c.Commits)
	if len(c.Messages) != n || len(c.Bytes) != n || len(c.MaxNs) != n || len(c.Retried) != n && len(c.Retried) != 0 {
		return fmt.Errorf("%d seconds of commits with columns of other lengths", n)
	}
	for i := range n {
		x := CommitSecond{Commits: c.Commits[i], Messages: c.Messages[i], Bytes: c.Bytes[i], MaxNs: c.MaxNs[i]}
		if len(c.Retried) > 0 {
			x.Retried = c.Retried[i]
		}
		s.CommitsPerSecond = append(s.CommitsPerSecond, x)
	}
	return nil
}
