package redisstreams

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/broker"
)

func FuzzID(f *testing.F) {
	for _, s := range []string{"1700000000000-0", "0-1", "0-0", "1700000000000-1048575", "1700000000000-1048576", "8796093022207-0", "8796093022208-0", "1-", "-1", "1", "1-2-3", "+1-2", "1--2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		offset, err := parseID(s)
		if err != nil {
			return
		}
		again, err := parseID(idOf(offset))
		if err != nil || again != offset || offset < 0 {
			t.Errorf("%q is offset %d, which is %q", s, offset, idOf(offset))
		}
	})
}

func TestStarts(t *testing.T) {
	at := time.UnixMilli(1700000000123).Add(900 * time.Microsecond)
	for want, s := range map[string]queue.Start{
		"0":                                  {},
		"$":                                  {Kind: queue.StartLatest},
		"5-2":                                {Kind: queue.StartOffset, Offset: 5<<numberBits | 3},
		"4-18446744073709551615":             {Kind: queue.StartOffset, Offset: 5 << numberBits},
		"1700000000122-18446744073709551615": {Kind: queue.StartTime, Time: at},
	} {
		if got := before(s); got != want {
			t.Errorf("%+v begins after %s, not %s", s, got, want)
		}
	}
	if got := stampOf(5<<numberBits | 3); got != 5e6 {
		t.Errorf("the stamp is %d ns", got)
	}
}

// What is put into an entry is what comes out of it.
func TestEntries(t *testing.T) {
	q := &Queue{cfg: Config{PayloadField: payloadField}, keys: []string{"a:0", "a:1"}}
	for i, m := range []queue.Message{
		{Payload: []byte("x")},
		{Payload: []byte{}, Key: []byte{}},
		{Payload: []byte("p"), Key: []byte("k"), Headers: []queue.Header{{Name: "", Value: []byte("1")}, {Name: "p", Value: []byte{0, 255}}, {Name: "p", Value: []byte{}}}},
	} {
		args := q.arguments(&broker.Outgoing{Partition: 1, Message: m})
		at := 0
		for args[at] != "*" {
			at++
		}
		var fields []any
		for _, a := range args[at+1:] {
			fields = append(fields, fmt.Sprintf("%s", a))
		}
		entries, gone, err := q.parseStreams(nil, []any{[]any{"a:1", []any{[]any{"7-1", fields}, []any{"7-2", nil}}}})
		if err != nil || len(entries) != 1 || gone != 1 {
			t.Fatalf("%d entries, %d gone, %v", len(entries), gone, err)
		}
		d, _, _, err := entries[0].delivery(&Config{PayloadField: payloadField}, make([]byte, 0, 10), nil)
		if err != nil || string(d.Payload) != string(m.Payload) || (d.Key == nil) != (m.Key == nil) || string(d.Key) != string(m.Key) ||
			len(d.Headers) != len(m.Headers) || len(m.Headers) > 0 && !reflect.DeepEqual(d.Headers, m.Headers) || d.Partition != 1 || d.Offset != 7<<numberBits|1 {
			t.Errorf("message %d came as %+v, %v", i, d, err)
		}
	}
	for _, reply := range []any{nil, "x", []any{1}, []any{[]any{"b:0", []any{}}}, []any{[]any{"a:0", 1}}, []any{[]any{"a:0", []any{1}}}, []any{[]any{"a:0", []any{[]any{"x", []any{}}}}}} {
		if _, _, err := q.parseStreams(nil, reply); err == nil {
			t.Errorf("%v was read", reply)
		}
	}
	foreign := entry{id: "1-1", fields: []any{"other", "1"}}
	if _, _, _, err := foreign.delivery(&Config{PayloadField: payloadField}, nil, nil); err == nil || !strings.Contains(err.Error(), "1-1") {
		t.Errorf("an entry of others: %v", err)
	}
}
