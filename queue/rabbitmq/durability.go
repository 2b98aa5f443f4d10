package rabbitmq

import (
	"fmt"

	"queuebench/queue"
)

// describe is what an acknowledgement means, in words.
func (c Config) describe(version string) queue.Info {
	var text string
	switch {
	case c.Unconfirmed:
		text = "An acknowledged message was handed to the socket: the server confirms nothing (no publisher confirms)"
	case c.Theirs.Queue != "" || c.Theirs.WriteOnly:
		text = "An acknowledged message is confirmed by the server for " + c.Theirs.what() + ", and as safe as the queues that take it, whose type a client is not told (publisher confirms)"
	case c.Type == Quorum && c.Replicas > 0:
		text = fmt.Sprintf("An acknowledged message is written and synced to disk by a majority of the %d replicas of a quorum queue (publisher confirms)", c.Replicas)
	case c.Type == Quorum:
		text = "An acknowledged message is written and synced to disk by a majority of a quorum queue's replicas, as many as the cluster gives it: one on a single server (publisher confirms)"
	case c.Transient:
		text = "An acknowledged message is in the memory of one server (classic queue, transient messages, publisher confirms)"
	default:
		text = "An acknowledged message is written to disk by one server (classic durable queue, persistent messages, publisher confirms)"
	}
	if c.Theirs.Exchange != "" && !c.Theirs.WriteOnly {
		text += fmt.Sprintf("; the queue is one of the run's own, bound to the exchange %s", c.Theirs.Exchange)
	}
	if c.Transient && !c.Theirs.none() {
		text += "; messages are transient"
	}
	if c.AutoAck {
		text += "; consumers do not acknowledge, so what was sent to one that fails is lost"
	}
	text += fmt.Sprintf(" (RabbitMQ %s).", version)
	return queue.Info{
		Kind: "rabbitmq", Partitions: c.Partitions, Durability: text, Headers: true,
		LosesNothing: !c.Unconfirmed && !c.Transient && !c.AutoAck && c.Theirs.Queue == "" && !c.Theirs.WriteOnly, DeliversOnce: c.AutoAck,
	}
}
