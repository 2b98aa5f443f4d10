package deltalake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/objectstore"
)

// A checkpoint is the state of a table as one Parquet file, so that who opens
// it need not read all versions: here the classic one, a single part.

// checkpointRow is one action; the other fields are null.
type checkpointRow struct {
	Txn      *checkpointTxn      `parquet:"txn,optional"`
	Add      *checkpointAdd      `parquet:"add,optional"`
	MetaData *checkpointMetaData `parquet:"metaData,optional"`
	Protocol *checkpointProtocol `parquet:"protocol,optional"`
}

type checkpointTxn struct {
	AppID       string `parquet:"appId"`
	Version     int64  `parquet:"version"`
	LastUpdated int64  `parquet:"lastUpdated"`
}

type checkpointAdd struct {
	Path             string            `parquet:"path"`
	PartitionValues  map[string]string `parquet:"partitionValues"`
	Size             int64             `parquet:"size"`
	ModificationTime int64             `parquet:"modificationTime"`
	DataChange       bool              `parquet:"dataChange"`
	Stats            string            `parquet:"stats,optional"`
}

type checkpointFormat struct {
	Provider string            `parquet:"provider"`
	Options  map[string]string `parquet:"options"`
}

type checkpointMetaData struct {
	ID               string            `parquet:"id"`
	Name             string            `parquet:"name,optional"`
	Format           checkpointFormat  `parquet:"format"`
	SchemaString     string            `parquet:"schemaString"`
	PartitionColumns []string          `parquet:"partitionColumns,list"`
	Configuration    map[string]string `parquet:"configuration"`
	CreatedTime      int64             `parquet:"createdTime,optional"`
}

type checkpointProtocol struct {
	MinReaderVersion int32 `parquet:"minReaderVersion"`
	MinWriterVersion int32 `parquet:"minWriterVersion"`
}

// lastCheckpointFile is the object _last_checkpoint.
type lastCheckpointFile struct {
	Version       int64 `json:"version"`
	Size          int64 `json:"size"` // actions
	SizeInBytes   int64 `json:"sizeInBytes,omitempty"`
	NumOfAddFiles int64 `json:"numOfAddFiles,omitempty"`
	// Of others: in how many parts the checkpoint is, or where its top-level
	// file lies. What is not in here is found by its name.
	Parts        int64 `json:"parts,omitempty"`
	V2Checkpoint *struct {
		Path string `json:"path"`
	} `json:"v2Checkpoint,omitempty"`
}

// rows are the actions that the state consists of.
func (s *snapshot) rows() []checkpointRow {
	m, p := s.metaData, s.protocol
	rows := make([]checkpointRow, 0, len(s.files)+len(s.txns)+2)
	rows = append(rows,
		checkpointRow{Protocol: &checkpointProtocol{int32(p.MinReaderVersion), int32(p.MinWriterVersion)}},
		checkpointRow{MetaData: &checkpointMetaData{
			ID: m.ID, Name: m.Name, Format: checkpointFormat{m.Format.Provider, m.Format.Options}, SchemaString: m.SchemaString,
			PartitionColumns: m.PartitionColumns, Configuration: m.Configuration, CreatedTime: m.CreatedTime,
		}})
	for _, t := range s.txns {
		rows = append(rows, checkpointRow{Txn: &checkpointTxn{t.AppID, t.Version, t.LastUpdated}})
	}
	for i := range s.files {
		a := &s.files[i]
		// In a checkpoint dataChange is false: the change was before.
		rows = append(rows, checkpointRow{Add: &checkpointAdd{Path: a.Path, PartitionValues: map[string]string{}, Size: a.Size, ModificationTime: a.ModificationTime, Stats: a.Stats}})
	}
	return rows
}

// writeCheckpoint stores a checkpoint, and then tells of it in
// _last_checkpoint.
func (t *table) writeCheckpoint(ctx context.Context, s *snapshot) error {
	rows := s.rows()
	var file bytes.Buffer
	// PLAIN, in pages of version 1: of the encoding that parquet-go prefers for
	// strings, DELTA_LENGTH_BYTE_ARRAY, Spark 3.5 reads empty ones where a column
	// has nulls, and then cannot open the table.
	w := parquet.NewGenericWriter[checkpointRow](&file, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("queuebench", "1", ""),
		parquet.DataPageVersion(1), parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain))
	if _, err := w.Write(rows); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if err := t.put(ctx, checkpointKey(s.version), file.Bytes(), objectstore.PutOptions{}); err != nil {
		return err
	}
	last, err := json.Marshal(lastCheckpointFile{Version: s.version, Size: int64(len(rows)), SizeInBytes: int64(file.Len()), NumOfAddFiles: int64(len(s.files))})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return t.put(ctx, lastCheckpoint, last, objectstore.PutOptions{ContentType: "application/json"})
}

// checkpointer keeps the state of the log as its writer sees it, and writes
// checkpoints of it in the background.
type checkpointer struct {
	t     *table
	state *snapshot
	last  int64     // version of the last checkpoint
	at    time.Time // when it was begun
	busy  *atomic.Bool
}

func newCheckpointer(t *table, s *snapshot) checkpointer {
	return checkpointer{t: t, state: s, last: s.version, at: time.Now(), busy: new(atomic.Bool)}
}

func (c *checkpointer) seen(v *commit) { c.state.apply(v) }

// maybe begins a checkpoint if one is due. One that fails costs nothing but
// time later, so it is told of and not tried again before the next is due.
func (c *checkpointer) maybe(ctx context.Context, wg *sync.WaitGroup, event func(kind, text string)) {
	cfg := c.t.cfg
	due := cfg.CheckpointCommits > 0 && c.state.version-c.last >= cfg.CheckpointCommits && time.Since(c.at) >= cfg.CheckpointInterval
	// What this package does not write it does not checkpoint: tombstones,
	// features, partitions.
	own := c.state.appendsOnly && c.state.protocol.MinReaderVersion == 1 && c.state.protocol.MinWriterVersion <= 2 && len(c.state.metaData.PartitionColumns) == 0
	if !due || !own || !c.busy.CompareAndSwap(false, true) {
		return
	}
	c.last, c.at = c.state.version, time.Now()
	s := c.state.clone()
	write := func() {
		defer c.busy.Store(false)
		begun := time.Now()
		if err := c.t.writeCheckpoint(ctx, s); err != nil {
			event("checkpoint", fmt.Sprintf("the checkpoint of version %d failed, readers will read more versions: %v", s.version, err))
			return
		}
		event("checkpoint", fmt.Sprintf("version %d, %d files, in %v", s.version, len(s.files), time.Since(begun).Round(time.Millisecond)))
	}
	if cfg.Design == AsPathway {
		write()
		return
	}
	wg.Go(write)
}
