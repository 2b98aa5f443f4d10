package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"queuebench/clock"
	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/runner/meeting"
)

// half is one of the two halves of a run on a command line.
type half struct {
	role    rawlog.Role
	process string // names its manifest, its spool and what concerns the process
	resume  bool
	index   int  // of the consume process
	first   int  // of its consumers
	count   int  // of its consumers, of all groups and topics
	remove  bool // the queue, in the end
	clocks  *clocks

	// The rest is of a worker.
	worker, workers int // of those that produce
	meeting         *meeting.Meeting
	alone           bool     // it does nothing beside this half
	group           *sharing // of its groups with others; nil where they are its own
}

// loadHalf opens what a half needs and runs it.
func loadHalf(c *cli.Context, h half, d draft, k kind, seed uint64, notes ...string) error {
	cfg := runner.Config{Run: c.String("run-id"), Clock: clockOf(c), Seed: seed, Half: &runner.Half{}}
	if err := checkRunID(cfg.Run); err != nil {
		return err
	}
	w, err := places(c, os.Getenv)
	if err != nil {
		return err
	}
	if cfg.Prices, err = pricesOf(c, w.store); err != nil {
		return err
	}
	if k.store && w.embedded != "" {
		return command.Misusef("the two halves of a run need a store that both reach, and the embedded server lives in one process: add --store ./lake or --store s3://bucket/prefix")
	}
	stores, err := w.open(c.Context, k, cfg.Run)
	if err != nil {
		return err
	}
	stores.warnings, stores.prices = append(stores.warnings, notes...), cfg.Prices
	stores.noteServers(c, k)
	stores.noteInsecure(w.insecure(c, k))
	cfg.Plans = []runner.Plan{d.opened(cfg.Clock, stores)}
	switch h.role {
	case rawlog.RoleProduce:
		cfg.Half.Spec = d.arrivals
		cfg.Half.Spec.Seed = seed
	case rawlog.RoleConsume:
		h.attend(c, &cfg, stores)
	}
	cfg.Half.Worker, cfg.Half.Workers, cfg.Half.OwnPartitions = h.worker, h.workers, k.name == "delta"
	h.clocks, err = startClocks(c, &cfg, h.meeting == nil || h.alone || h.role == rawlog.RoleProduce)
	if err == nil {
		if h.meeting != nil {
			h.meeting.Store, h.meeting.Clock = stores.log, cfg.Clock
			cfg.Half.Meet = meet{h.meeting, h.clocks.toOwn}
		}
		err = drive(c, &cfg, stores, &h)
		h.clocks.close()
	}
	return errors.Join(err, stores.close())
}

// clockName is under which name a program's clock stands in its metadata, where
// a test gives it one that is wrong.
const clockName = "clock"

func clockOf(c *cli.Context) *clock.Clock {
	if given, ok := c.App.Metadata[clockName].(*clock.Clock); ok {
		return given
	}
	return clock.New()
}

// needRunID is the misuse of a half that is not told which run it is of.
func needRunID(c *cli.Context) error {
	if c.Args().Present() {
		return command.Misusef("%q is no flag: this command takes flags only", c.Args().First())
	}
	if !command.IsSet(c, "run-id") {
		return command.Misusef("--run-id is needed: give both halves of a run the same, such as --run-id night-1")
	}
	return nil
}

// sharedRun reads what a process that has a part in the load of a run begins
// with: its command line, over which a workload file was laid, and the queue.
func sharedRun(c *cli.Context) (_ *cli.Context, k kind, notes []string, err error) {
	if c, notes, err = withWorkload(c); err != nil {
		return c, k, nil, err
	}
	if err = needRunID(c); err != nil {
		return c, k, nil, err
	}
	k, err = acrossProcesses(c)
	return c, k, notes, err
}

// acrossProcesses is the kind of queue of a half, which must be one that two
// processes reach.
func acrossProcesses(c *cli.Context) (kind, error) {
	k, err := kindNamed(c.String("queue"))
	if err != nil {
		return k, err
	}
	if k.inProcess {
		return k, command.Misusef("--queue %s lives in one process, so it cannot be produced to by one and consumed from by another: use `bench run`", k.name)
	}
	return k, nil
}

// mustBeFree refuses a run id that a whole run has, or this half of one.
func (h *half) mustBeFree(ctx context.Context, stores *opened, run string) error {
	if err := stores.mustBeNew(ctx, run); err != nil {
		return err
	}
	if h.process == "" {
		all, err := manifestsIn(ctx, stores.log)
		if err == nil && len(all) > 0 {
			err = command.Misusef("--run-id %s: there is a run of that name, in halves, at %s", run, stores.address)
		}
		return err
	}
	if h.resume {
		return nil
	}
	_, err := stores.log.Head(ctx, rawlog.ManifestNameOf(h.process))
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	hint := "give another"
	if h.role == rawlog.RoleConsume {
		hint = "give another, another --index beside it, or --resume to go on where it was killed"
	}
	return command.Misusef("--run-id %s: there is a %s half of that run at %s: %s", run, h.process, stores.address, hint)
}

// takeUp stores what a killed half left in its spool, and reads what it
// recorded.
func (h *half) takeUp(c *cli.Context, cfg *runner.Config, stores *opened) error {
	if err := h.emptySpool(c.Context, cfg.SpoolDir, stores.log); err != nil {
		return err
	}
	rec, err := runner.ReadRecorded(c.Context, stores.log, h.process)
	if err != nil {
		return err
	}
	m := rec.Manifest
	if m.Complete {
		return command.Misusef("the %s half of run %s has ended by itself: there is nothing to resume", h.process, m.Run)
	}
	for _, name := range []string{"queue", "partitions", "topics", "groups", "consumers", "index"} {
		if was, is := m.Settings[name], fmt.Sprint(c.Value(name)); was != is {
			return command.Misusef("--%s was %s before it was killed and is %s now: resume with the same", name, was, is)
		}
	}
	cfg.Half.Recorded = rec
	return nil
}

func (h *half) emptySpool(ctx context.Context, spool string, log objectstore.Store) error {
	if _, err := os.Stat(spool); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	files, _, err := spooled(spool)
	if err != nil && !errors.Is(err, errNothingSpooled) {
		return err
	}
	for _, name := range files {
		if rawlog.IsManifestName(name) {
			continue // the one in the store is no older where it matters
		}
		if err := uploadFile(ctx, log, spool, name); err != nil {
			return err
		}
	}
	// What is left are parts without a footer, which nothing can read.
	return os.RemoveAll(spool)
}

// attend says how a consume half listens.
func (h *half) attend(c *cli.Context, cfg *runner.Config, stores *opened) {
	p := cfg.Half
	p.FirstConsumer = h.first
	if h.group != nil {
		h.group.store, p.Sharing = stores.log, h.group
	} else {
		p.FirstGroup = h.index * c.Int("groups")
	}
	p.Wait, p.IdleTimeout = c.Duration("wait"), c.Duration("idle-timeout")
	p.ToOwn = func(theirs clock.Identity) (int64, error) { return h.clocks.toOwn(theirs) }
	if h.remove {
		p.MayRemove = func(ctx context.Context) error { return h.othersEnded(ctx, stores.log) }
	}
}

// spoolName is the folder in which the process's parts wait.
func (h *half) spoolName(run string) string {
	if h.process == "" {
		return run
	}
	return run + "-" + h.process
}

// firstIndex numbers parts after those of a killed half.
func (h *half) firstIndex(cfg *runner.Config) func(string, int, int, string) int {
	if cfg.Half == nil || cfg.Half.Recorded == nil {
		return nil
	}
	return cfg.Half.Recorded.FirstIndex
}

// describe puts what a half is into its manifest.
func (h *half) describe(cfg *runner.Config) {
	m := cfg.Manifest
	m.Process, m.Role = h.process, h.role
	if h.role != rawlog.RoleConsume {
		return
	}
	m.Settings["first-consumer"], m.Settings["all-consumers"] = strconv.Itoa(h.first), strconv.Itoa(h.count)
	if h.meeting != nil {
		m.Settings["share-groups"] = strconv.FormatBool(h.group != nil)
	}
	if rec := cfg.Half.Recorded; rec != nil {
		m.Begin = rec.Manifest.Begin
		h.clocks.before = rec.Manifest.ClockOffsets
		m.Warnings = append(append([]string{}, rec.Manifest.Warnings...), fmt.Sprintf("the %s half was killed and went on from %d recorded deliveries", h.process, rec.Rows))
	}
}

// consumed is the verdict on a consume half that ended.
func consumed(r *runner.Result) error {
	var broken []error
	for _, text := range r.Broken {
		broken = append(broken, errors.New(text))
	}
	if len(broken) > 0 {
		return command.Broken(errors.Join(broken...))
	}
	for i := range r.Steps {
		if text := r.Steps[i].WithoutEnd; text != "" {
			return errors.New(text)
		}
	}
	return nil
}

// roleOf is the part in a run that a command has.
func roleOf(c *cli.Context) rawlog.Role {
	if c.Command.Name == "produce" {
		return rawlog.RoleProduce
	}
	return rawlog.RoleAll
}

// halfFlags leaves out the flags of queues that live in one process.
func halfFlags(flags []cli.Flag) []cli.Flag {
	shared, alone := map[string]bool{}, map[string]bool{}
	for _, k := range kinds() {
		for _, f := range k.flags {
			if k.inProcess {
				alone[command.Name(f)] = true
			} else {
				shared[command.Name(f)] = true
			}
		}
	}
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { name := command.Name(f); return alone[name] && !shared[name] })
}
