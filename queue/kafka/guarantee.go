package kafka

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// guarantee is what the cluster says of how it keeps the topic. Its zero value
// says that it has not told.
type guarantee struct {
	replicas int               // of the partition with the fewest; 0 if it is not known
	settings map[string]string // of the topic
}

// told are the settings of a topic that say what an acknowledgement is worth.
var told = []string{
	"min.insync.replicas", "flush.messages", "flush.ms", "unclean.leader.election.enable",
	"write.caching", // Redpanda's: acknowledge before the disk has it
}

// describe learns it. What a broker does not tell stays unknown: not every
// client may ask.
func (q *Queue) describe(ctx context.Context, d kadm.TopicDetail) {
	g := guarantee{replicas: math.MaxInt, settings: map[string]string{}}
	for _, p := range d.Partitions {
		g.replicas = min(g.replicas, len(p.Replicas))
	}
	if configs, err := q.admin.DescribeTopicConfigs(ctx, q.cfg.Topic); err == nil {
		for _, r := range configs {
			for _, c := range r.Configs {
				if slices.Contains(told, c.Key) && c.Value != nil {
					g.settings[c.Key] = *c.Value
				}
			}
		}
	}
	q.mu.Lock()
	q.guard = g
	q.mu.Unlock()
}

// sentence says what an acknowledgement means.
func (g *guarantee) sentence(p *ProducerSettings) string {
	var b strings.Builder
	replicas := "an unknown number of"
	if g.replicas > 0 {
		replicas = strconv.Itoa(g.replicas)
	}
	least := cmp.Or(g.settings["min.insync.replicas"], "an unknown number")
	switch p.Acks {
	case 0:
		b.WriteString("acks=0: nothing is known of a message once it is sent; acknowledged means that the client has written it to its connection.")
	case 1:
		fmt.Fprintf(&b, "acks=1: the leader has the message, its followers may not (%s replicas).", replicas)
	default:
		fmt.Fprintf(&b, "acks=all: every replica that is in sync has the message (%s replicas, min.insync.replicas %s).", replicas, least)
	}
	if p.Acks != 0 {
		b.WriteString(" " + g.disk())
	}
	switch {
	case p.Transactional != "":
		fmt.Fprintf(&b, " A message is acknowledged with its transaction, every %v.", p.CommitInterval)
	case p.Idempotent:
		b.WriteString(" The producer is idempotent.")
	default:
		b.WriteString(" The producer is not idempotent: a retry may repeat a message.")
	}
	return b.String()
}

// disk says when a broker's disk has a message.
func (g *guarantee) disk() string {
	switch g.settings["write.caching"] {
	case "false":
		return "They have it on disk (write.caching=false)."
	case "true":
		return "They have it in memory, and on disk later (write.caching=true)."
	}
	messages, ms := g.settings["flush.messages"], g.settings["flush.ms"]
	switch {
	case messages == "1":
		return "Each has flushed it to its disk (flush.messages=1)."
	case bounded(messages) && bounded(ms):
		return fmt.Sprintf("Each has it in its page cache and flushes after %s messages or %s ms.", messages, ms)
	case bounded(messages):
		return fmt.Sprintf("Each has it in its page cache and flushes after %s messages.", messages)
	case bounded(ms):
		return fmt.Sprintf("Each has it in its page cache and flushes after %s ms.", ms)
	case messages == "" && ms == "":
		return "When it is flushed to disk, the broker does not tell."
	}
	return "Each has it in its page cache: the operating system decides when it is flushed to disk."
}

// bounded tells whether a setting asks for a flush at all: Kafka's default is
// the largest number.
func bounded(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && n < math.MaxInt64
}

// losesNothing tells whether an acknowledged message outlives the loss of a
// broker's process: acks=0 promises nothing, and acks=1 not if a follower that
// has not the message may take over.
func (g *guarantee) losesNothing(p *ProducerSettings) bool {
	if g.settings["unclean.leader.election.enable"] == "true" && g.replicas > 1 {
		return false
	}
	return p.Acks == -1 || p.Acks == 1 && g.replicas == 1
}

// deliversOnce tells whether no message is delivered twice as long as no process
// with a member of a group dies: a retry must not repeat it, and a partition that
// changes hands must go on where it was left.
func (s *Settings) deliversOnce(r Reading) bool {
	return s.Producer.Idempotent && (r == Static || s.Consumer.Commit != CommitNever)
}
