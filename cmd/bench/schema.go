//go:build !min && !nokafka

package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/secret"
	"queuebench/queue/broker"
	"queuebench/runner"
	"queuebench/runner/framing"
	"queuebench/runner/payload"
)

// schemaFlags frame messages as those of a registered schema.
func schemaFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "schema-registry", Usage: "address of a registry of schemas, http://host:8081: each message gets the frame of a schema there, as Confluent's serializers write it; user and password, or a token, are in the environment (SCHEMA_REGISTRY_USER, SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_TOKEN)", DefaultText: "none"},
		&cli.StringFlag{Name: "schema-subject", Usage: "subject whose latest schema it is, or to which --schema-file is registered", DefaultText: "TOPIC-value, of --topic"},
		&cli.StringFlag{Name: "schema-file", Usage: "file of the schema, which is registered if the subject does not have it", DefaultText: "the subject's latest"},
		&cli.IntFlag{Name: "schema-id", Usage: "id of the schema; without --schema-registry nobody is asked", DefaultText: "what the registry says"},
		&cli.StringFlag{Name: "schema-type", Usage: "json, avro or protobuf: of --schema-file, and of --schema-id without a registry", DefaultText: "json, or what the registry says"},
		&cli.StringFlag{Name: "schema-message-index", Usage: "which message of a Protobuf file it is: 0 for the first, 1,0 for the first within the second", DefaultText: "0 with Protobuf"},
		&cli.StringFlag{Name: "schema-registry-ca", Usage: "file of the certificates that vouch for the registry, PEM", DefaultText: "those of the system"},
		&cli.StringFlag{Name: "through-schema", Usage: "whether the outputs of --through are framed: same, as the inputs; any, by any schema of its type; none", DefaultText: "any, where inputs are framed"},
	}
}

// schemaOf frames the messages of a load, and those behind its pipeline; t is nil
// without one. note says by which schema; empty for none.
func schemaOf(c *cli.Context, load *runner.Load, t *runner.Through) (note string, err error) {
	if c.String("schema-registry") == "" && !command.IsSet(c, "schema-id") {
		for _, f := range schemaFlags() {
			if name := command.Name(f); command.IsSet(c, name) {
				return "", command.Misusef("--%s does nothing without a schema: add --schema-registry URL, or --schema-id N", name)
			}
		}
		return "", nil
	}
	s, err := askedSchema(c)
	if err != nil {
		return "", err
	}
	frame := s.Frame
	if frame.Type == sr.TypeProtobuf {
		if frame.Index, err = framing.ParseIndex(cmp.Or(c.String("schema-message-index"), "0")); err != nil {
			return "", command.Misusef("--schema-message-index: %v", err)
		}
	} else if command.IsSet(c, "schema-message-index") {
		return "", command.Misusef("--schema-message-index does nothing with a schema of type %v: only Protobuf has one", frame.Type)
	}
	if err := frame.Check(); err != nil {
		return "", command.Misuse(err)
	}
	load.Payload.Frame, load.Unframe = frame.Header(), frame.Strip
	if err := load.Payload.Check(); err != nil {
		return "", command.Misuse(err)
	}
	note = fmt.Sprintf("messages have the frame of schema id %d, of type %v", frame.ID, frame.Type)
	if s.Subject != "" {
		note += fmt.Sprintf(", version %d of subject %s at %s", s.Version, s.Subject, c.String("schema-registry"))
	}
	if s.Made {
		note += ", which was registered for the run and stays"
	}
	if frame.Type != sr.TypeJSON || load.Payload.Format != payload.JSONFormat {
		note += "; they are not encoded by it: only --format json with a schema of type json makes messages that its deserializer can read"
	}
	return note, throughSchema(c, t, load, frame.Type)
}

// askedSchema is the schema that the flags name.
func askedSchema(c *cli.Context) (s framing.Schema, err error) {
	t := sr.TypeJSON
	if text := c.String("schema-type"); text != "" {
		if t, err = framing.ParseType(text); err != nil {
			return s, command.Misusef("--schema-type: %v", err)
		}
	}
	id, file, subject := c.Int("schema-id"), c.String("schema-file"), c.String("schema-subject")
	if command.IsSet(c, "schema-id") {
		for _, name := range []string{"schema-file", "schema-subject"} {
			if command.IsSet(c, name) {
				return s, command.Misusef("--schema-id names the schema: leave --%s out", name)
			}
		}
	}
	if c.String("schema-registry") == "" {
		return framing.Schema{Frame: framing.Frame{ID: id, Type: t}}, nil
	}
	r, err := registryOf(c)
	if err != nil {
		return s, err
	}
	if subject == "" && !command.IsSet(c, "schema-id") {
		if c.String("topic") == "" {
			return s, command.Misusef("--schema-registry: name the schema by --schema-subject, or by --schema-id")
		}
		subject = c.String("topic") + "-value"
	}
	switch {
	case command.IsSet(c, "schema-id"):
		s, err = r.ByID(c.Context, id)
	case file != "":
		text, rerr := os.ReadFile(file)
		if rerr != nil {
			return s, command.Misusef("--schema-file: %w", rerr)
		}
		s, err = r.Of(c.Context, subject, string(text), t)
	default:
		s, err = r.Latest(c.Context, subject)
	}
	if err == nil && command.IsSet(c, "schema-type") && s.Frame.Type != t {
		err = command.Misusef("--schema-type %s: the registry says that schema id %d is of type %v", c.String("schema-type"), s.Frame.ID, s.Frame.Type)
	}
	return s, err
}

// registryOf is the registry that the flags name, with the secrets of the
// environment.
func registryOf(c *cli.Context) (r framing.Registry, err error) {
	r = framing.Registry{URL: c.String("schema-registry"), User: os.Getenv("SCHEMA_REGISTRY_USER"), Password: secret.Of(os.Getenv("SCHEMA_REGISTRY_PASSWORD")), Token: secret.Of(os.Getenv("SCHEMA_REGISTRY_TOKEN"))}
	if err := framing.CheckURL(r.URL); err != nil {
		return r, command.Misusef("--schema-registry: %v", err)
	}
	if path := c.String("schema-registry-ca"); path != "" {
		id := broker.Identity{CAFile: path}
		if r.TLS, err = id.TLSConfig(true); err != nil {
			return r, command.Misusef("--schema-registry-ca: %w", err)
		}
	}
	return r, nil
}

// throughSchema says what stands before the outputs of a pipeline.
func throughSchema(c *cli.Context, t *runner.Through, load *runner.Load, inputs sr.SchemaType) error {
	how := c.String("through-schema")
	switch {
	case t == nil && how == "":
	case t == nil:
		return command.Misusef("--through-schema does nothing without --through: leave it out")
	case how == "same":
		t.Unframe = load.Unframe
	case how == "any", how == "":
		t.Unframe = framing.StripAny(inputs)
	case how != "none":
		return command.Misusef("--through-schema %q: say same, any or none", how)
	}
	return nil
}
