package deltalake

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"queuebench/objectstore"
)

// snapshot is a table as of a version: the log replayed, with its removes.
type snapshot struct {
	version  int64
	protocol *protocol
	metaData *metaData
	txns     map[string]txn
	files    []addFile
	// appendsOnly: no version removed anything or added anything again.
	appendsOnly bool
	// unread are the checkpoints that could not be read, and why.
	unread []string
}

func newSnapshot() *snapshot {
	return &snapshot{version: -1, txns: map[string]txn{}, appendsOnly: true}
}

// apply takes the next version. Files are only ever appended to the slice, so
// that a clone can share it; a version that does more pays for a new one.
func (s *snapshot) apply(c *commit) {
	if c.protocol != nil {
		s.protocol = c.protocol
	}
	if c.metaData != nil {
		s.metaData = c.metaData
	}
	for _, t := range c.txns {
		s.txns[t.AppID] = t
	}
	gone := map[string]bool{}
	for i := range c.removes {
		gone[c.removes[i].Path] = true
	}
	for i := range c.adds {
		if !c.adds[i].DataChange {
			gone[c.adds[i].Path] = true // may be there under the same path
		}
	}
	if len(gone) > 0 {
		s.appendsOnly = false
		s.files = slices.DeleteFunc(slices.Clone(s.files), func(a addFile) bool { return gone[a.Path] })
	}
	s.files = append(s.files, c.adds...)
	s.version = c.version
}

// clone is a copy that does not change with the original.
func (s *snapshot) clone() *snapshot {
	c := *s
	c.txns, c.files = maps.Clone(s.txns), s.files[:len(s.files):len(s.files)]
	return &c
}

// replayParallel is how many versions are read at once.
const replayParallel = 16

// snapshot replays the log up to the newest version, from the newest
// checkpoint that can be read. A checkpoint that cannot costs time, not the
// table (delta-rs#2258): an older one is tried, and then version 0.
func (t *table) snapshot(ctx context.Context) (*snapshot, error) {
	return t.snapshotAt(ctx, math.MaxInt64)
}

// snapshotAt is snapshot up to a version, or the newest before it.
func (t *table) snapshotAt(ctx context.Context, newest int64) (*snapshot, error) {
	s := t.lastCheckpoint(ctx, newest)
	var versions []int64
	var checkpoints checkpointFiles
	err := t.listLog(ctx, s.version, func(key string) error {
		if v, ok := parseName(versionName, key); ok && v > s.version && v <= newest {
			versions = append(versions, v)
		} else if v, ok := parseName(checkpointName, key); ok && v > s.version && v <= newest {
			checkpoints = append(checkpoints, key)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("deltalake: list the log of table %s: %w", t.name, err)
	}
	slices.Sort(versions)
	var unread []string
	for _, files := range checkpoints.newestFirst() {
		newer, err := t.readCheckpoint(ctx, files)
		if err == nil {
			newer.unread, s = s.unread, newer
			break
		}
		unread = append(unread, err.Error())
	}
	s.unread = append(s.unread, unread...)
	i, _ := slices.BinarySearch(versions, s.version+1)
	if err := t.replay(ctx, s, versions[i:]); err != nil {
		return nil, fmt.Errorf("deltalake: table %s: %w", t.name, err)
	}
	switch {
	case s.version < 0:
		return nil, fmt.Errorf("deltalake: table %s has no version: %w", t.name, objectstore.ErrNotFound)
	case s.protocol == nil || s.metaData == nil:
		return nil, fmt.Errorf("deltalake: table %s: %w: no protocol or no metaData up to version %d", t.name, ErrCorrupt, s.version)
	}
	return s, nil
}

// lastCheckpoint is the state of the checkpoint that _last_checkpoint names, or
// an empty one. It spares the LIST all that is older.
func (t *table) lastCheckpoint(ctx context.Context, newest int64) *snapshot {
	var last lastCheckpointFile
	body, err := t.get(ctx, lastCheckpoint)
	if err != nil || json.Unmarshal(body, &last) != nil || last.Version < 0 || last.Version > newest {
		return newSnapshot()
	}
	s, err := t.readCheckpoint(ctx, last.files())
	if err != nil {
		s = newSnapshot()
		s.unread = append(s.unread, err.Error())
	}
	return s
}

// tellUnread tells of checkpoints that could not be read: they cost time only.
func (s *snapshot) tellUnread(event func(kind, text string)) {
	for _, text := range s.unread {
		event("checkpoint", "a checkpoint could not be read, and what is older was: "+text)
	}
	s.unread = nil
}

func (t *table) replay(ctx context.Context, s *snapshot, versions []int64) error {
	for i, v := range versions {
		if want := s.version + 1 + int64(i); v != want {
			if s.version < 0 {
				return fmt.Errorf("%w: it begins at version %d, and no checkpoint before that can be read", ErrStartTooOld, v)
			}
			return fmt.Errorf("%w: version %d is missing, %d is there", ErrGap, want, v)
		}
	}
	for part := range slices.Chunk(versions, replayParallel) {
		commits := make([]*commit, len(part))
		g, ctx := errgroup.WithContext(ctx)
		for i, v := range part {
			g.Go(func() (err error) {
				commits[i], err = t.getCommit(ctx, v)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, c := range commits {
			s.apply(c)
		}
	}
	return nil
}
