package deltalake

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

// A data file of which any one byte was changed is refused, or says what it said
// before: it is no other payload.
func TestNoChangedByteIsAPayload(t *testing.T) {
	for _, codec := range []Codec{None, Snappy, Zstd} {
		for _, schema := range []Schema{DataOnly, Pathway} {
			t.Run(fmt.Sprintf("%s/%s", codec, schema), func(t *testing.T) {
				e, err := newEncoder(&Config{Column: "data", Schema: schema, Codec: codec})
				if err != nil {
					t.Fatal(err)
				}
				b := newBatch(e.pageBytes())
				p := &Producer{}
				for i := range int64(12) {
					b.add(p, i, fmt.Appendf(nil, "message %d of %s", i, codec))
				}
				b.seal()
				if err := e.encode(b, 1234); err != nil {
					t.Fatal(err)
				}
				file := bytes.Clone(b.file)
				want, _, err := (&decoder{column: "data", retracts: schema == Pathway}).decode(file, 1, nil)
				if err != nil || len(want) != 12 {
					t.Fatalf("%d rows, %v", len(want), err)
				}
				refused := 0
				for at := range file {
					for _, mask := range []byte{0x01, 0x10, 0x80, 0xff} {
						changed := bytes.Clone(file)
						changed[at] ^= mask
						got, back, err := (&decoder{column: "data", retracts: schema == Pathway}).decode(changed, 1, nil)
						if err != nil {
							refused++
							continue
						}
						if len(got) != len(want) || back != 0 {
							t.Fatalf("byte %d of %d, changed by %#x: %d messages and %d retractions", at, len(file), mask, len(got), back)
						}
						for i := range got {
							if !bytes.Equal(got[i].Payload, want[i].Payload) {
								t.Fatalf("byte %d of %d, changed by %#x: message %d is %q", at, len(file), mask, i, got[i].Payload)
							}
						}
					}
				}
				if refused < len(file) { // of four for each
					t.Errorf("only %d changes of %d were refused", refused, 4*len(file))
				}
			})
		}
	}
}

// flipping changes a byte of a data file whenever it is read, or only in the first
// answer, and tells no checksum.
type flipping struct {
	objectstore.Store
	once bool
	seen *atomic.Int64 // reads of data files
	keys *sync.Map     // that were changed
}

func (s flipping) Get(ctx context.Context, key string) ([]byte, objectstore.Info, error) {
	body, info, err := s.Store.Get(ctx, key)
	if err == nil && strings.HasSuffix(key, ".parquet") && !strings.HasPrefix(key, logFolder) {
		s.seen.Add(1)
		if _, before := s.keys.LoadOrStore(key, true); !before || !s.once {
			body = bytes.Clone(body)
			body[len(body)/2] ^= 0xff
		}
	}
	return body, info, err
}

func (s flipping) Sub(prefix string) objectstore.Store {
	s.Store = s.Store.Sub(prefix)
	return s
}

// A data file that came with a changed byte is read again.
func TestAChangedByteIsReadAgain(t *testing.T) {
	var seen atomic.Int64
	checkExactlyOnce(t, Config{Store: flipping{folder(t), true, &seen, new(sync.Map)}, Partitions: 1, CommitInterval: 2 * time.Millisecond}, 200)
	if seen.Load() < 2 {
		t.Fatalf("%d data files were read", seen.Load())
	}
}

// One that stays so is fatal, and named.
func TestADamagedFileIsFatal(t *testing.T) {
	h, cfg := handTable(t)
	h.version(1, h.data("a.parquet", "a.parquet", true, "1", "2"))
	var seen atomic.Int64
	cfg.Store = flipping{cfg.Store, false, &seen, new(sync.Map)}
	got, err := received(t, cfg, queue.Start{})
	checkFails(t, got, err, ErrCorrupt, "a.parquet")
	if seen.Load() != corruptTries {
		t.Errorf("it was read %d times", seen.Load())
	}
}
