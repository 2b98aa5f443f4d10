package deltalake

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
)

// Config is what a Delta queue is made of. Only Store and Name are required.
type Config struct {
	Store objectstore.Store
	// Name is the table's prefix in the store. One partition is the table
	// Name/, several are the tables Name/p=0/, Name/p=1/, …
	Name       string
	Partitions int // 1 if 0

	// CommitInterval is T, the period of the commit timer, and what a reader
	// expects between versions. 100 ms if 0.
	CommitInterval time.Duration
	// Phase is where in the interval the timer of a writer fires, from 0 up to
	// T, if FixedPhase is set. Otherwise it is random for each writer. Either
	// way the event "phase" tells it.
	Phase      time.Duration
	FixedPhase bool
	// Tuned is told as the event "tuned", if it is not empty: how the
	// intervals were chosen.
	Tuned string
	// PollInterval is δ, the reader's pause after a miss. 5 ms if 0.
	PollInterval time.Duration
	// A batch is cut before the timer at BatchBytes (of payload, 16 MiB if 0)
	// or BatchMessages (1,000,000 if 0).
	BatchBytes    int64
	BatchMessages int
	// InlineBytes is up to which size a data file is copied into its commit, too,
	// so that a reader saves the GET of it. 0 for none, at most MaxInlineBytes.
	InlineBytes int64
	// MaxPending is how many bytes of payload a partition's writer holds that
	// are not committed yet; Send waits beyond it. 64 MiB if 0.
	MaxPending int64
	// Pipeline is how many batches are under way at once, from the PUT of
	// their data to the end of their commit. 1 is a serial writer; 4 if 0.
	Pipeline int
	// ReadAhead is how many commits a reader fetches ahead of Receive. 8 if 0.
	ReadAhead int

	Design Design // Thin if empty
	Schema Schema // DataOnly if empty
	// Column holds the payload. "data" if empty.
	Column string
	Codec  Codec // None if empty
	// Stamp is what deliveries carry as the broker's stamp; nil for none.
	Stamp *Stamp
	// ReadOnly: nothing is ever written, and the store is not asked whether it
	// could take it. A table of others is tailed so.
	ReadOnly bool

	// AppID names the queue's producers, together with their IDs, in the log's
	// txn actions, and lets them be restarted: a producer that is opened again
	// under the same AppID and ID is handed the same messages in the same
	// order from the first on, and those that are in the table are
	// acknowledged and not written again. Of two live writers with one AppID
	// the one that was opened later goes on, and the other one ends with
	// ErrFenced. Letters, digits, ".", "_" and "-"; without one nothing can be
	// resumed.
	AppID string

	// HedgeAfter is after which time a consumer's GET of a version or a data
	// file is made once more, the first answer counting. 0 for never.
	HedgeAfter time.Duration
	// RequestTimeout ends one request to the store. 15 s if 0.
	RequestTimeout time.Duration
	// RetryFor is how long a request is tried again before the producer or
	// consumer gives up. 90 s if 0: a store that is gone for a minute is waited for.
	RetryFor time.Duration
	// MaxConflicts is how many versions in a row a commit may lose to other
	// writers. 100 if 0.
	MaxConflicts int
	// GapAfter is the silence after which one LIST looks for a gap. 1 s if 0.
	GapAfter time.Duration
	// CloseGrace is how long Close waits for requests under way. 1 s if 0.
	CloseGrace time.Duration
	// Checkpoints are written at most every CheckpointCommits versions (1,000
	// if 0, none if negative) and every CheckpointInterval (60 s if 0).
	CheckpointCommits  int64
	CheckpointInterval time.Duration

	// Clock stamps commits; nil for a new one.
	Clock *clock.Clock

	// runtimeTimers waits with the runtime's timers only, which testing/synctest
	// needs.
	runtimeTimers bool
}

// Codec compresses the pages of data files.
type Codec string

// The codecs.
const (
	None   Codec = "none"
	Snappy Codec = "snappy"
	Zstd   Codec = "zstd"
)

// The largest values that Config takes. A reader refuses larger files, see
// maxPageBytes and maxFileRows; a pipeline has a slot of memory for each batch.
const (
	MaxBatchBytes    = maxPageBytes / 2
	MaxBatchMessages = maxFileRows
	MaxPipeline      = 1024
)

func (c Config) withDefaults() (Config, error) {
	orDefault(&c.Design, Thin)
	if c.Design == AsPathway {
		c.asPathway()
	}
	orDefault(&c.Partitions, 1)
	orDefault(&c.CommitInterval, 100*time.Millisecond)
	orDefault(&c.PollInterval, 5*time.Millisecond)
	orDefault(&c.BatchBytes, 16<<20)
	orDefault(&c.BatchMessages, 1_000_000)
	orDefault(&c.MaxPending, 64<<20)
	orDefault(&c.Pipeline, 4)
	orDefault(&c.ReadAhead, 8)
	orDefault(&c.Schema, DataOnly)
	orDefault(&c.Column, "data")
	orDefault(&c.Codec, None)
	orDefault(&c.RequestTimeout, 15*time.Second)
	orDefault(&c.RetryFor, 90*time.Second)
	orDefault(&c.MaxConflicts, 100)
	orDefault(&c.GapAfter, time.Second)
	orDefault(&c.CloseGrace, time.Second)
	orDefault(&c.CheckpointCommits, 1000)
	orDefault(&c.CheckpointInterval, time.Minute)
	if c.Clock == nil {
		c.Clock = clock.New()
	}
	return c, c.check()
}

var appIDs = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)

// CheckAppID refuses what Config.AppID does not take.
func CheckAppID(id string) error {
	if !appIDs.MatchString(id) {
		return fmt.Errorf("deltalake: the AppID %q is not of letters, digits, \".\", \"_\" and \"-\"", id)
	}
	return nil
}

func orDefault[T comparable](v *T, d T) {
	if *v == *new(T) {
		*v = d
	}
}

func (c *Config) check() error {
	if c.Store == nil {
		return errors.New("deltalake: no store was given")
	}
	name := strings.Trim(c.Name, "/")
	if name == "" || name != c.Name {
		return fmt.Errorf("deltalake: the table's name %q must not be empty, nor begin or end with a slash", c.Name)
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Partitions", int64(c.Partitions)}, {"CommitInterval", int64(c.CommitInterval)}, {"PollInterval", int64(c.PollInterval)},
		{"BatchBytes", c.BatchBytes}, {"BatchMessages", int64(c.BatchMessages)}, {"MaxPending", c.MaxPending},
		{"Pipeline", int64(c.Pipeline)}, {"ReadAhead", int64(c.ReadAhead)}, {"RequestTimeout", int64(c.RequestTimeout)},
		{"RetryFor", int64(c.RetryFor)}, {"MaxConflicts", int64(c.MaxConflicts)}, {"GapAfter", int64(c.GapAfter)},
		{"CloseGrace", int64(c.CloseGrace)}, {"CheckpointInterval", int64(c.CheckpointInterval)},
	} {
		if n.value < 1 {
			return fmt.Errorf("deltalake: %s is %d, it must be positive", n.name, n.value)
		}
	}
	for _, n := range []struct {
		name       string
		value, max int64
	}{
		{"BatchBytes", c.BatchBytes, MaxBatchBytes}, {"BatchMessages", int64(c.BatchMessages), MaxBatchMessages},
		{"MaxPending", c.MaxPending, 1 << 40}, {"Pipeline", int64(c.Pipeline), MaxPipeline}, {"ReadAhead", int64(c.ReadAhead), MaxPipeline},
	} {
		if n.value > n.max {
			return fmt.Errorf("deltalake: %s is %d, it is at most %d", n.name, n.value, n.max)
		}
	}
	if c.InlineBytes < 0 || c.InlineBytes > MaxInlineBytes {
		return fmt.Errorf("deltalake: InlineBytes is %d, it is between 0 and %d", c.InlineBytes, MaxInlineBytes)
	}
	if c.InlineBytes > 0 && c.Design == AsPathway {
		return fmt.Errorf("deltalake: the design %q copies no data file into its commits", AsPathway)
	}
	switch {
	case c.HedgeAfter < 0:
		return fmt.Errorf("deltalake: HedgeAfter is %v, it cannot be negative", c.HedgeAfter)
	case c.HedgeAfter > 0 && c.Design == AsPathway:
		return fmt.Errorf("deltalake: the design %q hedges no request", AsPathway)
	}
	if c.FixedPhase && (c.Phase < 0 || c.Phase >= c.CommitInterval) {
		return fmt.Errorf("deltalake: the phase %v lies outside the commit interval %v", c.Phase, c.CommitInterval)
	}
	if c.Design != Thin && c.Design != AsPathway {
		return fmt.Errorf("deltalake: unknown design %q, there are %q and %q", c.Design, Thin, AsPathway)
	}
	if c.Schema != DataOnly && c.Schema != Pathway {
		return fmt.Errorf("deltalake: unknown schema %q, there are %q and %q", c.Schema, DataOnly, Pathway)
	}
	if c.Schema == Pathway && c.Column != "data" {
		return fmt.Errorf("deltalake: the schema %q has its payload in the column \"data\", not %q", Pathway, c.Column)
	}
	if err := CheckAppID(c.AppID); err != nil {
		return err
	}
	if c.Stamp != nil {
		if err := c.Stamp.check(); err != nil {
			return err
		}
	}
	_, err := c.Codec.compress()
	return err
}
