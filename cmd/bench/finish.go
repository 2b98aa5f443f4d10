package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/internal/columns"
	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/runner/meeting"
)

func finishCommand() *cli.Command {
	return &cli.Command{
		Name:  "finish",
		Usage: "tell what became of each worker of a run, and remove its queue",
		Description: `Prints a line for each worker that the run was to have: what it did, and whether
it ended, died, or never came. Exit status 0 means that all came and ended.

It waits up to --wait for workers that have not ended; one that still has not is
said to have died, or to be still running: nothing tells these apart from here.
Then it removes the run's queue, unless --keep is given or a worker may be
running. The raw log stays, and ` + "`analyze`" + ` takes its address, which is the last line.`,
		UsageText: `   bench work --run-id night-2 --worker 0/1 --rate 1000 --duration 1s --start-delay 100ms --store ./lake
   bench finish --run-id night-2 --store ./lake
   bench finish --run-id night-2 --store ./lake --wait 0s --keep --json`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "run-id", Usage: "the run of the workers"},
			&cli.DurationFlag{Name: "wait", Usage: "how long workers that have not ended are waited for", Value: 30 * time.Second},
			&cli.BoolFlag{Name: "keep", Usage: "leave the queue"},
			&cli.BoolFlag{Name: "force", Usage: "remove the queue although a worker seems to be running"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		}, append(without(placeFlags(), "prices"), serverFlags()...)...),
		Action: finish,
	}
}

// The states of a worker.
const (
	stateEnded   = "ended"
	stateNoEnd   = "died or still running"
	stateCame    = "came, and recorded nothing"
	stateNotCome = "never came"
	stateTooLate = "came too late"
	stateWaits   = "waits for the others"
)

// workerState is what became of a worker.
type workerState struct {
	Process  string `json:"process"`
	Host     string `json:"host,omitempty"`
	State    string `json:"state"`
	Complete bool   `json:"complete"`
	Reason   string `json:"reason,omitempty"`
	Acked    int64  `json:"acked"`
	Received int64  `json:"received"`
}

// closing is what finish tells.
type closing struct {
	Run     string        `json:"run"`
	Address string        `json:"address"`
	Workers []workerState `json:"workers"`
	Removed bool          `json:"queue_removed"`
}

func finish(c *cli.Context) error {
	if err := needRunID(c); err != nil {
		return err
	}
	run := c.String("run-id")
	if err := checkRunID(run); err != nil {
		return err
	}
	w, err := places(c, os.Getenv)
	if err != nil {
		return err
	}
	if w.embedded != "" {
		return command.Misusef("the workers of a run have a store that all reach: name it as they did, with --store")
	}
	noteUnverified(c, w.options, w.store, w.log)
	log, err := openRun(c.Context, below(w.log, run), w.options)
	if err != nil {
		return err
	}
	end, err := waitForWorkers(c.Context, log, c.Duration("wait"))
	if err != nil {
		return err
	}
	end.Run, end.Address = run, log.Address()
	left := end.left()
	if !c.Bool("keep") && (left == nil || c.Bool("force")) {
		t := remains{run, w.store, w.log, w.options}
		if _, err := t.removeBelow(c.Context, t.store, tablesPrefix+"/"+t.run+"/"); err != nil {
			return errors.Join(end.print(c), err)
		}
		out := c.App.Writer
		if c.Bool("json") {
			out = c.App.ErrWriter // what is printed is one object
		}
		if err := cleanServers(c, run, out); err != nil {
			return errors.Join(end.print(c), err)
		}
		end.Removed = true
	}
	return errors.Join(end.print(c), left)
}

// openRun opens a run's prefix, which must be there.
func openRun(ctx context.Context, a objectstore.Address, options objectstore.Options) (objectstore.Store, error) {
	if a.IsFolder() { // opening would make it
		if _, err := os.Stat(a.Folder); err != nil {
			return nil, fmt.Errorf("there is no run at %s: %w", a, err)
		}
	}
	return objectstore.OpenAddress(ctx, a, options)
}

// waitForWorkers looks at the run until all that came have ended, or the wait is
// over.
func waitForWorkers(ctx context.Context, log objectstore.Store, wait time.Duration) (*closing, error) {
	until := time.Now().Add(wait)
	for {
		met, err := meeting.Read(ctx, log)
		if err == nil && met == nil {
			err = fmt.Errorf("no workers met at %s: this is no run of `bench work`", log.Address())
		}
		if err != nil {
			return nil, err
		}
		all, err := manifestsIn(ctx, log)
		if err != nil {
			return nil, err
		}
		end := &closing{Workers: statesOf(met, all)}
		if end.under() == "" || !time.Now().Before(until) {
			return end, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// statesOf says what became of each process of a plan.
func statesOf(met *meeting.Record, all []*rawlog.Manifest) (states []workerState) {
	for _, name := range met.Plan.Processes {
		s := workerState{Process: name, State: stateNotCome}
		for _, came := range met.Came {
			if came == name {
				s.State = stateWaits
			}
		}
		if met.Start != nil && s.State == stateWaits {
			s.State = stateCame
			for _, missing := range met.Start.Missing {
				if missing == name {
					s.State = stateTooLate
				}
			}
		}
		for _, m := range all {
			if m.Process != name {
				continue
			}
			if s.Host, s.Complete, s.Reason = m.Host.Name, m.Complete, m.Reason; m.EndedNs != 0 {
				if s.State != stateTooLate {
					s.State = stateEnded
				}
			} else if s.State == stateCame {
				s.State = stateNoEnd
			}
			for i := range m.Steps {
				s.Acked += m.Steps[i].Accounting.Acked
				s.Received += m.Steps[i].Accounting.Received
			}
		}
		states = append(states, s)
	}
	return states
}

// under names a worker that may still be at work; empty where there is none.
func (e *closing) under() string {
	for _, s := range e.Workers {
		if s.State == stateNoEnd || s.State == stateCame || s.State == stateWaits {
			return s.Process
		}
	}
	return ""
}

// left says which workers did not do their part.
func (e *closing) left() error {
	var texts []string
	for _, s := range e.Workers {
		switch {
		case s.State != stateEnded:
			texts = append(texts, s.Process+" "+s.State)
		case !s.Complete:
			texts = append(texts, strings.TrimSpace(s.Process+" is not complete "+s.Reason))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; ") + ": what it did not do is in nobody's log")
}

func (e *closing) print(c *cli.Context) error {
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	t := columns.Table{Left: 3, Header: []string{"worker", "host", "state", "acked", "received"}}
	for _, s := range e.Workers {
		t.Rows = append(t.Rows, []string{s.Process, columns.Clean(s.Host), s.State, fmt.Sprint(s.Acked), fmt.Sprint(s.Received)})
	}
	if err := t.Write(c.App.Writer); err != nil {
		return err
	}
	if e.Removed {
		fmt.Fprintln(c.App.Writer, "the queue was removed")
	}
	return command.Print(c.App.Writer, "%s\n", e.Address)
}
