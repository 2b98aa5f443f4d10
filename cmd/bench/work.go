package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/meeting"
)

// notWorking are the flags of a load that a worker has not.
var notWorking = []string{"repeats", "vary", "format", "delimiter", "identity", "through", "through-identity"}

func workFlags() []cli.Flag {
	flags := command.Under("WORKERS",
		&cli.StringFlag{Name: "worker", Usage: "which worker of how many this is, such as 0/4; without \"/4\" --workers has the number", DefaultText: "$" + indexVariable},
		&cli.IntFlag{Name: "workers", Usage: "how many there are"},
		&cli.StringFlag{Name: "roles", Usage: "what they do: both (each produces and consumes), or such as produce=3,consume=1, the first three then produce", Value: "both"},
		&cli.BoolFlag{Name: "share-groups", Usage: "the consumers of all workers are members of the same groups, which share the messages; =false: each worker has groups of its own, and gets all", Value: true, DefaultText: "true, but for a Delta table, whose readers each read all"},
		&cli.DurationFlag{Name: "join-timeout", Usage: "how long the others are waited for; the run begins without those that have not come", Value: time.Minute},
		&cli.DurationFlag{Name: "start-delay", Usage: "from the moment when all have come to the first message", Value: 2 * time.Second},
		&cli.BoolFlag{Name: "remove", Usage: "the first consuming worker removes the queue once the end marks have come and every other one has ended", Value: true},
		&cli.DurationFlag{Name: "wait", Usage: "how long a consuming worker waits for the first message, once the run has begun", Value: time.Minute},
		&cli.DurationFlag{Name: "idle-timeout", Usage: "a consuming worker ends when no message has come for so long; without it the end is that of the schedule and --drain-timeout", DefaultText: "none"},
	)
	flags = append(flags, &cli.StringFlag{Name: "rate", Aliases: []string{"r"}, Usage: "messages per second, of all workers together"})
	for _, f := range loadFlags() {
		if !slices.Contains(notWorking, command.Name(f)) {
			flags = append(flags, f)
		}
	}
	return halfFlags(append(flags, clockFlags()...))
}

func workCommand() *cli.Command {
	return &cli.Command{
		Name:  "work",
		Usage: "one of several processes, on as many hosts, that load a queue together",
		Description: `Prints a table of what this worker sent or received; its last line is the address
of the raw log, which all workers of the --run-id share. Start each with the same
flags and a number of its own. They meet through objects in the run's prefix,
which have to be stored only if they are not there: no process coordinates them.
The first one's plan holds, and one with other settings is refused. When all are
ready, or --join-timeout has passed, a common start is set; who has not come by
then is named in the run, and the others go on.

The schedule is shared among the producers of all workers (--producers counts
those of each), and the messages of each consumer group among the consumers of
all (--consumers counts those of each). A Delta table has no groups: every
consuming worker reads all of it.
` + "`bench finish`" + ` tells what became of each worker and removes what is left.`,
		UsageText: `   bench work --run-id night-2 --worker 0/1 --rate 1000 --duration 1s --store ./lake
   bench work --run-id night-3 --worker 0/2 --roles produce=1,consume=1 --rate 1000 --duration 1s --store ./lake --join-timeout 1s --start-delay 100ms`,
		Flags:  workFlags(),
		Action: work,
	}
}

// indexVariable is set by an Indexed Job of Kubernetes.
const indexVariable = "JOB_COMPLETION_INDEX"

// part is what a worker does.
type part struct {
	role  rawlog.Role
	index int // among those of its role
}

func (p part) process() string { return fmt.Sprintf("%s-%d", p.role, p.index) }

// crew is who takes part in a run.
type crew struct {
	workers          int
	produce, consume int
	own              []part // of this worker
	// shared: the consuming workers are members of the same groups.
	shared bool
}

// processes are the names of all, producers first.
func (w *crew) processes() (names []string) {
	for i := range w.produce {
		names = append(names, part{rawlog.RoleProduce, i}.process())
	}
	for i := range w.consume {
		names = append(names, part{rawlog.RoleConsume, i}.process())
	}
	return names
}

// crewOf reads who takes part and which of them this is.
func crewOf(worker string, workers int, roles string, getenv func(string) string) (*crew, error) {
	if worker == "" {
		if worker = getenv(indexVariable); worker == "" {
			return nil, command.Misusef("--worker is needed: which worker of how many this is, such as 0/4; $%s is not set either", indexVariable)
		}
	}
	text, of, both := strings.Cut(worker, "/")
	if both {
		n, err := strconv.Atoi(of)
		if err != nil || workers != 0 && workers != n {
			return nil, command.Misusef("--worker %s, --workers %d: write it once, such as --worker 0/4", worker, workers)
		}
		workers = n
	}
	if workers < 1 || workers > runner.MaxActors {
		return nil, command.Misusef("--worker %s: say of how many, 1 to %d, such as --worker 0/4 or --workers 4", worker, runner.MaxActors)
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= workers {
		return nil, command.Misusef("--worker %s: the number is 0 to %d", worker, workers-1)
	}
	w := &crew{workers: workers}
	if roles == "both" {
		w.produce, w.consume = workers, workers
		w.own = []part{{rawlog.RoleProduce, i}, {rawlog.RoleConsume, i}}
		return w, nil
	}
	for item := range strings.SplitSeq(roles, ",") {
		name, count, _ := strings.Cut(strings.TrimSpace(item), "=")
		n, err := strconv.Atoi(count)
		to := map[string]*int{"produce": &w.produce, "consume": &w.consume}[name]
		if err != nil || n < 1 || to == nil || *to != 0 {
			return nil, command.Misusef("--roles %q: write both, or such as produce=3,consume=1", roles)
		}
		*to = n
	}
	if w.produce+w.consume != workers || w.produce == 0 || w.consume == 0 {
		return nil, command.Misusef("--roles %s: it has %d producing and %d consuming workers, and there are %d in all: at least one of each", roles, w.produce, w.consume, workers)
	}
	if i < w.produce {
		w.own = []part{{rawlog.RoleProduce, i}}
	} else {
		w.own = []part{{rawlog.RoleConsume, i - w.produce}}
	}
	return w, nil
}

func work(c *cli.Context) error {
	c, k, notes, err := sharedRun(c)
	if err != nil {
		return err
	}
	w, err := crewOf(c.String("worker"), c.Int("workers"), c.String("roles"), os.Getenv)
	if err != nil {
		return err
	}
	for name, limit := range map[string]time.Duration{"join-timeout": time.Hour, "start-delay": time.Minute, "wait": runner.MaxDuration} {
		if d := c.Duration(name); d <= 0 || d > limit {
			return command.Misusef("--%s %v: it is a time of up to %v", name, d, limit)
		}
	}
	if err := w.shares(c, k); err != nil {
		return err
	}
	if len(w.own) > 1 && (c.String("metrics-addr") != "") {
		return command.Misusef("--metrics-addr: a worker that produces and consumes is two processes of the run in one; give it --roles such as produce=%d,consume=1", max(1, w.workers-1))
	}
	seed, err := w.agree(c, k)
	if err != nil {
		return err
	}
	return w.run(c, k, seed, notes)
}

// run does this worker's parts, beside each other.
func (w *crew) run(c *cli.Context, k kind, seed uint64, notes []string) error {
	ctx, cancel := context.WithCancelCause(c.Context)
	defer cancel(nil)
	type outcome struct {
		text bytes.Buffer
		err  error
		done chan struct{}
	}
	outcomes := make([]outcome, len(w.own))
	errs := &sharedWriter{w: c.App.ErrWriter}
	for i, p := range w.own {
		o := &outcomes[i]
		o.done = make(chan struct{})
		with := *c
		with.Context = ctx
		app := *c.App
		app.Writer = io.Writer(&o.text)
		app.ErrWriter = errs
		if len(w.own) == 1 {
			app.Writer, app.ErrWriter = c.App.Writer, c.App.ErrWriter
		}
		with.App = &app
		go func() {
			defer close(o.done)
			if o.err = w.part(&with, k, p, seed, notes); o.err != nil && ctx.Err() == nil {
				var failed *meetingError
				if errors.As(o.err, &failed) {
					cancel(o.err) // the other part would wait in vain
				}
			}
		}()
	}
	var all []error
	for i := range outcomes {
		<-outcomes[i].done
		if len(w.own) > 1 {
			text := outcomes[i].text.String()
			if !c.Bool("json") {
				text = w.own[i].process() + "\n" + text
			}
			if err := command.Print(c.App.Writer, "%s", text); err != nil {
				return err
			}
		}
		if outcomes[i].err != nil {
			all = append(all, fmt.Errorf("%s: %w", w.own[i].process(), outcomes[i].err))
		}
	}
	return errors.Join(all...)
}

// sharedWriter is a writer of several parts, each of whose texts stays whole.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// part does one part of a run.
func (w *crew) part(c *cli.Context, k kind, p part, seed uint64, notes []string) error {
	m := w.meeting(c, p)
	h := half{role: p.role, process: p.process(), meeting: m, alone: len(w.own) == 1}
	if p.role == rawlog.RoleConsume {
		d, err := consuming(c, k)
		if err != nil {
			return err
		}
		load := &d.Load
		h.index, h.count = p.index, load.Topics*load.Groups*load.Consumers
		h.first = p.index * h.count
		h.remove = c.Bool("remove") && p.index == 0
		if w.shared {
			h.group = &sharing{process: p.process(), others: w.others(p)}
		}
		return loadHalf(c, h, d, k, seed)
	}
	steps, err := draftsOf(c, k, oneRate, seed, nil)
	if err != nil {
		return err
	}
	d := steps[0]
	d.Schedule, d.Role = d.first, rawlog.RoleProduce
	d.Load.Groups, d.Load.Consumers, d.Load.Producers = 0, 0, d.Load.Producers*w.produce
	d.Load.MaxInFlight = max(d.Load.MaxInFlight, d.Load.AllProducers())
	if err := d.Check(); err != nil {
		return command.Misuse(err)
	}
	h.worker, h.workers = p.index, w.produce
	if k.name == "delta" && d.partitions < w.produce && p.index == 0 {
		notes = append(notes, fmt.Sprintf("%d workers write to %d partitions: a Delta log has one writer at a time, so they wait for each other; give --partitions %d", w.produce, d.partitions, w.produce))
	}
	return loadHalf(c, h, d, k, seed, notes...)
}

// ownSettings are those in which the workers of a run may differ.
var ownSettings = []string{"worker", "spool", "clock-peer", "clock-serve", "metrics-addr", "quiet", "json", "calibrate", "part-age", "seed", "workers", "command", "workload"}

// agree stores the run's plan, or takes the one that is there, and returns the
// seed in it.
func (w *crew) agree(c *cli.Context, k kind) (uint64, error) {
	seed, err := seedOf(c)
	if err != nil {
		return 0, err
	}
	at, err := places(c, os.Getenv)
	if err != nil {
		return 0, err
	}
	if at.embedded != "" && (k.store || !command.IsSet(c, "log-store")) {
		return 0, command.Misusef("the workers of a run need a store that all reach, and the embedded server lives in one process: add --store ./lake or --store s3://bucket/prefix")
	}
	stores, err := at.open(c.Context, k, c.String("run-id"))
	if err != nil {
		return 0, err
	}
	m := w.meeting(c, w.own[0])
	m.Store = stores.log
	m.Plan.Seed = seed
	agreed, err := m.Agree(c.Context)
	if cerr := stores.close(); cerr != nil {
		return 0, errors.Join(err, cerr)
	}
	if errors.Is(err, meeting.ErrOtherPlan) || errors.Is(err, meeting.ErrTaken) {
		return 0, command.Misuse(err)
	}
	if err != nil {
		return 0, err
	}
	if command.IsSet(c, "seed") && agreed.Seed != seed {
		return 0, command.Misusef("--seed %d: the other workers of the run have %d", seed, agreed.Seed)
	}
	return agreed.Seed, nil
}

// meeting is this worker's, but for its store.
func (w *crew) meeting(c *cli.Context, p part) *meeting.Meeting {
	all := settings(c)
	for _, name := range ownSettings {
		delete(all, name)
	}
	return &meeting.Meeting{
		Plan: meeting.Plan{Run: c.String("run-id"), Processes: w.processes(), Settings: all}, Process: p.process(),
		Clock: clockOf(c), Wait: c.Duration("join-timeout"), Delay: c.Duration("start-delay"),
	}
}
