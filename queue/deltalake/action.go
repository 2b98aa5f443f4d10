package deltalake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The actions of a Delta log, as PROTOCOL.md of delta-io/delta defines them:
// one JSON object of one key per line.

type action struct {
	CommitInfo *commitInfo `json:"commitInfo,omitempty"`
	Protocol   *protocol   `json:"protocol,omitempty"`
	MetaData   *metaData   `json:"metaData,omitempty"`
	Txn        *txn        `json:"txn,omitempty"`
	Add        *addFile    `json:"add,omitempty"`
	Remove     *removeFile `json:"remove,omitempty"`
}

type commitInfo struct {
	Timestamp         int64             `json:"timestamp"` // ms since the epoch
	InCommitTimestamp int64             `json:"inCommitTimestamp,omitempty"`
	Operation         string            `json:"operation,omitempty"`
	Parameters        map[string]string `json:"operationParameters,omitempty"`
	IsBlindAppend     *bool             `json:"isBlindAppend,omitempty"`
	EngineInfo        string            `json:"engineInfo,omitempty"`
	TxnID             string            `json:"txnId,omitempty"`
	Inline            *inlineInfo       `json:"inline,omitempty"`
}

// UnmarshalJSON takes what it needs and passes over the rest: every engine
// writes what it likes into commitInfo, in types of its own.
func (c *commitInfo) UnmarshalJSON(b []byte) error {
	var fields struct {
		Timestamp         lenient[int64]       `json:"timestamp"`
		InCommitTimestamp lenient[int64]       `json:"inCommitTimestamp"`
		Operation         lenient[string]      `json:"operation"`
		IsBlindAppend     lenient[*bool]       `json:"isBlindAppend"`
		EngineInfo        lenient[string]      `json:"engineInfo"`
		TxnID             lenient[string]      `json:"txnId"`
		Inline            lenient[*inlineInfo] `json:"inline"`
	}
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*c = commitInfo{
		Timestamp: fields.Timestamp.value, InCommitTimestamp: fields.InCommitTimestamp.value, Operation: fields.Operation.value,
		IsBlindAppend: fields.IsBlindAppend.value, EngineInfo: fields.EngineInfo.value, TxnID: fields.TxnID.value,
		Inline: fields.Inline.value,
	}
	return nil
}

// lenient takes a value of its type; one of another type says nothing to us.
type lenient[T any] struct{ value T }

func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &l.value) != nil {
		l.value = *new(T)
	}
	return nil
}

type protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

type fileFormat struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

type metaData struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Format           fileFormat        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      int64             `json:"createdTime,omitempty"` // ms since the epoch
}

type txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"` // ms since the epoch
}

type addFile struct {
	Path             string             `json:"path"` // URL-encoded, relative to the table
	PartitionValues  map[string]*string `json:"partitionValues"`
	Size             int64              `json:"size"`             // bytes
	ModificationTime int64              `json:"modificationTime"` // ms since the epoch
	DataChange       bool               `json:"dataChange"`
	Stats            string             `json:"stats,omitempty"`
	DeletionVector   json.RawMessage    `json:"deletionVector,omitempty"`
}

type removeFile struct {
	Path              string          `json:"path"`
	DeletionTimestamp int64           `json:"deletionTimestamp,omitempty"`
	DataChange        bool            `json:"dataChange"`
	DeletionVector    json.RawMessage `json:"deletionVector,omitempty"`
}

// commit is a version of the log.
type commit struct {
	version  int64
	info     commitInfo
	inline   []byte // the copy of a data file, base64; it lies in the body
	protocol *protocol
	metaData *metaData
	txns     []txn
	adds     []addFile
	removes  []removeFile
}

// timestamp is when the version was made, ms since the epoch, by the clock of
// its writer; 0 where the log does not tell.
func (c *commit) timestamp() int64 {
	if c.info.InCommitTimestamp != 0 {
		return c.info.InCommitTimestamp
	}
	if c.info.Timestamp != 0 {
		return c.info.Timestamp
	}
	var latest int64
	for i := range c.adds {
		latest = max(latest, c.adds[i].ModificationTime)
	}
	return latest
}

// parseCommit parses the whole of a version before anybody sees any of it.
// Actions with names that it does not know are passed over: what matters is
// announced as a feature of the protocol, which is checked.
func parseCommit(version int64, body []byte) (*commit, error) {
	c := &commit{version: version}
	actions := 0
	for line, rest := []byte(nil), body; len(rest) > 0; {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		line, text := cutInline(line)
		if text != nil {
			c.inline = text
		}
		var a action
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("%w: action %d: %w", ErrCorrupt, actions+1, err)
		}
		actions++
		if err := c.take(&a); err != nil {
			return nil, fmt.Errorf("%w: action %d: %w", ErrCorrupt, actions, err)
		}
	}
	if actions == 0 {
		return nil, fmt.Errorf("%w: it has no action", ErrCorrupt)
	}
	return c, nil
}

func (c *commit) take(a *action) error {
	switch {
	case a.Add != nil:
		if a.Add.Path == "" || a.Add.Size < 0 {
			return errors.New("an add without a path or with a negative size")
		}
		c.adds = append(c.adds, *a.Add)
	case a.Remove != nil:
		if a.Remove.Path == "" {
			return errors.New("a remove without a path")
		}
		c.removes = append(c.removes, *a.Remove)
	case a.Txn != nil:
		c.txns = append(c.txns, *a.Txn)
	case a.CommitInfo != nil:
		c.info = *a.CommitInfo
	case a.Protocol != nil:
		c.protocol = a.Protocol
	case a.MetaData != nil:
		c.metaData = a.MetaData
	}
	return nil
}

// encode appends the actions as the body of a version.
func encodeActions(b []byte, actions ...action) ([]byte, error) {
	for i := range actions {
		line, err := json.Marshal(&actions[i])
		if err != nil {
			return nil, err
		}
		b = append(append(b, line...), '\n')
	}
	return b, nil
}
