package deltalake

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
)

// snapshot is a table as of a version: the log replayed, with its removes.
type snapshot struct {
	version  int64
	protocol *protocol
	metaData *metaData
	txns     map[string]txn
	files    map[string]addFile // by path
}

func newSnapshot() *snapshot {
	return &snapshot{version: -1, txns: map[string]txn{}, files: map[string]addFile{}}
}

// apply takes the next version.
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
	for _, r := range c.removes {
		delete(s.files, r.Path)
	}
	for _, a := range c.adds {
		s.files[a.Path] = a
	}
	s.version = c.version
}

// clone is a copy that does not change with the original.
func (s *snapshot) clone() *snapshot {
	c := *s
	c.txns, c.files = maps.Clone(s.txns), maps.Clone(s.files)
	return &c
}

// replayParallel is how many versions are read at once.
const replayParallel = 16

// snapshot replays the log up to the newest version, from the newest
// checkpoint that can be read. A checkpoint that cannot costs time, not the
// table (delta-rs#2258): an older one is tried, and then version 0.
func (t *table) snapshot(ctx context.Context) (*snapshot, error) {
	var versions, checkpoints []int64
	err := t.listLog(ctx, -1, func(key string) error {
		if v, ok := parseName(versionName, key); ok {
			versions = append(versions, v)
		} else if v, ok := parseName(checkpointName, key); ok {
			checkpoints = append(checkpoints, v)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("deltalake: list the log of table %s: %w", t.name, err)
	}
	slices.Sort(versions)
	slices.Sort(checkpoints)
	s := newSnapshot()
	for _, v := range slices.Backward(checkpoints) {
		if from, err := t.readCheckpoint(ctx, v); err == nil {
			s = from
			break
		}
	}
	i, _ := slices.BinarySearch(versions, s.version+1)
	if err := t.replay(ctx, s, versions[i:]); err != nil {
		return nil, fmt.Errorf("deltalake: table %s: %w", t.name, err)
	}
	switch {
	case s.version < 0:
		return nil, fmt.Errorf("deltalake: table %s has no version", t.name)
	case s.protocol == nil || s.metaData == nil:
		return nil, fmt.Errorf("deltalake: table %s: %w: no protocol or no metaData up to version %d", t.name, ErrCorrupt, s.version)
	}
	return s, nil
}

func (t *table) replay(ctx context.Context, s *snapshot, versions []int64) error {
	for i, v := range versions {
		if want := s.version + 1 + int64(i); v != want {
			if s.version < 0 && i == 0 {
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
