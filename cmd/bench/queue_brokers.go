//go:build !min

package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/queue/broker"
)

// brokerFlags are what the clients of several brokers share. Secrets come from a
// file or the environment, since flags are recorded with the run.
func brokerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "broker-user", Usage: "user name; the password is in --broker-password-file or the environment (NATS_PASSWORD, RABBITMQ_PASSWORD, REDIS_PASSWORD)", DefaultText: "NATS_USER, RABBITMQ_USER, REDIS_USER"},
		&cli.StringFlag{Name: "broker-password-file", Usage: "file that holds the password, which nobody else may read", DefaultText: "none"},
		&cli.StringFlag{Name: "broker-ca", Usage: "file of the certificates that vouch for the server, PEM; asks for TLS", DefaultText: "those of the system"},
		&cli.StringFlag{Name: "broker-cert", Usage: "file of the client's certificate, PEM", DefaultText: "none"},
		&cli.StringFlag{Name: "broker-key", Usage: "file of the client certificate's key, PEM, which nobody else may read", DefaultText: "none"},
	}
}

// identityOf reads brokerFlags and the environment, whose variables begin with
// the prefix.
func identityOf(c *cli.Context, prefix string) (broker.Identity, error) {
	id := broker.Identity{
		User: cmp.Or(c.String("broker-user"), os.Getenv(prefix+"_USER")), Password: secret.Of(os.Getenv(prefix + "_PASSWORD")),
		CAFile: c.String("broker-ca"), CertFile: c.String("broker-cert"), KeyFile: c.String("broker-key"),
	}
	if path := c.String("broker-password-file"); path != "" {
		var err error
		if id.Password, err = secret.ReadLine(path); err != nil {
			return id, command.Misusef("--broker-password-file: %w", err)
		}
	}
	secret.From(c.Context).Note(id.Password.Reveal())
	if _, err := id.TLSConfig(false); err != nil {
		return id, command.Misusef("--broker-ca, --broker-cert, --broker-key: %w", err)
	}
	return id, nil
}

// serverURLs reads the addresses of a broker, with commas between, which have no
// secret in them.
func serverURLs(name, text string, schemes ...string) ([]*url.URL, error) {
	var all []*url.URL
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		ok := false
		if err == nil {
			for _, s := range schemes {
				ok = ok || u.Scheme == s
			}
		}
		switch {
		case err != nil || !ok || u.Hostname() == "":
			return nil, command.Misusef("--%s holds what is no address: write %s://host:port", name, strings.Join(schemes, "://host:port or "))
		case u.User != nil || strings.Contains(one, "@"):
			return nil, command.Misusef("--%s: the address must hold no user or password, since it is recorded with the run: give --broker-user and --broker-password-file, or the environment's variables", name)
		}
		all = append(all, u)
	}
	return all, nil
}

// brokerName is the name of a queue where names are not below a prefix of the
// run's: it says whose it is.
func brokerName(run, name string) string { return "queuebench-" + run + "-" + name }

// stepName is what queueName makes, and what throughOpened makes of it.
var stepName = regexp.MustCompile(`^step-[0-9]+-repeat-[0-9]+(-topic-[0-9]+)?(-through)?$`)

// firstStep says that such a name is of the first step that a run has.
func firstStep(name string) bool {
	return strings.TrimSuffix(name, throughSuffix) == "step-0-repeat-0"
}

// brokerNames tells which names are of a run, and not of one whose id goes on with a
// hyphen.
func brokerNames(run string) func(name string) bool {
	return func(name string) bool {
		rest, ours := strings.CutPrefix(name, brokerName(run, ""))
		return ours && stepName.MatchString(rest)
	}
}

// Where a server lists no names, `bench clean` asks for those of steps whose number
// times their repeat, both from 1, is at most likelySteps, and of so many topics.
const likelySteps, likelyTopics = 1000, 16

// likelyNames are these names.
func likelyNames(run string) (names []string) {
	for step := range likelySteps {
		for repeat := range likelySteps / (step + 1) {
			name := brokerName(run, fmt.Sprintf("step-%d-repeat-%d", step, repeat))
			names = append(names, name, name+throughSuffix)
			for topic := range likelyTopics {
				names = append(names, fmt.Sprintf("%s-topic-%d", name, topic))
			}
		}
	}
	return names
}

// positive refuses flags whose value is not.
func positive(c *cli.Context, names ...string) error {
	for _, name := range names {
		switch v := c.Value(name).(type) {
		case int:
			if v < 1 {
				return command.Misusef("--%s %d: it is at least 1", name, v)
			}
		case time.Duration:
			if v <= 0 || v > maxInterval {
				return command.Misusef("--%s %v is not between 1ns and %v", name, v, maxInterval)
			}
		}
	}
	return nil
}

// hostPorts are the host:port of addresses with commas between.
func hostPorts(text, port string) (all []string) {
	for one := range strings.SplitSeq(text, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil && u.Hostname() != "" {
			all = append(all, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
		}
	}
	return all
}

// topicFlag names what is there already.
func topicFlag() cli.Flag {
	return &cli.StringFlag{Name: "topic", Usage: "a topic, stream or queue that is there already, which is neither emptied nor removed; RabbitMQ: a queue, or exchange:NAME", DefaultText: "one is created for each step, and removed after it"}
}

// existingStream is the stream that --topic names, which has no partitions; empty
// for none.
func existingStream(c *cli.Context) (string, error) {
	topic := c.String("topic")
	switch {
	case topic == "":
	case command.IsSet(c, "partitions"):
		return "", command.Misusef("--partitions does nothing with --topic, which is there already: leave one out")
	case c.Int("topics") > 1:
		return "", command.Misusef("--topics %d with --topic, which names one: leave one out", c.Int("topics"))
	}
	return topic, nil
}

// ofOurs refuses flags that say how a stream or queue is made, of one that is there
// already; its name is empty for none.
func ofOurs(c *cli.Context, existing string, names ...string) error {
	for _, name := range names {
		if existing != "" && command.IsSet(c, name) {
			return command.Misusef("--%s does nothing with %s, which is there already: leave it out", name, existing)
		}
	}
	return nil
}
