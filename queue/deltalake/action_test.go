package deltalake

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestActionsRoundTrip(t *testing.T) {
	blind := true
	value := "x"
	actions := []action{
		{CommitInfo: &commitInfo{Timestamp: 5, Operation: "WRITE", IsBlindAppend: &blind, EngineInfo: "e", TxnID: "id", Parameters: map[string]string{}}},
		{Protocol: &protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"a"}, WriterFeatures: []string{"a", "b"}}},
		{MetaData: &metaData{ID: "i", Format: fileFormat{"parquet", map[string]string{}}, SchemaString: "{}", PartitionColumns: []string{"p"}, Configuration: map[string]string{"k": "v"}}},
		{Txn: &txn{AppID: "app", Version: 7}},
		{Add: &addFile{Path: "a%20b", PartitionValues: map[string]*string{"p": &value, "q": nil}, Size: 1, ModificationTime: 2, DataChange: true, Stats: `{"numRecords":1}`}},
		{Remove: &removeFile{Path: "c", DeletionTimestamp: 3, DataChange: true}},
	}
	body, err := encodeActions(nil, actions...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCommit(4, body)
	if err != nil {
		t.Fatal(err)
	}
	info := *actions[0].CommitInfo
	info.Parameters = nil // nobody reads them
	want := &commit{version: 4, info: info, protocol: actions[1].Protocol, metaData: actions[2].MetaData, txns: []txn{*actions[3].Txn}, adds: []addFile{*actions[4].Add}, removes: []removeFile{*actions[5].Remove}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("parsed %+v\nwritten %+v", c, want)
	}
}

// What version 0 and a commit look like, as the protocol asks: only its action
// names, and stats as a string.
func TestCommitIsWhatTheProtocolAsks(t *testing.T) {
	store := folder(t)
	q := open(t, Config{Store: store, Name: "table", Schema: Pathway})
	l := newLoad(t, q, 1)
	if err := l.send(deadline(t), 0, 3, 0); err != nil {
		t.Fatal(err)
	}
	for v, names := range [][]string{{"commitInfo", "protocol", "metaData"}, {"commitInfo", "txn", "add"}} {
		body, _, err := store.Get(t.Context(), "table/"+versionKey(int64(v)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(body)) {
			var m map[string]map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil || len(m) != 1 {
				t.Fatalf("version %d: a line is not an object of one key: %v: %s", v, err, line)
			}
			for name, fields := range m {
				got = append(got, name)
				switch name {
				case "add":
					if fields["stats"] != `{"numRecords":3}` || fields["dataChange"] != true || fields["partitionValues"] == nil {
						t.Errorf("add: %v", fields)
					}
				case "metaData":
					configuration := fields["configuration"].(map[string]any)
					if configuration["delta.appendOnly"] != "true" || configuration["delta.enableExpiredLogCleanup"] != "false" {
						t.Errorf("configuration: %v", configuration)
					}
					if s := fields["schemaString"].(string); !strings.Contains(s, `"name":"diff","type":"long","nullable":false`) {
						t.Errorf("schema: %s", s)
					}
				case "commitInfo":
					if fields["timestamp"].(float64) == 0 || fields["txnId"] == "" {
						t.Errorf("commitInfo: %v", fields)
					}
				}
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("version %d has the actions %v, expected %v", v, got, names)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte(protocolLine + "\n" + metaDataLine + "\n"))
	f.Add([]byte(`{"commitInfo":{"timestamp":"today","operationParameters":{"x":[1]}}}`))
	f.Add([]byte(`{"add":{"path":"a","size":-1}}`))
	f.Add([]byte(`{"add":{"path":"a%zz","partitionValues":{"p":null},"size":9,"dataChange":true}}` + "\n\n" + `{"remove":{"path":"b","dataChange":true}}`))
	f.Add([]byte(`{"txn":{"appId":"a","version":9223372036854775807}}`))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"protocol":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := parseCommit(1, body)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		_ = c.checkQueue()
		_ = c.timestamp()
		if c.protocol != nil {
			_ = c.protocol.checkWriter()
		}
		if c.metaData != nil {
			_, _ = c.metaData.payload("data")
		}
		for _, a := range c.adds {
			if key, err := dataKey(a.Path); err == nil && (key == "" || strings.HasPrefix(key, "/") || slices.Contains(strings.Split(key, "/"), "..")) {
				t.Errorf("the path %q became the key %q", a.Path, key)
			}
		}
	})
}
