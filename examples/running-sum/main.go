// Running-sum is an example of a pipeline between two topics of Kafka, such as
// bench measures with --through.
//
//	running-sum --brokers 127.0.0.1:9092 --in numbers --out sums
//
// It reads numbers, keeps their sum, and writes it to the other topic, one output
// per commit interval (1,000 ms): what it has read and what it makes of that are
// committed in one transaction. Each output says which inputs it covers, by the
// identities that it copies from them, and carries the headers pathway_time, in
// ms since the epoch, and pathway_diff, 1.
//
// An input is JSON with the fields value and id, or a delimited line, whose
// columns the first message of the topic names. Started again it goes on with the
// sum of its last output. One process reads all partitions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "running-sum:", err)
		os.Exit(1)
	}
}

// config is what a pipeline is made of.
type config struct {
	brokers       []string
	in, out       string
	group         string
	format        string // json or delimited
	delimiter     rune
	value, id     string // names of the fields
	interval      time.Duration
	transactional string
	create        int // partitions of topics that are not there; 0 to wait for them
}

func run(ctx context.Context, messages io.Writer, args []string) error {
	cfg, err := parse(messages, args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := createTopics(ctx, cfg); err != nil {
		return err
	}
	p, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.close()
	fmt.Fprintf(messages, "running-sum: from %s to %s every %v, beginning with the sum %d of %d inputs\n", cfg.in, cfg.out, cfg.interval, p.state.Sum, p.state.Count)
	err = p.run(ctx)
	fmt.Fprintf(messages, "running-sum: the sum of %d inputs is %d\n", p.state.Count, p.state.Sum)
	return err
}

func parse(messages io.Writer, args []string) (config, error) {
	var cfg config
	var brokers, delimiter string
	flags := flag.NewFlagSet("running-sum", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.StringVar(&brokers, "brokers", "127.0.0.1:9092", "brokers to begin with, host:port with commas")
	flags.StringVar(&cfg.in, "in", "", "topic of the numbers")
	flags.StringVar(&cfg.out, "out", "", "topic of the sums")
	flags.StringVar(&cfg.group, "group", "running-sum", "consumer group")
	flags.StringVar(&cfg.transactional, "transactional-id", "running-sum", "name of the transactions")
	flags.StringVar(&cfg.format, "format", "json", "of the inputs: json, or delimited")
	flags.StringVar(&delimiter, "delimiter", ",", "between the fields of a delimited line")
	flags.StringVar(&cfg.value, "value", "value", "field of the number")
	flags.StringVar(&cfg.id, "id", "id", "field of the identity")
	flags.DurationVar(&cfg.interval, "commit-interval", time.Second, "from one output to the next")
	flags.IntVar(&cfg.create, "create", 0, "make those of the two topics that are not there, with so many partitions and the broker's stamps")
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	cfg.brokers = strings.Split(brokers, ",")
	cfg.delimiter = []rune(delimiter + "\x00")[0]
	switch {
	case flags.NArg() > 0:
		return cfg, fmt.Errorf("%q is no flag", flags.Arg(0))
	case cfg.in == "" || cfg.out == "" || cfg.in == cfg.out:
		return cfg, errors.New("name two topics: --in NUMBERS --out SUMS")
	case cfg.format != "json" && cfg.format != "delimited":
		return cfg, fmt.Errorf("--format %q: say json or delimited", cfg.format)
	case len([]rune(delimiter)) != 1:
		return cfg, fmt.Errorf("--delimiter %q: it is one character", delimiter)
	case cfg.create < 0:
		return cfg, fmt.Errorf("--create %d is negative", cfg.create)
	case cfg.interval <= 0:
		return cfg, fmt.Errorf("--commit-interval %v is not positive", cfg.interval)
	}
	return cfg, nil
}
