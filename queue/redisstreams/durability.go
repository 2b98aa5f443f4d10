package redisstreams

import (
	"context"
	"fmt"
	"strings"

	"queuebench/queue"
)

// served is what a server says of how it keeps its data.
type served struct {
	version, replicas string
	settings          map[string]string // of CONFIG GET
	refused           error             // CONFIG may be forbidden
}

// ask asks the server. What it does not say is said to be unknown.
func (q *Queue) ask(ctx context.Context) queue.Info {
	s := served{version: "of unknown version", replicas: "an unknown number of"}
	if text, err := q.client.Info(ctx, "server").Result(); err == nil {
		s.version = field(text, "redis_version", s.version)
	}
	if text, err := q.client.Info(ctx, "replication").Result(); err == nil {
		s.replicas = field(text, "connected_slaves", s.replicas)
	}
	s.settings = map[string]string{}
	for _, name := range []string{"appendonly", "appendfsync", "save", "maxmemory-policy", "maxmemory"} {
		got, err := q.client.ConfigGet(ctx, name).Result()
		if err != nil {
			s.refused = err
			break
		}
		s.settings[name] = got[name]
	}
	return q.cfg.describe(s)
}

// field is a line name:value of INFO.
func field(text, name, otherwise string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return v
		}
	}
	return otherwise
}

func (c Config) describe(s served) queue.Info {
	var text string
	safe := false
	switch on := s.settings["appendonly"]; {
	case s.refused != nil:
		text = fmt.Sprintf("An acknowledged message is in the server's memory; whether a file has it is not known, since CONFIG GET is refused (%v)", s.refused)
	case on != "yes":
		text = "An acknowledged message is in the server's memory only (appendonly no)"
		if save := s.settings["save"]; save != "" {
			text += fmt.Sprintf("; a snapshot follows later (save %q), so a crash loses what came since", save)
		} else {
			text += ", without snapshots"
		}
	case s.settings["appendfsync"] == "always":
		text, safe = "An acknowledged message is in the append-only file and synced to disk (appendfsync always)", true
	case s.settings["appendfsync"] == "everysec":
		text = "An acknowledged message is on its way to the append-only file, which is synced every second: a crash can lose about the last second (appendfsync everysec)"
	default:
		text = fmt.Sprintf("An acknowledged message is on its way to the append-only file, which the operating system syncs when it likes (appendfsync %s)", s.settings["appendfsync"])
	}
	if c.Wait > 0 {
		text += fmt.Sprintf("; %d replicas have it in memory, too (WAIT %d %d)", c.Wait, c.Wait, c.WaitTimeout.Milliseconds())
	}
	if limit := s.settings["maxmemory"]; limit != "" && limit != "0" && s.settings["maxmemory-policy"] != "noeviction" {
		text, safe = text+fmt.Sprintf("; a server that is full evicts keys (maxmemory-policy %s)", s.settings["maxmemory-policy"]), false
	}
	if c.MaxLen > 0 {
		text, safe = text+fmt.Sprintf("; the oldest messages are dropped beyond some %d in a partition (MAXLEN)", c.MaxLen), false
	}
	if c.NoAck {
		text, safe = text+"; consumers do not acknowledge, so what was sent to one that fails is lost (NOACK)", false
	}
	text += fmt.Sprintf(" (Redis %s, %s replicas connected).", s.version, s.replicas)
	return queue.Info{Kind: "redis", Partitions: c.Partitions, Durability: text, Headers: true, LosesNothing: safe, DeliversOnce: c.NoAck}
}
