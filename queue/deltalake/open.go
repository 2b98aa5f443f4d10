package deltalake

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"queuebench/objectstore"
)

// errStop ends a LIST early.
var errStop = errors.New("stop")

// exists says whether the log has any version: not only version 0, which a
// clean-up may have taken away, so that making it anew would ruin the table.
func (t *table) exists(ctx context.Context) (bool, error) {
	err := t.listLog(ctx, -1, func(key string) error {
		if _, ok := parseName(versionName, key); ok {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

// openForWriting makes version 0, or takes up the table that is there, and
// returns what the log holds, and whether this call made the table.
func (t *table) openForWriting(ctx context.Context, event func(kind, text string)) (_ *snapshot, created bool, err error) {
	var there bool
	_, err = t.retry(ctx, "LIST of the log of table "+t.name, event, func() (err error) {
		there, err = t.exists(ctx)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("deltalake: open table %s: %w", t.name, err)
	}
	if there {
		s, err := t.takeUp(ctx)
		return s, false, err
	}
	schema, err := t.cfg.Schema.schemaString(t.cfg.Column)
	if err != nil {
		return nil, false, fmt.Errorf("deltalake: schema: %w", err)
	}
	now := t.cfg.Clock.Now() / 1e6
	id := uuid.NewString()
	appends := false
	body, err := encodeActions(nil,
		action{CommitInfo: &commitInfo{Timestamp: now, Operation: "CREATE TABLE", Parameters: map[string]string{}, IsBlindAppend: &appends, EngineInfo: "queuebench", TxnID: id}},
		action{Protocol: &protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		action{MetaData: &metaData{
			ID: uuid.NewString(), Format: fileFormat{Provider: "parquet", Options: map[string]string{}}, SchemaString: schema,
			PartitionColumns: []string{}, CreatedTime: now,
			// Clean-up would take versions from under a reader.
			Configuration: map[string]string{"delta.appendOnly": "true", "delta.enableExpiredLogCleanup": "false"},
		}})
	if err != nil {
		return nil, false, fmt.Errorf("deltalake: encode version 0: %w", err)
	}
	var existing bool
	_, err = t.retry(ctx, "version 0 of table "+t.name, event, func() error {
		putErr := t.put(ctx, versionKey(0), body, objectstore.PutOptions{IfAbsent: true, ContentType: "application/json"})
		if putErr == nil {
			return nil
		}
		there, err := t.getCommit(ctx, 0)
		switch {
		case err == nil:
			existing = there.info.TxnID != id
			return nil
		case errors.Is(err, objectstore.ErrNotFound):
			return putErr // nothing was stored: again
		}
		return errors.Join(putErr, err)
	})
	if err != nil {
		return nil, false, fmt.Errorf("deltalake: create table %s: %w", t.name, err)
	}
	if existing {
		s, err := t.takeUp(ctx)
		return s, false, err
	}
	first, err := parseCommit(0, body)
	if err != nil {
		return nil, false, fmt.Errorf("deltalake: our own version 0: %w", err)
	}
	s := newSnapshot()
	s.apply(first)
	return s, true, nil
}

// takeUp checks that a table that is there can be appended to.
func (t *table) takeUp(ctx context.Context) (*snapshot, error) {
	s, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	refuse := func(err error) (*snapshot, error) {
		return nil, fmt.Errorf("deltalake: append to table %s: %w", t.name, err)
	}
	if err := s.protocol.checkWriter(); err != nil {
		return refuse(err)
	}
	if err := s.metaData.checkTable(); err != nil {
		return refuse(err)
	}
	if len(s.metaData.PartitionColumns) > 0 {
		return refuse(fmt.Errorf("%w: partition columns %v", ErrUnsupported, s.metaData.PartitionColumns))
	}
	has, err := parseSchema(s.metaData.SchemaString)
	if err != nil {
		return refuse(err)
	}
	want := columns{t.cfg.Column: "binary"}
	if t.cfg.Schema == Pathway {
		want[timeColumn], want[diffColumn] = "long", "long"
	}
	if !maps.Equal(has, want) {
		return refuse(fmt.Errorf("%w: it has the columns %s, this writer's are %s", ErrUnsupported, has, want))
	}
	return s, nil
}
