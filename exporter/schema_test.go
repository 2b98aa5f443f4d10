package exporter

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"queuebench/analysis"
)

const (
	exportSchema  = "../docs/export.schema.json"
	summarySchema = "../docs/summary.schema.json"
)

// object is a schema.
type object = map[string]any

// schemaOf describes a type as encoding/json writes it. Fields may be added to a
// schema of one major version, so further ones are allowed.
func schemaOf(t reflect.Type, defs object) object {
	if t == reflect.TypeFor[json.RawMessage]() {
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{schemaOf(t.Elem(), defs), object{"type": "null"}}}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": []any{"array", "null"}, "items": schemaOf(t.Elem(), defs)}
	case reflect.Map:
		return object{"type": []any{"object", "null"}, "additionalProperties": schemaOf(t.Elem(), defs)}
	case reflect.Struct:
		name := strings.ReplaceAll(t.String(), ".", "_")
		if _, ok := defs[name]; ok {
			return object{"$ref": "#/$defs/" + name}
		}
		def := object{"type": "object"}
		defs[name] = def
		properties, required := object{}, []any{}
		fields(t, func(key string, omit bool, of reflect.Type) {
			properties[key] = schemaOf(of, defs)
			if !omit {
				required = append(required, key)
			}
		})
		def["properties"], def["required"] = properties, required
		return object{"$ref": "#/$defs/" + name}
	case reflect.Interface:
		return object{}
	default:
		return object{"type": "integer"}
	}
}

// fields are those of a struct that encoding/json writes.
func fields(t reflect.Type, each func(key string, omit bool, of reflect.Type)) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && key == "" && f.Type.Kind() == reflect.Struct {
			fields(f.Type, each)
			continue
		}
		if !f.IsExported() || key == "-" {
			continue
		}
		if key == "" {
			key = f.Name
		}
		each(key, strings.Contains(options, "omit"), f.Type)
	}
}

func document(of reflect.Type, id, title string) []byte {
	defs := object{}
	root := schemaOf(of, defs)
	root["$schema"], root["$id"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", id, title, defs
	root["description"] = "Fields may be added; what is there keeps its meaning. Names ending in _ns are nanoseconds, times since the Unix epoch."
	body, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		panic(err)
	}
	return append(body, '\n')
}

// The published schemas are those of the types. UPDATE_GOLDEN=1 writes them.
func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	for path, want := range map[string][]byte{
		exportSchema:  document(reflect.TypeFor[Export](), Schema, "What analyze export --format json writes"),
		summarySchema: document(reflect.TypeFor[analysis.Summary](), analysis.SummarySchema, "What analyze summary --json prints"),
	} {
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not that of the types (%v): write it with UPDATE_GOLDEN=1 go test ./exporter", path, err)
		}
	}
}

func TestOutputFollowsItsSchema(t *testing.T) {
	validate := func(path string, v any) error {
		compiled, err := jsonschema.NewCompiler().Compile(path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return compiled.Validate(instance)
	}
	for _, name := range []string{"vegeta.csv", "omb-result.json", "sample.hlog"} {
		d := sample(t, name)
		sum := analysis.Summarize(d, analysis.View{})
		if err := validate(summarySchema, sum); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := validate(exportSchema, Export{Schema: Schema, Summary: sum, Rows: rows(d, analysis.View{})}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := validate(exportSchema, object{"schema": Schema, "rows": []any{object{"run": 5}}}); err == nil {
		t.Error("what is none of it is valid")
	}
}
