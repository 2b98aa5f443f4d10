package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/queue"
	"queuebench/runner/identity"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// payloadFlags say what messages are like.
func payloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "message-size", Usage: "bytes of a message, at least 16 for its identity: 100, uniform:64..1024, lognormal:mean=1000,p99=8000 or 100:90%,10000:10%", Value: "100"},
		&cli.Float64Flag{Name: "compressibility", Usage: "share of a message that a compressor can take away: from 0, random bytes, to 1, zeros"},
		&cli.StringFlag{Name: "payload-file", Usage: "file whose lines are the messages, each behind an identity of 16 bytes, over and over", DefaultText: "none"},
		&cli.Int64Flag{Name: "payload-repeats", Usage: "end a step when the file was sent so often", DefaultText: "no limit"},
		&cli.Int64Flag{Name: "keys", Usage: "different keys; 0 for messages without a key"},
		&cli.StringFlag{Name: "key-distribution", Usage: "how often each key comes: round-robin, uniform, or zipf with its exponent, such as zipf:0.99", Value: "uniform"},
		&cli.StringFlag{Name: "format", Usage: "what a message is: raw, text, json, or delimited, whose header line is sent once", Value: "raw"},
		&cli.StringFlag{Name: "delimiter", Usage: "what stands between the fields of --format delimited: a character, or tab", Value: ","},
		&cli.StringFlag{Name: "identity", Usage: "where a message carries its identity: payload, key, header:NAME, or json:/pointer, a field of --format json", DefaultText: "payload, or json:/id with --format json"},
		&cli.GenericFlag{Name: "header", Value: new(command.Strings), Usage: "name=value, a header of every message; may be given again", DefaultText: "none"},
	}
}

// payloadOf reads what messages are like.
func payloadOf(c *cli.Context, k kind) (payload.Spec, error) {
	var s payload.Spec
	var err error
	if s.Headers, err = headersOf(c, k); err != nil {
		return s, err
	}
	if err := formatOf(c, k, &s); err != nil {
		return s, err
	}
	switch n := c.Int64("keys"); {
	case n < 0:
		return s, command.Misusef("--keys %d is negative", n)
	case n > 0 || command.IsSet(c, "key-distribution"):
		if s.Keys, err = payload.ParseKeys(n, c.String("key-distribution")); err != nil {
			return s, command.Misusef("--keys, --key-distribution: %v", err)
		}
	}
	if s.Identity.InKey() && s.Keys.N > 0 {
		return s, command.Misusef("--identity key takes the place of --keys: leave one out")
	}
	if path := c.String("payload-file"); path != "" {
		for _, name := range []string{"message-size", "compressibility"} {
			if command.IsSet(c, name) {
				return s, command.Misusef("--%s does nothing with --payload-file, whose lines are the messages: leave one out", name)
			}
		}
		if s.Lines, err = payload.OpenLines(path); err != nil {
			return s, command.Misusef("--payload-file: %v", err)
		}
		return s, nil
	}
	s.Compressibility = c.Float64("compressibility")
	if !(s.Compressibility >= 0 && s.Compressibility <= 1) {
		return s, command.Misusef("--compressibility %v is not between 0, random bytes, and 1, zeros", s.Compressibility)
	}
	if s.Sizes, err = payload.ParseSizes(messageSize(c)); err != nil {
		return s, command.Misuse(err)
	}
	return s, nil
}

// formatOf reads what bodies are and where the identity is.
func formatOf(c *cli.Context, k kind, s *payload.Spec) (err error) {
	if c.String("format") == "" {
		return nil // one half of a run, whose marks have the form of plain messages
	}
	if s.Format, err = payload.ParseFormat(c.String("format")); err != nil {
		return command.Misusef("--format: %v", err)
	}
	switch d := c.String("delimiter"); {
	case command.IsSet(c, "delimiter") && s.Format != payload.DelimitedFormat:
		return command.Misusef("--delimiter does nothing without --format delimited: leave it out")
	case d == "tab":
		s.Delimiter = '\t'
	case len(d) != 1:
		return command.Misusef("--delimiter %q: it is one character of ASCII, or tab", d)
	default:
		s.Delimiter = d[0]
	}
	where := c.String("identity")
	if where == "" {
		where = "payload"
		if s.Format == payload.JSONFormat {
			where = "json:/id"
		}
	}
	if s.Identity, err = identity.ParsePlace(where); err != nil {
		return command.Misusef("--identity: %v", err)
	}
	if s.Identity.Header() != "" && !k.headers {
		return command.Misusef("--identity %v: a %s queue carries no headers", s.Identity, k.name)
	}
	return nil
}

// messageSize is the text of --message-size. The generator that pathway-burst
// follows has messages of its own size, unless another is asked for.
func messageSize(c *cli.Context) string {
	if c.String("arrivals") == string(schedule.PathwayBurstArrivals) && !command.IsSet(c, "message-size") {
		return strconv.Itoa(payload.PathwaySize)
	}
	return c.String("message-size")
}

func headersOf(c *cli.Context, k kind) (headers []queue.Header, err error) {
	list, ok := c.Generic("header").(*command.Strings)
	if !ok {
		return nil, nil
	}
	for _, item := range *list {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, command.Misusef("--header %q: write name=value", item)
		}
		headers = append(headers, queue.Header{Name: name, Value: []byte(value)})
	}
	if len(headers) > 0 && !k.headers {
		return nil, command.Misusef("--header does nothing with --queue %s, which carries no headers: leave it out", k.name)
	}
	return headers, nil
}

// wholeNumber reads 10000 or 10_000.
func wholeNumber(text string) (int64, error) {
	return strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
}
