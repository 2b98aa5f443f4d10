package deltalake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Schema says which columns a table gets that this package creates.
type Schema string

// The schemas.
const (
	// DataOnly is one column, "data binary".
	DataOnly Schema = "data"
	// Pathway is "data binary, time long, diff long", all not null: the table
	// that Pathway's connector writes and appends to. time is the commit's, ms
	// since the epoch and even; diff is 1.
	Pathway Schema = "pathway"
)

const (
	timeColumn = "time"
	diffColumn = "diff"
)

type field struct {
	Name     string          `json:"name"`
	Type     json.RawMessage `json:"type"`
	Nullable bool            `json:"nullable"`
	Metadata json.RawMessage `json:"metadata"`
}

type structType struct {
	Type   string  `json:"type"`
	Fields []field `json:"fields"`
}

// schemaString is the schema as metaData has it.
func (s Schema) schemaString(payload string) (string, error) {
	of := func(name, kind string) field {
		return field{Name: name, Type: json.RawMessage(`"` + kind + `"`), Metadata: json.RawMessage("{}")}
	}
	t := structType{Type: "struct", Fields: []field{of(payload, "binary")}}
	if s == Pathway {
		t.Fields = append(t.Fields, of(timeColumn, "long"), of(diffColumn, "long"))
	}
	b, err := json.Marshal(t)
	return string(b), err
}

// columns are the types of a table's columns by name; a nested type is "".
type columns map[string]string

func parseSchema(s string) (columns, error) {
	var t structType
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return nil, fmt.Errorf("%w: schemaString: %w", ErrCorrupt, err)
	}
	cs := columns{}
	for _, f := range t.Fields {
		var kind string
		_ = json.Unmarshal(f.Type, &kind) // a nested type is an object
		cs[f.Name] = kind
	}
	return cs, nil
}

// retracts says whether the table marks rows as added and taken back, as
// Pathway does.
func (c columns) retracts() bool { return c[timeColumn] == "long" && c[diffColumn] == "long" }

func (c columns) String() string {
	var names []string
	for n, kind := range c {
		names = append(names, strings.TrimSpace(n+" "+kind))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
