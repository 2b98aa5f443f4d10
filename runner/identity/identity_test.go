package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"queuebench/queue"
	"queuebench/runner/envelope"
)

func text(id envelope.ID) string { return string(AppendText(nil, id)) }

func place(t testing.TB, s string) Place {
	t.Helper()
	p, err := ParsePlace(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlacesRoundTrip(t *testing.T) {
	for _, s := range []string{"payload", "key", "header:id", "header:a:b", "json:/id", "json:/meta/0/a~1b~0", "json:/"} {
		if got := place(t, s).String(); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
	}
	for _, s := range []string{"", "body", "payload:x", "key:", "header", "header:", "json", "json:", "json:id", "json:/a~2"} {
		if p, err := ParsePlace(s); err == nil {
			t.Errorf("%q was taken for %v", s, p)
		}
	}
}

func TestIdentityIsReadWhereItIs(t *testing.T) {
	a, b := envelope.ID{Producer: 3, Tag: 7, Seq: 10}, envelope.ID{Producer: 3, Tag: 7, Seq: 14}
	c := envelope.ID{Producer: 4, Tag: 7, Seq: 1}
	raw := make([]byte, 20)
	envelope.Encode(raw, a)
	one, five := []Span{{a, 1}}, []Span{{a, 5}}
	for _, x := range []struct {
		place string
		d     queue.Delivery
		want  []Span
		err   error
	}{
		{"payload", queue.Delivery{Payload: raw}, one, nil},
		{"payload", queue.Delivery{Payload: []byte(text(a) + ",17,x")}, one, nil},
		{"payload", queue.Delivery{Payload: []byte("a line of somebody else's")}, nil, envelope.ErrForeign},
		{"key", queue.Delivery{Key: []byte(text(a))}, one, nil},
		{"key", queue.Delivery{Key: []byte(strings.ToUpper(text(a)))}, one, nil},
		{"key", queue.Delivery{Payload: raw}, nil, envelope.ErrForeign},
		{"key", queue.Delivery{Key: []byte("key-7")}, nil, envelope.ErrForeign},
		{"header:id", queue.Delivery{Headers: []queue.Header{{Name: "ID", Value: raw}, {Name: "id", Value: []byte(text(a))}}}, one, nil},
		{"header:id", queue.Delivery{Headers: []queue.Header{{Name: "ID", Value: raw}}}, nil, envelope.ErrForeign},
		{"json:/id", queue.Delivery{Payload: []byte(`{"x":{"id":"no"},"id":"` + text(a) + `","id2":1}`)}, one, nil},
		{"json:/m/1/a~1b", queue.Delivery{Payload: []byte(`{"m":[{"a/b":"x"},{"a\/b":["` + text(a) + `..` + text(b) + `"]}]}`)}, five, nil},
		{"json:/m/2/id", queue.Delivery{Payload: []byte(`{"m":[1,2]}`)}, nil, envelope.ErrForeign},
		{"json:/id", queue.Delivery{Payload: []byte(`{"id":5}`)}, nil, envelope.ErrForeign},
		{"json:/id", queue.Delivery{Payload: []byte(`{"id":[]}`)}, nil, envelope.ErrForeign},
		{"json:/id", queue.Delivery{Payload: []byte(`not JSON`)}, nil, envelope.ErrForeign},
		{"json:/id", queue.Delivery{}, nil, envelope.ErrForeign},
		{"header:h", queue.Delivery{Headers: []queue.Header{{Name: "h", Value: []byte(text(a) + ".." + text(b) + ", " + text(c))}}}, []Span{{a, 5}, {c, 1}}, nil},
		{"key", queue.Delivery{Key: []byte(text(b) + ".." + text(a))}, nil, envelope.ErrCorrupt},
		{"key", queue.Delivery{Key: []byte(text(a) + ".." + text(c))}, nil, envelope.ErrCorrupt},
		{"key", queue.Delivery{Key: []byte(text(a) + ",")}, nil, envelope.ErrCorrupt},
		{"key", queue.Delivery{Key: []byte(strings.Replace(text(a), "0a", "0b", 1))}, nil, envelope.ErrCorrupt},
	} {
		r := NewReader(place(t, x.place))
		for range 2 { // a reader is used again
			got, err := r.Read(&x.d)
			if !errors.Is(err, x.err) || err == nil && !slices.Equal(got, x.want) {
				t.Errorf("%s of %q %q %q: %v, %v, want %v, %v", x.place, x.d.Key, x.d.Headers, x.d.Payload, got, err, x.want, x.err)
			}
		}
	}
}

// What a cover says is exactly what was added, in any order and in several
// texts.
func TestCoverIsWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, most := range []int{1, 200, 1 << 20} {
		var c Cover
		want := map[envelope.ID]bool{}
		for range 3000 {
			id := envelope.ID{Producer: uint16(r.IntN(3)), Tag: 9, Seq: r.Int64N(2000)}
			want[id] = true
			if err := c.Add([]byte(text(id))); err != nil {
				t.Fatal(err)
			}
		}
		if c.Len() != 3000 {
			t.Errorf("%d were added", c.Len())
		}
		got := map[envelope.ID]bool{}
		texts := c.Texts(most)
		for _, s := range texts {
			if most > 100 && len(s) > most {
				t.Errorf("a text has %d bytes, more than %d", len(s), most)
			}
			spans, err := NewReader(place(t, "key")).Read(&queue.Delivery{Key: []byte(s)})
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range spans {
				for k := range span.N {
					id := span.First
					if id.Seq += k; got[id] || !want[id] {
						t.Fatalf("%+v is covered twice, or was not added", id)
					}
					got[id] = true
				}
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d of %d are covered", len(got), len(want))
		}
		c.Reset()
		if len(c.Texts(most)) != 0 || most == 1<<20 && len(texts) != 1 {
			t.Errorf("%d texts, and some after Reset", len(texts))
		}
	}
	var c Cover
	if err := c.Add([]byte("nothing")); !errors.Is(err, envelope.ErrForeign) {
		t.Error(err)
	}
}

// A field is found where encoding/json finds it.
func FuzzJSON(f *testing.F) {
	id := text(envelope.ID{Seq: 5})
	for _, s := range []string{`{"id":"` + id + `"}`, `{"a":[{"id":["` + id + `"]}]}`, `[1,"` + id + `"]`, `{"id":`, `{"a":{"b":{}}}`, "{\"\u00e9\":1}", `{"id":"\u0061"}`} {
		for _, p := range []string{"/id", "/a/0/id", "/1", "/a/b/c", "/"} {
			f.Add(s, p)
		}
	}
	f.Fuzz(func(t *testing.T, body, pointer string) {
		p, err := ParsePlace("json:" + pointer)
		if err != nil {
			return
		}
		got, err := NewReader(p).Read(&queue.Delivery{Payload: []byte(body)})
		if err != nil {
			return
		}
		var whole any
		if json.Unmarshal([]byte(body), &whole) != nil {
			return // what stands behind the field is not looked at
		}
		for _, name := range p.Path() {
			switch v := whole.(type) {
			case map[string]any:
				for k, m := range v {
					if k == name {
						whole = m
					}
				}
			case []any:
				var i int
				fmt.Sscan(name, &i)
				whole = v[i]
			}
		}
		var want []Span
		list, ok := whole.([]any)
		if !ok {
			list = []any{whole}
		}
		for _, s := range list {
			s, ok := s.(string)
			if !ok {
				return // a name that stands twice
			}
			if want, err = appendSpans(want, []byte(s)); err != nil {
				return
			}
		}
		if len(want) != len(got) {
			t.Errorf("%q at %q: %v, want %v", body, pointer, got, want)
		}
	})
}

func FuzzSpans(f *testing.F) {
	id := text(envelope.ID{Seq: 5})
	f.Add(id)
	f.Add(id + ".." + id + "," + id)
	f.Add("..,")
	f.Fuzz(func(t *testing.T, s string) {
		spans, err := NewReader(Place{kind: inKey}).Read(&queue.Delivery{Key: []byte(s)})
		if err != nil {
			return
		}
		for _, span := range spans {
			if span.N < 1 || span.First.Seq+span.N-1 > envelope.MaxSeq {
				t.Errorf("%q has the span %+v", s, span)
			}
		}
	})
}

func BenchmarkReadJSON(b *testing.B) {
	p, _ := ParsePlace("json:/id")
	r := NewReader(p)
	d := queue.Delivery{Payload: []byte(`{"value":17,"pad":"` + strings.Repeat("x", 60) + `","id":"` + text(envelope.ID{Seq: 5}) + `"}`)}
	b.ReportAllocs()
	for range b.N {
		if _, err := r.Read(&d); err != nil {
			b.Fatal(err)
		}
	}
}
