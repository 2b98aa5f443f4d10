//go:build !min && !nokafka

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/queue"
	"queuebench/queue/kafka"
	"queuebench/queue/kafka/embedded"
)

// secretVariables are the variables that hold secrets.
var secretVariables = map[string]string{"KAFKA_SASL_PASSWORD": "sasl.password", "KAFKA_SSL_KEY_PASSWORD": "ssl.key.password"}

// settingName is as much of a text as may be repeated: what follows may be a
// secret.
var settingName = regexp.MustCompile(`^[A-Za-z0-9._-]*`)

// kafkaSettings are those of the environment, the file and the command line, the
// later over the earlier. notes are what was given and has no effect.
func kafkaSettings(c *cli.Context) (s kafka.Settings, notes []string, inProcess bool, err error) {
	s = kafka.Defaults()
	var given []kafka.Property
	for name, setting := range secretVariables {
		if v := os.Getenv(name); v != "" {
			given = append(given, kafka.Property{Name: setting, Value: v, From: name})
		}
	}
	if path := c.String("kafka-config"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return s, nil, false, command.Misusef("--kafka-config: %w", err)
		}
		properties, err := kafka.ParseProperties(text)
		if slices.ContainsFunc(properties, func(p kafka.Property) bool { return kafka.IsSecret(p.Name) }) {
			if err := secret.CheckFile(path); err != nil {
				return s, nil, false, command.Misusef("--kafka-config: %w", err)
			}
		}
		if err != nil {
			return s, nil, false, command.Misusef("--kafka-config %s: %w", path, err)
		}
		for _, p := range properties {
			p.From = fmt.Sprintf("--kafka-config %s: line %d", path, p.Line)
			given = append(given, p)
		}
	}
	for _, p := range given {
		if kafka.IsSecret(p.Name) {
			secret.From(c.Context).Note(p.Value)
		}
	}
	for _, text := range *c.Generic("kafka-set").(*command.Strings) {
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok:
			return s, nil, false, command.Misusef("--kafka-set (-X) %q: write name=value, such as linger.ms=0", settingName.FindString(name))
		case kafka.IsSecret(name):
			return s, nil, false, command.Misusef("-X %s: a secret must not stand on a command line, where others see it and the log keeps it: put it into a file for --kafka-config, or into the environment (KAFKA_SASL_PASSWORD, KAFKA_SSL_KEY_PASSWORD)", name)
		}
		given = append(given, kafka.Property{Name: name, Value: value, From: "-X"})
	}
	if notes, err = s.Apply(given); err != nil {
		return s, nil, false, command.Misuse(err)
	}
	servers := c.String("brokers")
	if servers == "" && len(s.Brokers) == 0 {
		servers = os.Getenv("KAFKA_BROKERS")
	}
	if inProcess, err = kafkaServers(c, &s, servers); err != nil {
		return s, nil, false, err
	}
	if p := c.String("commit-policy"); p != "" {
		s.Consumer.Commit = kafka.CommitPolicy(p)
	}
	if command.IsSet(c, "transaction-interval") {
		if s.Producer.CommitInterval = c.Duration("transaction-interval"); s.Producer.Transactional == "" {
			return s, nil, false, command.Misusef("--transaction-interval does nothing without a transactional.id: add -X transactional.id=NAME")
		}
	}
	return s, notes, inProcess, nil
}

// kafkaServers says where the cluster is.
func kafkaServers(c *cli.Context, s *kafka.Settings, servers string) (inProcess bool, err error) {
	switch {
	case servers == embedded.Name:
		if len(s.Brokers) > 0 {
			return false, command.Misusef("--brokers embedded and bootstrap.servers both say where the broker is: give one")
		}
		if n := c.Command.Name; n == "produce" || n == "consume" {
			return false, command.Misusef("--brokers embedded lives in one process, so it cannot be produced to by one and consumed from by another: use `bench run`")
		}
		if s.Protocol != "plaintext" {
			return false, command.Misusef("--brokers embedded speaks no TLS and no SASL: leave security.protocol out")
		}
		s.Brokers = []string{embedded.Name} // until it is started
		return true, nil
	case servers != "":
		if _, err := s.Set("bootstrap.servers", servers); err != nil {
			return false, command.Misusef("--brokers: %w", err)
		}
	case len(s.Brokers) == 0:
		return false, command.Misusef("no broker is named: add --brokers host:9092 (or -X bootstrap.servers=host:9092, or set KAFKA_BROKERS); --brokers embedded tries it without one")
	}
	return false, nil
}

// kafkaTopic reads what there is of a topic that is there, or how one is made.
func kafkaTopic(c *cli.Context, cfg *kafka.Config) error {
	cfg.Topic = c.String("topic")
	cfg.Existing = cfg.Topic != ""
	given := *c.Generic("topic-config").(*command.Strings)
	if cfg.Existing {
		for _, name := range []string{"topic-config", "replication", "partitions"} {
			if command.IsSet(c, name) {
				return command.Misusef("--%s does nothing with --topic: a topic that is there stays as it is", name)
			}
		}
		if cfg.InProcess {
			return command.Misusef("--topic names a topic that is there, and --brokers embedded begins without any")
		}
		if c.Int("topics") > 1 {
			return command.Misusef("--topic names one topic, and --topics asks for %d", c.Int("topics"))
		}
	}
	if command.IsSet(c, "replication") && cfg.Replication < 1 {
		return command.Misusef("--replication %d: it is at least 1", cfg.Replication)
	}
	if command.IsSet(c, "max-backlog") && cfg.MaxBacklog < 1 {
		return command.Misusef("--max-backlog %d: it is at least 1", cfg.MaxBacklog)
	}
	cfg.TopicSettings = map[string]string{}
	for _, text := range given {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return command.Misusef("--topic-config %q: write name=value, such as min.insync.replicas=2", text)
		}
		cfg.TopicSettings[name] = value
	}
	return nil
}

// kafkaStart reads where consumers start: --start-time and --only-new over
// auto.offset.reset.
func kafkaStart(c *cli.Context, cfg *kafka.Config) (notes []string, err error) {
	reset := cfg.Settings.Consumer.Reset
	if reset == "latest" || c.Bool("only-new") {
		cfg.Start.Kind = queue.StartLatest
	}
	text := c.String("start-time")
	if text == "" {
		return nil, nil
	}
	if c.Bool("only-new") {
		return nil, command.Misusef("--start-time and --only-new both say where consumers start: give one")
	}
	if reset == "latest" {
		notes = append(notes, "auto.offset.reset=latest has no effect: --start-time says where consumers start")
	}
	cfg.Start = queue.Start{Kind: queue.StartTime}
	if ms, perr := strconv.ParseInt(text, 10, 64); perr == nil {
		cfg.Start.Time = time.UnixMilli(ms)
	} else if cfg.Start.Time, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return nil, command.Misusef("--start-time %q: write a time such as 2026-01-02T15:04:05Z, or milliseconds since 1970", text)
	}
	if cfg.Start.Time.UnixMilli() < 0 {
		return nil, command.Misusef("--start-time %s lies before 1970", text)
	}
	return notes, nil
}

// tellNotes says what was given and has no effect.
func tellNotes(c *cli.Context, notes []string) {
	for _, text := range notes {
		fmt.Fprintln(c.App.ErrWriter, "bench: note:", text)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
