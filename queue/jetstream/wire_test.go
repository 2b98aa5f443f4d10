package jetstream

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func jetstreamConfig(name string) jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.MemoryStorage}
}

// FuzzAck: what is read is what a JSON decoder reads, and nothing else is an
// acknowledgement.
func FuzzAck(f *testing.F) {
	for _, s := range []string{
		`{"stream":"S","seq":7}`, `{"stream":"S","seq":7,"duplicate":true}`, `{"stream":"S","domain":"d","seq":9007199254740993}`,
		`{"stream":"a\"b","seq":1}`, `{"stream":"S","seq":0}`, `{"stream":"S","seq":-1}`, `{"stream":"S","seq":99999999999999999999}`,
		`{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},"stream":"S","seq":0}`,
		`{"stream":"error","seq":3}`, `{"stream":"S","seq":007}`, `{"stream":"S","seq":1}}`, ``, `{}`, `[]`, `{"stream":"S","seq":4611686018427387905}`,
		"{\"stream\":\"S\x01\",\"seq\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		seq, err := parseAck(b)
		var want struct {
			Stream string          `json:"stream"`
			Seq    uint64          `json:"seq"`
			Error  json.RawMessage `json:"error"`
		}
		jerr := json.Unmarshal(b, &want)
		switch {
		case err == nil && jerr == nil && (uint64(seq) != want.Seq || seq <= 0 || want.Stream == ""):
			t.Errorf("%q was read as %d", b, seq)
		case err == nil && jerr != nil:
			t.Errorf("%q was read as %d, and is no JSON: %v", b, seq, jerr)
		case err != nil && seq != -1:
			t.Errorf("%q: %v with %d", b, err, seq)
		}
	})
}

// FuzzReply: a reply subject is read as the client library reads it.
func FuzzReply(f *testing.F) {
	for _, s := range []string{
		"$JS.ACK.S.C.1.2.3.1700000000000000000.4", "$JS.ACK.dom.hash.S.C.2.20.3.1700000000000000000.4", "$JS.ACK._.hash.S.C.2.20.3.1700000000000000000.4.random",
		"$JS.ACK.S.C.1.2.3.4", "$JS.ACK.S.C.x.2.3.4.5", "_INBOX.a.b", "", "$JS.ACK.S.C.-1.2.3.4.5", "$JS.ACK.a.b.c.d.e.f.g.h.i.j.k.l",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseReply(s)
		if !ok {
			return
		}
		m := nats.Msg{Reply: s, Sub: &nats.Subscription{}}
		want, err := m.Metadata()
		if err != nil {
			return // it is stricter, or we: no number is made up
		}
		if want.NumDelivered != uint64(got.delivered) || want.Sequence.Stream != uint64(got.seq) || want.Timestamp.UnixNano() != got.at {
			t.Errorf("%q was read as %+v, the library reads %+v", s, got, want)
		}
	})
}

func TestReplies(t *testing.T) {
	for s, want := range map[string]place{
		"$JS.ACK.S.C.1.2.3.1700000000000000000.4":         {1, 2, 1700000000000000000},
		"$JS.ACK._.h.S.C.2.20.3.1700000000000000000.4.tk": {2, 20, 1700000000000000000},
	} {
		if got, ok := parseReply(s); !ok || got != want {
			t.Errorf("%q was read as %+v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"$JS.ACK.S.C.+1.2.3.4.5", "$JS.ACK.S.C.1.-2.3.4.5", "$JS.ACK.S.C.1.2.3.0x4.5", "$JS.ACK.S.C.1..3.4.5", "$JS.ACK.S.C.1.9223372036854775808.3.4.5"} {
		if got, ok := parseReply(s); ok {
			t.Errorf("%q was read as %+v", s, got)
		}
	}
	for _, s := range []string{`{"stream":"","seq":1}`, `{"seq":1}`, `{"stream":"S","seq":0}`, `{"stream":"S"}`} {
		if got, err := parseAck([]byte(s)); err == nil {
			t.Errorf("%s was read as %d", s, got)
		}
	}
	for seq := int64(1); seq < 1<<61; seq *= 3 {
		if got, err := parseAck(fmt.Appendf(nil, `{"stream":"S","seq":%d}`, seq)); err != nil || got != seq {
			t.Errorf("the acknowledgement of %d was read as %d, %v", seq, got, err)
		}
	}
}

func BenchmarkAck(b *testing.B) {
	body := []byte(`{"stream":"queuebench-20260102t030405z-abcdef-step-0-repeat-0","seq":1234567}`)
	b.ReportAllocs()
	for b.Loop() {
		parseAck(body)
	}
}

func BenchmarkReply(b *testing.B) {
	const reply = "$JS.ACK.queuebench-20260102t030405z-abcdef-step-0-repeat-0.g-group-0.1.1234567.1234567.1700000000000000000.4"
	b.ReportAllocs()
	for b.Loop() {
		parseReply(reply)
	}
}
