// Package meeting has the processes of a run agree on when it begins, by
// objects in the run's prefix that are stored only if they are not there.
//
// There is no coordinator. The first process stores the plan, and those that
// come later refuse to take part in another one. Each stores that it has come,
// once it is ready. Whoever first sees all of them there, or has waited long
// enough, stores the start; only one such PUT succeeds, and all go by that one,
// in which those that had not come by then are named.
//
// It refuses to replace a process: who was named missing, or dies, is not
// waited for again, since what it would send then is late. It does not measure
// how far clocks are apart.
package meeting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
)

// Folder is where the objects lie, below the run's prefix.
const Folder = "workers/"

const (
	schema    = "queuebench.workers/1"
	planKey   = Folder + "plan.json"
	startKey  = Folder + "start.json"
	cameKey   = Folder + "came/"
	maxObject = 1 << 20 // bytes that are read of one
)

// Plan is what all processes of a run have to agree on.
type Plan struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	// Processes are the names of all that are to come.
	Processes []string `json:"processes"`
	// Settings are those that must be the same in all, by their flag's name.
	Settings map[string]string `json:"settings"`
	// Seed is that of the process which stored the plan, and of all.
	Seed uint64 `json:"seed"`
}

// Arrival says that a process has come and is ready.
type Arrival struct {
	Process string         `json:"process"`
	Host    string         `json:"host"`
	Clock   clock.Identity `json:"clock"`
	CameNs  int64          `json:"came_ns"` // by Clock
}

// Start is when the run begins.
type Start struct {
	// AtNs is when the first message is due, by Clock, that of the process that
	// stored it; DelayNs is by how much later than the decision.
	AtNs    int64          `json:"at_ns"`
	DelayNs int64          `json:"delay_ns"`
	Clock   clock.Identity `json:"clock"`
	By      string         `json:"by"`
	Missing []string       `json:"missing,omitempty"` // had not come
}

// The reasons for which a process cannot take part.
var (
	// ErrOtherPlan: the others have other settings.
	ErrOtherPlan = errors.New("the other workers of this run have another plan")
	// ErrTaken: a process of that name came before.
	ErrTaken = errors.New("a worker of that number has come before")
	// ErrTooLate: the run began without this process.
	ErrTooLate = errors.New("the run began without this worker")
)

// Meeting is one process's part in it.
type Meeting struct {
	Store   objectstore.Store // the run's prefix
	Plan    Plan
	Process string // one of Plan.Processes
	Clock   *clock.Clock
	// Wait is how long the others are waited for, from the own arrival on.
	Wait time.Duration
	// Delay is from the decision to the first message: everybody has to see
	// the start before it.
	Delay time.Duration
	// Poll is the pause between two looks; 200 ms if 0.
	Poll time.Duration
}

// Come tells the others that this process is ready, and waits until the start is
// known. The time in it has passed or not: the caller looks.
func (m *Meeting) Come(ctx context.Context) (*Seen, error) {
	id := m.Clock.Identity()
	came := m.Clock.Now()
	err := m.store(ctx, m.arrivalKey(m.Process), Arrival{Process: m.Process, Host: id.Host, Clock: id, CameNs: came})
	if errors.Is(err, objectstore.ErrExists) {
		return nil, m.taken()
	}
	if err != nil {
		return nil, err
	}
	poll := time.NewTicker(max(m.Poll, time.Millisecond))
	if m.Poll == 0 {
		poll.Reset(200 * time.Millisecond)
	}
	defer poll.Stop()
	seen := new(Seen)
	for {
		var s Start
		looked := m.Clock.Now()
		there, err := m.load(ctx, startKey, &s)
		if err != nil {
			return nil, err
		}
		if there {
			seen.Start, seen.At = s, m.Clock.Now()
			return seen, m.inTime(&s)
		}
		seen.NotAt = looked
		missing, err := m.missing(ctx)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 || m.Clock.Now()-came >= int64(m.Wait) {
			s = Start{AtNs: m.Clock.Now() + int64(m.Delay), DelayNs: int64(m.Delay), Clock: id, By: m.Process, Missing: missing}
			if err := m.store(ctx, startKey, s); err != nil && !errors.Is(err, objectstore.ErrExists) {
				return nil, err
			}
			continue // the one that is stored holds, whoever stored it
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-poll.C:
		}
	}
}

func (m *Meeting) taken() error {
	return fmt.Errorf("%w: %s of run %s; a worker that was killed is not replaced, since what it would send is late by then", ErrTaken, m.Process, m.Plan.Run)
}

// inTime refuses a start that this process came too late for.
func (m *Meeting) inTime(s *Start) error {
	if !slices.Contains(s.Missing, m.Process) {
		return nil
	}
	return fmt.Errorf("%w: %s decided at %v not to wait any longer; give all a longer --join-timeout and another --run-id",
		ErrTooLate, s.By, time.Unix(0, s.AtNs-s.DelayNs).UTC().Format(time.RFC3339))
}

// missing are the processes that have not come.
func (m *Meeting) missing(ctx context.Context) ([]string, error) {
	came, err := arrivals(ctx, m.Store)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range m.Plan.Processes {
		if !came[p] {
			out = append(out, p)
		}
	}
	return out, nil
}

func arrivals(ctx context.Context, s objectstore.Store) (map[string]bool, error) {
	came := map[string]bool{}
	err := s.List(ctx, objectstore.ListOptions{Prefix: cameKey, Delimiter: "/"}, func(i objectstore.Info) error {
		name, ok := strings.CutSuffix(strings.TrimPrefix(i.Key, cameKey), ".json")
		came[name] = ok
		return nil
	})
	return came, err
}

func (m *Meeting) arrivalKey(process string) string { return cameKey + process + ".json" }
