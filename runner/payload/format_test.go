package payload

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"queuebench/queue"
	"queuebench/runner/envelope"
	"queuebench/runner/identity"
)

func place(t testing.TB, text string) identity.Place {
	t.Helper()
	p, err := identity.ParsePlace(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// formats are one of each way to carry an identity.
func formats(t testing.TB) map[string]Spec {
	mixed, headers := sizes(t, "uniform:100..900"), []queue.Header{{Name: "a", Value: []byte("b")}}
	objects := []byte("{\"a\":1}\n {}\n{ \"b\":{\"id\":2}}\n")
	return map[string]Spec{
		"raw in key":          {Sizes: FixedSize(16), Identity: place(t, "key")},
		"raw in header":       {Sizes: mixed, Identity: place(t, "header:id"), Headers: headers, Keys: Keys{N: 5}},
		"text":                {Sizes: mixed, Format: TextFormat, Compressibility: 0.5},
		"text in key":         {Sizes: mixed, Format: TextFormat, Identity: place(t, "key")},
		"json":                {Sizes: mixed, Format: JSONFormat, Identity: place(t, "json:/id")},
		"json deep":           {Sizes: mixed, Format: JSONFormat, Identity: place(t, "json:/m/a~1b/0"), Keys: Keys{N: 5}},
		"json in header":      {Sizes: mixed, Format: JSONFormat, Identity: place(t, "header:x")},
		"delimited":           {Sizes: mixed, Format: DelimitedFormat},
		"delimited in key":    {Sizes: mixed, Format: DelimitedFormat, Delimiter: ';', Identity: place(t, "key")},
		"lines in key":        {Lines: lines(t, objects), Identity: place(t, "key")},
		"lines as json":       {Lines: lines(t, objects), Format: JSONFormat, Identity: place(t, "json:/id")},
		"lines as text":       {Lines: lines(t, []byte("one\n\nthree")), Format: TextFormat},
		"lines as delimited":  {Lines: lines(t, []byte("a,b\n1,2\n3,4\n")), Format: DelimitedFormat},
		"delimited by a file": {Lines: lines(t, []byte("a,b\n1,2\n3,4\n")), Format: DelimitedFormat, Identity: place(t, "header:id")},
	}
}

// The identity is read where it was put, of messages and of end marks, and
// bodies are what their format says.
func TestFormatsCarryTheirIdentity(t *testing.T) {
	all := formats(t)
	for name, spec := range all {
		spec.Frame = []byte("\x00\x00\x00\x01\x07\x00")
		all[name+", framed"] = spec
	}
	all["plain, framed"] = Spec{Sizes: FixedSize(40), Frame: []byte("frame")}
	all["plain of lines, framed"] = Spec{Lines: lines(t, []byte("one\n\nthree")), Frame: []byte("frame"), Keys: Keys{N: 5}}
	for name, spec := range all {
		t.Run(name, func(t *testing.T) {
			src := source(t, spec, 2, 3)
			reader := identity.NewReader(spec.Identity)
			check := func(m queue.Message, want envelope.ID) {
				t.Helper()
				body, framed := bytes.CutPrefix(m.Payload, spec.Frame)
				if !framed {
					t.Fatalf("%q has no frame", m.Payload)
				}
				m.Payload = body
				spans, err := reader.Read(&queue.Delivery{Payload: m.Payload, Key: m.Key, Headers: m.Headers})
				if err != nil || len(spans) != 1 || spans[0] != (identity.Span{First: want, N: 1}) {
					t.Fatalf("%q %q %q has %v, %v, want %+v", m.Key, m.Headers, m.Payload, spans, err, want)
				}
			}
			var batch []queue.Message
			src.Next()
			for m := (queue.Message{}); len(batch) < 300 && src.Fill(&m, int64(len(batch))); {
				batch = append(batch, m)
			}
			if len(batch) < 300 {
				t.Fatalf("%d messages, %v", len(batch), src.Err())
			}
			for seq, m := range batch { // none was written over by a later one
				check(m, envelope.ID{Producer: 2, Tag: 7, Seq: int64(seq)})
				if spec.Lines == nil && (len(m.Payload) < spec.Sizes.Min() || len(m.Payload) > spec.Sizes.Max()) {
					t.Errorf("a body has %d bytes", len(m.Payload))
				}
				if len(m.Payload) > spec.Largest() || len(m.Payload) < spec.Smallest() || len(spec.Headers) > 0 && string(m.Headers[0].Value) != "b" {
					t.Errorf("%q %q, between %d and %d bytes", m.Headers, m.Payload, spec.Smallest(), spec.Largest())
				}
				m.Payload = m.Payload[len(spec.Frame):]
				switch spec.Format {
				case JSONFormat:
					var v map[string]any
					if err := json.Unmarshal(m.Payload, &v); err != nil {
						t.Fatalf("%s: %v", m.Payload, err)
					}
					if n, ok := v["value"].(float64); spec.Lines == nil && (!ok || n < 0 || n > MaxValue) {
						t.Errorf("%s", m.Payload)
					}
				case DelimitedFormat:
					header := bytes.TrimPrefix(src.set.HeaderLine(), spec.Frame)
					r := csv.NewReader(bytes.NewReader(append(append(header, '\n'), m.Payload...)))
					r.Comma = rune(spec.delimiter())
					rows, err := r.ReadAll()
					if err != nil || len(rows) != 2 || rows[0][len(rows[0])-1] != "pad" && rows[0][len(rows[0])-1] != "b" {
						t.Errorf("%q %q: %v", header, m.Payload, err)
					}
				}
			}
			check(src.Mark(1, 300), envelope.ID{Kind: envelope.End, Producer: 2, Tag: 7, Seq: 300})
		})
	}
}

func TestLinesAreBodiesAsTheyAre(t *testing.T) {
	all := formats(t)
	for name, want := range map[string]string{
		"lines in key":        `{"a":1}| {}|{ "b":{"id":2}}|{"a":1}`,
		"lines as json":       `{"id":"ID","a":1}|{"id":"ID"}|{"id":"ID","b":{"id":2}}|{"id":"ID","a":1}`,
		"lines as text":       `ID one|ID |ID three|ID one`,
		"lines as delimited":  `ID,1,2|ID,3,4|ID,1,2|ID,3,4`,
		"delimited by a file": `1,2|3,4|1,2|3,4`,
	} {
		src := source(t, all[name], 0, 1)
		var got []string
		for seq := range int64(4) {
			id := string(identity.AppendText(nil, envelope.ID{Tag: 7, Seq: seq}))
			got = append(got, strings.ReplaceAll(string(message(t, src, seq).Payload), id, "ID"))
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if h := string(source(t, all["lines as delimited"], 0, 1).set.HeaderLine()); h != "id,a,b" {
		t.Error(h)
	}
	src := source(t, Spec{Lines: lines(t, []byte("{}\nno object")), Format: JSONFormat, Identity: place(t, "json:/id")}, 0, 1)
	var m queue.Message
	if src.Next(); !src.Fill(&m, 0) || src.Fill(&m, 1) || src.Err() == nil {
		t.Errorf("a line that is no object: %v", src.Err())
	}
}

func TestFormatsThatCannotBeAreRefused(t *testing.T) {
	one := lines(t, []byte("a,b"))
	for says, spec := range map[string]Spec{
		"say json:/id":           {Sizes: FixedSize(100), Format: JSONFormat},
		"needs bodies":           {Sizes: FixedSize(100), Identity: place(t, "json:/id")},
		"another one":            {Sizes: FixedSize(100), Format: JSONFormat, Identity: place(t, "json:/pad")},
		"outermost object":       {Lines: one, Format: JSONFormat, Identity: place(t, "json:/a/b")},
		"takes the place":        {Sizes: FixedSize(100), Keys: Keys{N: 5}, Identity: place(t, "key")},
		"there is no message":    {Lines: one, Format: DelimitedFormat},
		"cannot separate":        {Sizes: FixedSize(100), Format: DelimitedFormat, Delimiter: '"'},
		"takes at least 62":      {Sizes: FixedSize(61), Format: JSONFormat, Identity: place(t, "json:/id")},
		"header, is longer than": {Lines: lines(t, append(bytes.Repeat([]byte("x"), maxHeaderLine+1), "\n1"...)), Format: DelimitedFormat},
	} {
		if err := spec.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	smallest := Spec{Sizes: FixedSize(62), Format: JSONFormat, Identity: place(t, "json:/id")}
	src := source(t, smallest, 0, 1)
	for seq := range int64(50) {
		if m := message(t, src, seq); len(m.Payload) != 62 || !json.Valid(m.Payload) {
			t.Errorf("%s", m.Payload)
		}
	}
	for _, f := range []Format{RawFormat, TextFormat, JSONFormat, DelimitedFormat} {
		if got, err := ParseFormat(fmt.Sprint(f)); err != nil || got != f {
			t.Errorf("%v comes back as %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml was taken")
	}
}
