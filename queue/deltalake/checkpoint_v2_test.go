package deltalake

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"queuebench/queue"
)

const (
	v2Protocol = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint","appendOnly"]}}`
	uuidName   = "80a083e8-7026-4e79-81be-64bd76c43a11"
)

// v2Table is a table of 10 versions, one file each, of which the log holds those
// from 6 on: what is before stands in checkpoints only.
func v2Table(t testing.TB, protocolLine string) (*byHand, Config, []foreignCheckpointRow) {
	h, cfg := handTable(t)
	cfg.ReadOnly = true
	h.version(0, protocolLine, metaDataLine)
	c, err := parseCommit(0, []byte(protocolLine+"\n"+metaDataLine))
	if err != nil {
		t.Fatal(err)
	}
	var rows []foreignCheckpointRow
	rows = append(rows, foreignCheckpointRow{Txn: &checkpointTxn{"app", 5, 1}})
	p := foreignCheckpointRow{}
	p.Protocol = &struct {
		MinReaderVersion int32    `parquet:"minReaderVersion"`
		MinWriterVersion int32    `parquet:"minWriterVersion"`
		ReaderFeatures   []string `parquet:"readerFeatures,list,optional"`
		WriterFeatures   []string `parquet:"writerFeatures,list,optional"`
	}{int32(c.protocol.MinReaderVersion), int32(c.protocol.MinWriterVersion), c.protocol.ReaderFeatures, c.protocol.WriterFeatures}
	m := c.metaData
	rows = append(rows, p, foreignCheckpointRow{MetaData: &checkpointMetaData{ID: m.ID, Format: checkpointFormat{Provider: "parquet"}, SchemaString: m.SchemaString}})
	for v := int64(1); v < 10; v++ {
		key := fmt.Sprintf("%d.parquet", v)
		add := h.data(key, key, true, fmt.Sprint(v))
		h.version(v, add)
		if c, err = parseCommit(v, []byte(add)); err != nil {
			t.Fatal(err)
		}
		if v <= 6 {
			rows = append(rows, foreignCheckpointRow{Add: &foreignAdd{Path: key, Size: c.adds[0].Size, ModificationTime: 1}})
		}
	}
	return h, cfg, rows
}

// forget removes the versions before 6.
func (h *byHand) forget() {
	for v := range int64(6) {
		if err := h.store.Delete(h.t.Context(), versionKey(v)); err != nil {
			h.t.Fatal(err)
		}
	}
}

func parquetOf(t testing.TB, rows []foreignCheckpointRow) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows, parquet.Compression(&parquet.Snappy)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// jsonOf is the same as lines.
func jsonOf(rows []foreignCheckpointRow) string {
	var b strings.Builder
	for _, r := range rows {
		switch {
		case r.CheckpointMetadata != nil:
			fmt.Fprintf(&b, `{"checkpointMetadata":{"version":%d}}`, r.CheckpointMetadata.Version)
		case r.Sidecar != nil:
			fmt.Fprintf(&b, `{"sidecar":{"path":%q,"sizeInBytes":%d,"modificationTime":1}}`, r.Sidecar.Path, r.Sidecar.SizeInBytes)
		case r.Txn != nil:
			fmt.Fprintf(&b, `{"txn":{"appId":%q,"version":%d,"lastUpdated":1}}`, r.Txn.AppID, r.Txn.Version)
		case r.Protocol != nil:
			b.WriteString(v2Protocol)
		case r.MetaData != nil:
			b.WriteString(metaDataLine)
		case r.Add != nil:
			fmt.Fprintf(&b, `{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":1,"dataChange":false}}`, r.Add.Path, r.Add.Size)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func ofVersion(v int64) foreignCheckpointRow {
	var r foreignCheckpointRow
	r.CheckpointMetadata = &struct {
		Version int64 `parquet:"version"`
	}{v}
	return r
}

func sidecarRow(path string, size int) foreignCheckpointRow {
	var r foreignCheckpointRow
	r.Sidecar = &struct {
		Path        string `parquet:"path"`
		SizeInBytes int64  `parquet:"sizeInBytes"`
	}{path, int64(size)}
	return r
}

// inSidecars puts the files of rows into two sidecars and returns the rest.
func (h *byHand) inSidecars(rows []foreignCheckpointRow, paths ...string) []foreignCheckpointRow {
	var files, rest []foreignCheckpointRow
	for _, r := range rows {
		if r.Add != nil {
			files = append(files, r)
		} else {
			rest = append(rest, r)
		}
	}
	for i, part := range [][]foreignCheckpointRow{files[:2], files[2:]} {
		body := parquetOf(h.t, part)
		put(h.t, h.store, sidecars+fmt.Sprintf("car %d.parquet", i), body)
		rest = append(rest, sidecarRow(fmt.Sprintf(paths[i], i), len(body)))
	}
	return rest
}

// Each shape of a checkpoint that others write is read, by who opens the table
// and by who joins late; the log alone would not be enough.
func TestCheckpointsOfOthers(t *testing.T) {
	name := fmt.Sprintf("%s%020d.checkpoint", logFolder, 6)
	plain := []string{"car%%20%d.parquet", "car%%20%d.parquet"}
	absolute := []string{"s3://bucket/table/_delta_log/_sidecars/car%%20%d.parquet", "_delta_log/_sidecars/car%%20%d.parquet"}
	for shape, write := range map[string]func(h *byHand, rows []foreignCheckpointRow){
		"classic": func(h *byHand, rows []foreignCheckpointRow) { put(t, h.store, name+".parquet", parquetOf(t, rows)) },
		"parts": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+".0000000001.0000000002.parquet", parquetOf(t, rows[:4]))
			put(t, h.store, name+".0000000002.0000000002.parquet", parquetOf(t, rows[4:]))
		},
		"parts that _last_checkpoint names": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+".0000000001.0000000002.parquet", parquetOf(t, rows[:4]))
			put(t, h.store, name+".0000000002.0000000002.parquet", parquetOf(t, rows[4:]))
			put(t, h.store, lastCheckpoint, `{"version":6,"size":9,"parts":2}`)
		},
		"v2 Parquet": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(rows, ofVersion(6))))
		},
		"v2 under the classic name": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+".parquet", parquetOf(t, append(h.inSidecars(rows, plain...), ofVersion(6))))
		},
		"v2 Parquet, sidecars": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(h.inSidecars(rows, absolute...), ofVersion(6))))
		},
		"v2 JSON": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".json", jsonOf(append(rows, ofVersion(6))))
		},
		"v2 JSON, sidecars, named": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".json", jsonOf(append(h.inSidecars(rows, plain...), ofVersion(6))))
			put(t, h.store, lastCheckpoint, `{"version":6,"size":9,"v2Checkpoint":{"path":"`+strings.TrimPrefix(name, logFolder)+"."+uuidName+`.json","sizeInBytes":1}}`)
		},
	} {
		t.Run(shape, func(t *testing.T) {
			h, cfg, rows := v2Table(t, v2Protocol)
			write(h, rows)
			h.forget()
			tb := open(t, cfg).tables[0]
			s, err := tb.snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, f := range s.files {
				files = append(files, f.Path)
			}
			if want := "1 2 3 4 5 6 7 8 9"; strings.ReplaceAll(strings.Join(files, " "), ".parquet", "") != want || s.version != 9 || s.txns["app"].Version != 5 || len(s.unread) > 0 {
				t.Errorf("version %d, files %q, %+v, unread %q", s.version, files, s.txns, s.unread)
			}
			got, err := received(t, cfg, queue.Start{Kind: queue.StartOffset, Offset: 8})
			check(t, got, err, "8", "9")
		})
	}
}

// A checkpoint of version 2 that cannot be believed is passed over, for an older
// one and in the end for version 0, and that is told.
func TestBadV2CheckpointsAreFallenBackFrom(t *testing.T) {
	name := fmt.Sprintf("%s%020d.checkpoint", logFolder, 6)
	plain := []string{"car%%20%d.parquet", "car%%20%d.parquet"}
	for says, write := range map[string]func(h *byHand, rows []foreignCheckpointRow){
		"of version 7": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".json", jsonOf(append(rows, ofVersion(7))))
		},
		"the checkpoint says 1": func(h *byHand, rows []foreignCheckpointRow) {
			rest := h.inSidecars(rows, plain...)
			rest[len(rest)-1].Sidecar.SizeInBytes = 1
			put(t, h.store, name+"."+uuidName+".json", jsonOf(append(rest, ofVersion(6))))
		},
		"no such object": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".json", jsonOf(append(rows, ofVersion(6), sidecarRow("absent.parquet", 7))))
		},
		"does not lie in": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(rows, ofVersion(6), sidecarRow("../../x.parquet", 7))))
		},
		"no protocol or no metaData": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(rows[:1:1], ofVersion(6))))
		},
		"invalid character": func(h *byHand, rows []foreignCheckpointRow) {
			put(t, h.store, name+"."+uuidName+".json", jsonOf(rows)+"rubbish\n")
		},
		"does not end as a Parquet file": func(h *byHand, rows []foreignCheckpointRow) {
			rest := h.inSidecars(rows, plain...)
			put(t, h.store, sidecars+"car 0.parquet", strings.Repeat("x", int(rest[len(rest)-2].Sidecar.SizeInBytes)))
			put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(rest, ofVersion(6))))
		},
		"": func(h *byHand, rows []foreignCheckpointRow) { // a part is missing: it is none
			put(t, h.store, name+".0000000001.0000000002.parquet", parquetOf(t, rows))
		},
	} {
		t.Run(says, func(t *testing.T) {
			h, cfg, rows := v2Table(t, v2Protocol)
			write(h, slices.Clone(rows))
			tb := open(t, cfg).tables[0]
			s, err := tb.snapshot(t.Context())
			if err != nil || len(s.files) != 9 || s.version != 9 {
				t.Fatalf("%v, %+v", err, s)
			}
			if text := strings.Join(s.unread, "; "); !strings.Contains(text, says) || (says == "") != (text == "") {
				t.Errorf("it was passed over for %q, expected %q", text, says)
			}
			// An older one is taken in its place.
			older := fmt.Sprintf("%s%020d.checkpoint.parquet", logFolder, 3)
			put(t, h.store, older, parquetOf(t, rows[:6]))
			f, faults := withFaults(cfg.Store)
			cfg.Store = f
			if s, err := open(t, cfg).tables[0].snapshot(t.Context()); err != nil || len(s.files) != 9 {
				t.Errorf("with an older one: %v, %+v", err, s)
			}
			if faults.count("GET", versionKey(2)) > 0 {
				t.Error("version 2 was read although there is a checkpoint of version 3")
			}
			got, err := received(t, cfg, queue.Start{Kind: queue.StartOffset, Offset: 8})
			check(t, got, err, "8", "9")
		})
	}
}

// Without the feature in its protocol a checkpoint of version 2 counts nothing.
func TestV2CheckpointNeedsItsFeature(t *testing.T) {
	name := fmt.Sprintf("%s%020d.checkpoint", logFolder, 6)
	h, cfg, rows := v2Table(t, protocolLine)
	put(t, h.store, name+"."+uuidName+".parquet", parquetOf(t, append(rows, ofVersion(6))))
	s, err := open(t, cfg).tables[0].snapshot(t.Context())
	if err != nil || len(s.files) != 9 || len(s.unread) != 1 || !strings.Contains(s.unread[0], "no feature v2Checkpoint") {
		t.Errorf("%v, %+v", err, s)
	}
	// And who could only begin with it cannot.
	h.forget()
	if s, err := open(t, cfg).tables[0].snapshot(t.Context()); err == nil {
		t.Errorf("version %d was read from a checkpoint that the protocol does not allow", s.version)
	}
}

func FuzzCheckpoint(f *testing.F) {
	_, _, rows := v2Table(f, v2Protocol)
	rows = append(rows, ofVersion(6), sidecarRow("x.parquet", 7))
	f.Add([]byte(parquetOf(f, rows)), false, false)
	f.Add([]byte(parquetOf(f, rows[3:4])), false, true)
	f.Add([]byte(jsonOf(rows)), true, false)
	f.Add([]byte(`{"sidecar":{"path":"..","sizeInBytes":-1}}`), true, false)
	f.Fuzz(func(t *testing.T, body []byte, isJSON, inSidecar bool) {
		s := checkpointState{snapshot: newSnapshot()}
		s.version = 6
		if isJSON {
			_ = s.takeJSON(body)
		} else {
			_ = s.takeParquet(body, inSidecar)
		}
		for _, c := range s.sidecars {
			if key, err := sidecarKey(c.Path); err == nil && (!strings.HasPrefix(key, sidecars) || strings.Contains(key, "..") && strings.Contains(key[len(sidecars):], "/")) {
				t.Errorf("the sidecar %q leads to %q", c.Path, key)
			}
		}
		for i := range s.files {
			if s.files[i].Path == "" || s.files[i].Size < 0 {
				t.Errorf("%+v", s.files[i])
			}
		}
	})
}
