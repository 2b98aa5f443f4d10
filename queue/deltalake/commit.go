package deltalake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"queuebench/objectstore"
)

// committer puts versions into a log. It knows the next version, and all that
// the log holds up to it.
type committer struct {
	t     *table
	appID string
	next  int64
	event func(kind, text string)
	// seen is told of each version that is now in the log, ours or not.
	seen func(*commit)
	// opening takes another writer's commit with our AppID for the past, not
	// for our replacement.
	opening bool
}

// commit puts actions into the log as the next version, and returns which
// version it became and after how many PUTs.
//
// A conditional PUT has three answers and two silences. Stored: done. Taken
// (412), contended (409), failed (5xx), late or lost: nothing is known, since
// a response that was lost after the store had committed makes the client's
// next try find the key taken by our own bytes. So the version is read back: with
// our txnId it is a success; where there is none, the same version is tried
// again with the same bytes, so that a PUT that is still under way can at most
// make the second one find our own txnId; with another's txnId it is a real
// conflict, and the next version is tried unless the winner forbids it.
func (c *committer) commit(ctx context.Context, operation string, actions ...action) (int64, int, error) {
	return c.commitWith(ctx, operation, nil, actions...)
}

// commitWith is commit with a copy of the data file that it adds; nil for none.
func (c *committer) commitWith(ctx context.Context, operation string, inline *inlineCopy, actions ...action) (int64, int, error) {
	id := uuid.NewString()
	blind := operation == "WRITE"
	info := &commitInfo{
		Timestamp: c.t.cfg.Clock.Now() / 1e6, Operation: operation, IsBlindAppend: &blind,
		Parameters: map[string]string{}, EngineInfo: "queuebench", TxnID: id,
	}
	if blind {
		info.Parameters["mode"] = "Append"
		info.Parameters["partitionBy"] = "[]"
	}
	if inline != nil {
		info.Inline = &inline.info
	}
	actions = append([]action{{CommitInfo: info}}, actions...)
	body, err := encodeActions(nil, actions...)
	if err == nil && inline != nil {
		body, err = inline.into(body)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("deltalake: encode a commit: %w", err)
	}
	own := &commit{}
	for i := range actions {
		if err := own.take(&actions[i]); err != nil {
			return 0, 0, fmt.Errorf("deltalake: our own commit: %w", err)
		}
	}
	tries, err := c.race(ctx, id, body)
	own.version = c.next
	if err != nil {
		return own.version, tries, fmt.Errorf("deltalake: commit to table %s: %w", c.t.name, err)
	}
	c.next++
	c.seen(own)
	return own.version, tries, nil
}

func (c *committer) race(ctx context.Context, id string, body []byte) (tries int, err error) {
	deadline := time.Now().Add(c.t.cfg.RetryFor)
	conflicts, pauses := 0, 0
	ambiguous := false // a PUT of ours may have been, or may yet be, stored
	fail := func(err error) error {
		if ambiguous {
			return fmt.Errorf("%w: version %d: %w", ErrUnknownFate, c.next, err)
		}
		return fmt.Errorf("version %d: %w", c.next, err)
	}
	for {
		tries++
		putErr := c.t.put(ctx, versionKey(c.next), body, objectstore.PutOptions{IfAbsent: true, ContentType: "application/json"})
		if putErr == nil {
			return tries, nil
		}
		definite := errors.Is(putErr, objectstore.ErrFull) || errors.Is(putErr, objectstore.ErrDenied) || errors.Is(putErr, objectstore.ErrNoBucket)
		ambiguous = ambiguous || !definite && !errors.Is(putErr, objectstore.ErrExists) && !errors.Is(putErr, objectstore.ErrConflict)
		if ctx.Err() != nil {
			return tries, fail(ctx.Err())
		}
		winner, readErr := c.t.getCommit(ctx, c.next)
		switch {
		case readErr == nil && winner.info.TxnID == id:
			c.event("recovered", fmt.Sprintf("version %d was stored although its PUT failed: %v", c.next, putErr))
			return tries, nil
		case readErr == nil:
			// Whatever of ours is under way finds this version taken.
			ambiguous = false
			if err := c.yield(winner); err != nil {
				return tries, err
			}
			if conflicts++; conflicts > c.t.cfg.MaxConflicts {
				return tries, fmt.Errorf("%w: %d times up to version %d; one writer per table, or fewer", ErrTooManyConflicts, conflicts, winner.version)
			}
			c.event("conflict", fmt.Sprintf("version %d was taken by another writer", winner.version))
			c.next++
			// The longer the losing streak, the further apart the rivals.
			if err := sleep(ctx, backoff(min(conflicts/4, 3))/4); err != nil {
				return tries, err
			}
			continue
		case errors.Is(readErr, ErrCorrupt):
			return tries, fail(readErr)
		case definite:
			return tries, fail(putErr)
		}
		if time.Now().After(deadline) {
			return tries, fail(fmt.Errorf("the store failed for %v: %w", c.t.cfg.RetryFor, errors.Join(putErr, readErr)))
		}
		c.event(kindOf(putErr), fmt.Sprintf("version %d: %v", c.next, putErr))
		if err := sleep(ctx, backoff(pauses)); err != nil {
			return tries, fail(err)
		}
		pauses++
	}
}

// yield decides whether a blind append may go on behind a winner.
func (c *committer) yield(winner *commit) error {
	for _, t := range winner.txns {
		if isOurs(c.appID, t.AppID) && !c.opening {
			return fmt.Errorf("%w: version %d carries the txn %s with version %d", ErrFenced, winner.version, t.AppID, t.Version)
		}
	}
	if winner.metaData != nil {
		return fmt.Errorf("%w: version %d changed the table's metaData under this writer", ErrUnsupported, winner.version)
	}
	if winner.protocol != nil {
		if err := winner.protocol.checkWriter(); err != nil {
			return fmt.Errorf("version %d: %w", winner.version, err)
		}
	}
	c.seen(winner)
	return nil
}
