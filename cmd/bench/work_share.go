package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/meeting"
)

// shares finds out whether the consuming workers are members of the same groups.
func (w *crew) shares(c *cli.Context, k kind) error {
	asked := command.IsSet(c, "share-groups") && c.Bool("share-groups")
	switch w.shared = c.Bool("share-groups") && k.groups && w.consume > 1; {
	case asked && !k.groups:
		return command.Misusef("--share-groups does nothing with --queue %s, which has no consumer groups: each worker reads all of it", k.name)
	case !w.shared && w.consume > 1 && k.name == "rabbitmq":
		return command.Misusef("--share-groups=false with --queue rabbitmq: its queues are made with their groups, before the workers are known; leave it out, and they share one")
	case w.shared && c.String("nats-acks") == "all" && k.name == "nats":
		return command.Misusef("--nats-acks all with %d workers that share a group: one would acknowledge what another has: say explicit, or --share-groups=false", w.consume)
	}
	return nil
}

// others are the other processes that consume.
func (w *crew) others(p part) (names []string) {
	for i := range w.consume {
		if i != p.index {
			names = append(names, part{rawlog.RoleConsume, i}.process())
		}
	}
	return names
}

// sharing has the consuming workers of a run, which share its groups, tell each
// other what they have seen: an object of each in the run's prefix, which only it
// writes.
type sharing struct {
	store   objectstore.Store // the run's prefix
	process string
	others  []string
}

func seenKey(process string) string { return meeting.Folder + "seen/" + process + ".json" }

func (s sharing) Tell(ctx context.Context, seen runner.Attended) error {
	seen.Process = s.process
	body, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	return s.store.Put(ctx, seenKey(s.process), body, objectstore.PutOptions{ContentType: "application/json"})
}

// Ask passes over what is not there, and what another process would not write.
func (s sharing) Ask(ctx context.Context) (all []runner.Attended, err error) {
	for _, name := range s.others {
		var seen runner.Attended
		there, err := meeting.Load(ctx, s.store, seenKey(name), &seen)
		if err != nil {
			return all, err
		}
		if there && seen.Process != name {
			return all, fmt.Errorf("%s: it is of the worker %q", seenKey(name), seen.Process)
		}
		if there {
			all = append(all, seen)
		}
	}
	return all, nil
}
