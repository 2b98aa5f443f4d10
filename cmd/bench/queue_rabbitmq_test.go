//go:build !min && !norabbitmq

package main

import (
	"strings"
	"testing"

	"queuebench/queue/rabbitmq"
)

// What --topic and --through name is a queue, or an exchange with the keys of either
// side.
func TestWhatIsThereAlreadyOnRabbitMQ(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string][2]rabbitmq.Place{
		"":                         {},
		"--topic q":                {{Queue: "q"}},
		"--topic queue:exchange:q": {{Queue: "exchange:q"}},
		"--topic exchange:e":       {{Exchange: "e"}},
		"--topic exchange:e --rabbitmq-routing-key k":                              {{Exchange: "e", Key: "k", Binding: "k"}},
		"--topic exchange:e --rabbitmq-routing-key k.a --rabbitmq-binding-key k.*": {{Exchange: "e", Key: "k.a", Binding: "k.*"}},
		"--topic exchange:e --through exchange:f --rabbitmq-routing-key k":         {{Exchange: "e", Key: "k", Binding: "k", WriteOnly: true}, {Exchange: "f", Binding: "#"}},
		"--topic q --through exchange:f --rabbitmq-binding-key b":                  {{Queue: "q", Binding: "b", WriteOnly: true}, {Exchange: "f", Binding: "b"}},
		"--topic exchange:e --through r":                                           {{Exchange: "e", WriteOnly: true}, {Queue: "r", Binding: "#"}},
	} {
		topic, outlet, err := rabbitmqTheirs(contextOf(t, "run", strings.Fields("--queue rabbitmq --rate 1 "+line)...))
		if !strings.Contains(line, "--through") {
			outlet = rabbitmq.Place{}
		}
		if err != nil || [2]rabbitmq.Place{topic, outlet} != want {
			t.Errorf("%q: %+v, %+v, %v", line, topic, outlet, err)
		}
	}
}
