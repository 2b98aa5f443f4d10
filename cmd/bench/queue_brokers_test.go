//go:build !min

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Settings of brokers that cannot be are refused before anything is opened, and
// no secret is repeated.
func TestBrokersRefuseWhatCannotBe(t *testing.T) {
	bareEnvironment(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"nats --nats-url http://x":                                         "nats://host:port",
		"nats --nats-url nats://u:h1dden@x:1":                              "in the environment",
		"nats --nats-storage tape":                                         "tape",
		"nats --nats-storage memory --nats-persist async":                  "file",
		"nats --nats-persist sometimes":                                    "default or async",
		"nats --nats-acks all --consumers 2":                               "--consumers 1",
		"nats --nats-max-pending 0":                                        "at least 1",
		"nats --nats-ack-wait 0s":                                          "not between",
		"nats --nats-replicas 9":                                           "1 to 5",
		"nats --nats-monitor x":                                            "http://host:8222",
		"nats --nats-creds /none/such":                                     "/none/such",
		"nats --broker-password-file " + empty:                             "is empty",
		"nats --broker-cert " + empty:                                      "key",
		"nats --redis-url redis://x:1":                                     "--queue redis",
		"redis --redis-url redis://:h1dden@x:1":                            "in the environment",
		"redis --redis-url redis://a:1,redis://b:1":                        "one",
		"redis --redis-pipeline 0":                                         "at least 1",
		"redis --redis-wait=-1":                                            "negative",
		"rabbitmq --rabbitmq-url amqp://u:h1dden@x/":                       "in the environment",
		"rabbitmq --rabbitmq-url amqp://h1dden%zz":                         "amqp://host:port",
		"rabbitmq --rabbitmq-type lazy":                                    "lazy",
		"rabbitmq --rabbitmq-transient":                                    "classic",
		"rabbitmq --rabbitmq-type classic --rabbitmq-replicas 3":           "quorum",
		"rabbitmq --rabbitmq-prefetch 70000":                               "65535",
		"rabbitmq --rabbitmq-confirm-timeout 0s":                           "not between",
		"rabbitmq --topic q --partitions 2":                                "--partitions does nothing",
		"rabbitmq --topic q --groups 2":                                    "exchange:NAME",
		"rabbitmq --topic exchange:e --through q --groups 2":               "exchange:NAME",
		"rabbitmq --topic q --rabbitmq-type classic":                       "--rabbitmq-type does nothing with q",
		"rabbitmq --topic q --rabbitmq-routing-key k":                      "--rabbitmq-routing-key does nothing",
		"rabbitmq --topic q --rabbitmq-binding-key k":                      "--rabbitmq-binding-key does nothing",
		"rabbitmq --topic exchange:e --through q --rabbitmq-binding-key k": "--rabbitmq-binding-key does nothing",
		"rabbitmq --rabbitmq-routing-key k":                                "--rabbitmq-routing-key does nothing",
		"rabbitmq --topic q --through q":                                   "both",
		"rabbitmq --through q":                                             "needs --topic",
		"nats --topic s --nats-storage memory":                             "--nats-storage does nothing with s",
	} {
		status, _, stderr := bench(t, strings.Fields("run --rate 10 --duration 1s --quiet --queue "+args)...)
		if status != 2 || !strings.Contains(stderr, says) || strings.Contains(stderr, "h1dden") {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
}

// A server that is not there is a clear error, and no run.
func TestABrokerThatIsNotThereIsNamed(t *testing.T) {
	bareEnvironment(t)
	for _, args := range []string{"nats --nats-url nats://127.0.0.1:1", "redis --redis-url redis://127.0.0.1:1/0", "rabbitmq --rabbitmq-url amqp://127.0.0.1:1/"} {
		status, _, stderr := bench(t, strings.Fields("run --rate 10 --duration 1s --quiet --queue "+args)...)
		if status != 1 || !strings.Contains(stderr, "127.0.0.1:1") {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
}

// The names of a run are not those of a run whose id begins with its id.
func TestNamesOfARun(t *testing.T) {
	ours := brokerNames("a")
	for name, want := range map[string]bool{
		brokerName("a", "step-0-repeat-0"): true, brokerName("a", "step-12-repeat-3-topic-4"): true,
		brokerName("a-b", "step-0-repeat-0"): false, brokerName("ab", "step-0-repeat-0"): false,
		brokerName("a", "step-0-repeat-0-more"): false, brokerName("a", ""): false, "step-0-repeat-0": false,
	} {
		if ours(name) != want {
			t.Errorf("%s is of the run: %v", name, !want)
		}
	}
	likely := likelyNames("a")
	for _, name := range likely {
		if !ours(name) {
			t.Fatalf("%s is not of the run", name)
		}
	}
	for _, name := range []string{"step-0-repeat-0", "step-999-repeat-0", "step-9-repeat-99", "step-3-repeat-2-topic-15"} {
		if !slices.Contains(likely, brokerName("a", name)) {
			t.Errorf("%s is not among the %d likely ones", name, len(likely))
		}
	}
}
