package deltalake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// What others write comes in four shapes: a classic checkpoint in one part or in
// several, and one of the feature v2Checkpoint, whose top-level file is Parquet
// or JSON, under the classic name or one with a UUID, and whose files stand in
// sidecars or in it.

// foreignCheckpointRow is checkpointRow as it may come from other writers.
type foreignCheckpointRow struct {
	Txn      *checkpointTxn      `parquet:"txn,optional"`
	Add      *foreignAdd         `parquet:"add,optional"`
	MetaData *checkpointMetaData `parquet:"metaData,optional"`
	Protocol *struct {
		MinReaderVersion int32    `parquet:"minReaderVersion"`
		MinWriterVersion int32    `parquet:"minWriterVersion"`
		ReaderFeatures   []string `parquet:"readerFeatures,list,optional"`
		WriterFeatures   []string `parquet:"writerFeatures,list,optional"`
	} `parquet:"protocol,optional"`
	CheckpointMetadata *struct {
		Version int64 `parquet:"version"`
	} `parquet:"checkpointMetadata,optional"`
	Sidecar *struct {
		Path        string `parquet:"path"`
		SizeInBytes int64  `parquet:"sizeInBytes"`
	} `parquet:"sidecar,optional"`
}

// foreignAdd is checkpointAdd with values that may be null.
type foreignAdd struct {
	Path             string             `parquet:"path"`
	PartitionValues  map[string]*string `parquet:"partitionValues"`
	Size             int64              `parquet:"size"`
	ModificationTime int64              `parquet:"modificationTime"`
	DataChange       bool               `parquet:"dataChange"`
	Stats            string             `parquet:"stats,optional"`
}

// v2Action is a line of a top-level file that is JSON.
type v2Action struct {
	action
	CheckpointMetadata *struct {
		Version int64 `json:"version"`
	} `json:"checkpointMetadata"`
	Sidecar *sidecarFile `json:"sidecar"`
}

type sidecarFile struct {
	Path        string `json:"path"`
	SizeInBytes int64  `json:"sizeInBytes"`
}

// checkpointFiles are the objects that a checkpoint consists of, or many.
type checkpointFiles []string

// files are those that a writer named.
func (l *lastCheckpointFile) files() checkpointFiles {
	switch {
	case l.V2Checkpoint != nil && l.V2Checkpoint.Path != "":
		path := l.V2Checkpoint.Path
		return checkpointFiles{logFolder + path[strings.LastIndexByte(path, '/')+1:]}
	case l.Parts > 1 && l.Parts <= maxCheckpointParts:
		var all checkpointFiles
		for i := range l.Parts {
			all = append(all, fmt.Sprintf("%s%020d.checkpoint.%010d.%010d.parquet", logFolder, l.Version, i+1, l.Parts))
		}
		return all
	}
	return checkpointFiles{checkpointKey(l.Version)}
}

// maxCheckpointParts bounds what a damaged name may ask for.
const maxCheckpointParts = 10_000

// newestFirst puts the objects of a log together to checkpoints, the newest
// first; those of one version in the order of their names. One of which a part
// is missing is none.
func (files checkpointFiles) newestFirst() []checkpointFiles {
	parts := map[string]checkpointFiles{}
	var all []checkpointFiles
	for _, key := range files {
		m := checkpointName.FindStringSubmatch(strings.TrimPrefix(key, logFolder))
		if m[2] == "" {
			all = append(all, checkpointFiles{key})
			continue
		}
		parts[m[1]+"."+m[3]] = append(parts[m[1]+"."+m[3]], key)
	}
	for name, keys := range parts {
		slices.Sort(keys)
		var n int
		if _, err := fmt.Sscanf(name[21:], "%d", &n); err == nil && n == len(keys) {
			all = append(all, keys)
		}
	}
	slices.SortFunc(all, func(a, b checkpointFiles) int {
		// Names begin with the version.
		if v, w := a[0][:len(logFolder)+20], b[0][:len(logFolder)+20]; v != w {
			return strings.Compare(w, v)
		}
		return strings.Compare(a[0], b[0])
	})
	return all
}

// checkpointState is a checkpoint that is being read.
type checkpointState struct {
	*snapshot
	isV2     bool
	sidecars []sidecarFile
}

// readCheckpoint reads a checkpoint whole, sidecars included, or not at all.
func (t *table) readCheckpoint(ctx context.Context, files checkpointFiles) (*snapshot, error) {
	s := checkpointState{snapshot: newSnapshot()}
	name := strings.TrimPrefix(files[0], logFolder)
	fail := func(err error) (*snapshot, error) { return nil, fmt.Errorf("checkpoint %s: %w", name, err) }
	version, ok := parseName(checkpointName, files[0])
	if !ok {
		return fail(fmt.Errorf("%w: that is no name of one", ErrCorrupt))
	}
	s.version = version
	for _, key := range files {
		if err := t.readCheckpointFile(ctx, key, 0, &s); err != nil {
			return fail(err)
		}
	}
	m := checkpointName.FindStringSubmatch(name)
	s.isV2 = s.isV2 || m[4] != ""
	switch {
	case s.protocol == nil || s.metaData == nil:
		return fail(fmt.Errorf("%w: it has no protocol or no metaData", ErrCorrupt))
	case s.isV2 && !slices.Contains(s.protocol.ReaderFeatures, v2Checkpoint):
		return fail(fmt.Errorf("%w: it is of version 2, and the table's protocol has no feature %s", ErrUnsupported, v2Checkpoint))
	case len(s.sidecars) > 0 && len(files) > 1:
		return fail(fmt.Errorf("%w: it has parts and sidecars", ErrCorrupt))
	}
	for _, car := range s.sidecars {
		key, err := sidecarKey(car.Path)
		if err == nil {
			err = t.readCheckpointFile(ctx, key, car.SizeInBytes, &s)
		}
		if err != nil {
			return fail(fmt.Errorf("sidecar %s: %w", car.Path, err))
		}
	}
	return s.snapshot, nil
}

// sidecarKey is the key of a sidecar. They lie in one folder, whatever its path
// says before the name.
func sidecarKey(path string) (string, error) {
	name, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%w: its path: %w", ErrCorrupt, err)
	}
	if before, last, ok := strings.Cut(name, sidecars); ok && (before == "" || strings.HasSuffix(before, "/")) {
		name = last
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\") {
		return "", fmt.Errorf("%w: it does not lie in %s of the table", ErrUnsupported, sidecars)
	}
	return sidecars + name, nil
}

// readCheckpointFile takes what one object holds; size is what it must have, 0
// where nothing says so.
func (t *table) readCheckpointFile(ctx context.Context, key string, size int64, s *checkpointState) error {
	body, err := t.get(ctx, key)
	if err != nil {
		return err
	}
	if size > 0 && int64(len(body)) != size {
		return fmt.Errorf("%w: it has %d bytes, the checkpoint says %d", ErrCorrupt, len(body), size)
	}
	inSidecar := strings.HasPrefix(key, sidecars)
	if strings.HasSuffix(key, ".json") && !inSidecar {
		return s.takeJSON(body)
	}
	return s.takeParquet(body, inSidecar)
}

func (s *checkpointState) takeJSON(body []byte) error {
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var a v2Action
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		switch {
		case a.CheckpointMetadata != nil:
			if err := s.isOf(a.CheckpointMetadata.Version); err != nil {
				return err
			}
		case a.Sidecar != nil:
			s.sidecars = append(s.sidecars, *a.Sidecar)
		case a.Txn != nil:
			s.txns[a.Txn.AppID] = *a.Txn
		case a.Protocol != nil:
			s.protocol = a.Protocol
		case a.MetaData != nil:
			s.metaData = a.MetaData
		case a.Add != nil:
			if err := s.add(*a.Add); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOf notes that the checkpoint is one of version 2, of a version of the table.
func (s *checkpointState) isOf(version int64) error {
	if s.isV2 = true; version != s.version {
		return fmt.Errorf("%w: it says that it is of version %d", ErrCorrupt, version)
	}
	return nil
}

func (s *checkpointState) add(a addFile) error {
	if a.Path == "" || a.Size < 0 {
		return fmt.Errorf("%w: an add without a path or with a negative size", ErrCorrupt)
	}
	s.files = append(s.files, a)
	return nil
}

// takeParquet takes the rows of a Parquet file: in a sidecar files alone.
func (s *checkpointState) takeParquet(body []byte, filesOnly bool) (err error) {
	defer func() {
		// parquet-go answers some corrupt files with a panic.
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: Parquet: %v", ErrCorrupt, r)
		}
	}()
	if err := checkClaims(body); err != nil {
		return fmt.Errorf("%w: Parquet: %w", ErrCorrupt, err)
	}
	rows, err := parquet.Read[foreignCheckpointRow](bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return fmt.Errorf("%w: Parquet: %w", ErrCorrupt, err)
	}
	for _, r := range rows {
		switch {
		case r.Add != nil:
			a := r.Add
			values := a.PartitionValues
			if values == nil {
				values = map[string]*string{}
			}
			err = s.add(addFile{Path: a.Path, PartitionValues: values, Size: a.Size, ModificationTime: a.ModificationTime, DataChange: a.DataChange, Stats: a.Stats})
		case filesOnly:
		case r.CheckpointMetadata != nil:
			err = s.isOf(r.CheckpointMetadata.Version)
		case r.Sidecar != nil:
			s.sidecars = append(s.sidecars, sidecarFile{r.Sidecar.Path, r.Sidecar.SizeInBytes})
		case r.Txn != nil:
			s.txns[r.Txn.AppID] = txn{r.Txn.AppID, r.Txn.Version, r.Txn.LastUpdated}
		case r.Protocol != nil:
			p := r.Protocol
			s.protocol = &protocol{int(p.MinReaderVersion), int(p.MinWriterVersion), p.ReaderFeatures, p.WriterFeatures}
		case r.MetaData != nil:
			m := r.MetaData
			s.metaData = &metaData{m.ID, m.Name, fileFormat{m.Format.Provider, m.Format.Options}, m.SchemaString, m.PartitionColumns, m.Configuration, m.CreatedTime}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkClaims checks what a Parquet file claims to hold, in all its columns.
func checkClaims(body []byte) error {
	if err := checkFooter(body); err != nil {
		return err
	}
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	meta := f.Metadata()
	for i := range meta.RowGroups {
		for k := range meta.RowGroups[i].Columns {
			if err := checkPages(body, &meta.RowGroups[i].Columns[k].MetaData); err != nil {
				return err
			}
		}
	}
	return nil
}
