package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"queuebench/rawlog"
)

// secondRow is a row of the table seconds, with what makes a backlog where no
// process knows both of its ends.
type secondRow struct {
	Second
	withBacklog bool
}

// joinSeconds makes one row a second of those of several processes: counts and
// memory are added, and of what is the host's, or the worst, the largest is
// taken. groups is the number of consumer groups of each process.
func joinSeconds(byActor map[string][]secondRow, groups map[string]int64) []Second {
	type sum struct {
		Second
		received map[string]int64 // by actor
		known    bool             // a process knew the backlog
	}
	sums := map[int64]*sum{}
	for _, actor := range slices.Sorted(maps.Keys(byActor)) {
		for _, r := range byActor[actor] {
			bin := int64(math.Round(r.At.Seconds()))
			x := sums[bin]
			if x == nil {
				x = &sum{received: map[string]int64{}}
				x.At = time.Duration(bin) * time.Second
				sums[bin] = x
			}
			x.join(&r.Second)
			x.received[actor] += r.Received
			x.known = x.known || r.withBacklog
		}
	}
	var out []Second
	var acked int64
	received := map[string]int64{}
	for actor := range groups {
		received[actor] = 0
	}
	for _, bin := range slices.Sorted(maps.Keys(sums)) {
		x := sums[bin]
		acked += x.Acked
		for actor := range received {
			received[actor] += x.received[actor]
			if actor == everyConsumer {
				for _, n := range x.received {
					received[actor] += n
				}
			}
		}
		if !x.known {
			slowest := int64(math.MaxInt64)
			for actor, n := range received {
				slowest = min(slowest, n/max(1, groups[actor]))
			}
			if len(received) > 0 {
				x.Backlog = max(0, acked-slowest)
			}
		}
		out = append(out, x.Second)
	}
	return out
}

// everyConsumer stands for all processes that consume, where they share the
// groups.
const everyConsumer = ""

// groupsOf are the numbers of consumer groups of the processes that consume.
func groupsOf(all []*rawlog.Manifest) map[string]int64 {
	groups := map[string]int64{}
	for _, m := range all {
		if m.Role != rawlog.RoleConsume {
			continue
		}
		n, err := strconv.ParseInt(m.Settings["groups"], 10, 64)
		if err != nil || n < 1 {
			n = 1
		}
		if m.Settings["share-groups"] == "true" {
			return map[string]int64{everyConsumer: n}
		}
		groups[m.Process] = n
	}
	return groups
}

// byTime sorts the rows of one process.
func byTime(rows []secondRow) []Second {
	out := make([]Second, len(rows))
	for i := range rows {
		out[i] = rows[i].Second
	}
	slices.SortStableFunc(out, func(a, b Second) int { return cmp.Compare(a.At, b.At) })
	return out
}
