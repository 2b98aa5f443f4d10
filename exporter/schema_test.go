package exporter

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"queuebench/analysis"
	"queuebench/rawlog"
	"queuebench/stats"
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
	// A run with all that a step can have, and nothing that the schema does not name.
	d := rich()
	sum := analysis.Summarize(d, analysis.View{})
	if p := sum.Steps[0].Latencies["end_to_end"].Percentiles["50"]; p.LowNs <= 0 || p.HighNs < p.LowNs {
		t.Errorf("the run has no interval of a percentile: %+v", p)
	}
	for path, v := range map[string]any{summarySchema: sum, exportSchema: Export{Schema: Schema, Summary: sum, Rows: rows(d, analysis.View{})}} {
		if err := validate(path, v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		unnamed(t, path, v)
	}
	if err := validate(exportSchema, object{"schema": Schema, "rows": []any{object{"run": 5}}}); err == nil {
		t.Error("what is none of it is valid")
	}
}

// rich is a run whose summary has what few have: a drain, a breakdown, recoveries,
// stages, levels, loss, intervals of percentiles.
func rich() *analysis.Digest {
	const piece = time.Second
	s := analysis.StepDigest{Rate: 100, Complete: true, StartNs: 1e18, Duration: 60 * piece, Interval: piece, Settings: map[string]string{"consumers": "2"}, Told: []string{"backlog", "cpu_ns"}}
	one := stats.Compact{N: 100, Min: 1e6, Max: 1e6, Sum: 1e8, Buckets: []stats.Bucket{{Index: stats.Index(1e6), Count: 100}}}
	for i := range 60 {
		iv := analysis.Interval{Start: time.Duration(i) * piece, End: time.Duration(i+1) * piece, Scheduled: 101}
		for k := range analysis.Imported {
			iv.Latency[k] = one
		}
		iv.Infinite[analysis.EndToEnd] = 1
		s.Intervals = append(s.Intervals, iv)
		s.ReceivedPerSecond = append(s.ReceivedPerSecond, 100)
		s.Seconds = append(s.Seconds, analysis.Second{At: time.Duration(i+1) * piece, Backlog: int64(i), CPUNs: 1e8})
	}
	s.Accounting = analysis.Accounting{Scheduled: 6060, Attempted: 6060, Acked: 6060, Received: 6000, Lost: 60, RecordsUsed: 6060}
	s.Events = []analysis.Event{{At: 20 * piece, Kind: "fault", Text: "it stops", Duration: piece}}
	s.Breakdown = analysis.Breakdown{From: 6 * piece, To: 60 * piece, Left: 1}
	for _, key := range []string{"0", "1"} {
		x := analysis.Share{By: analysis.ByPartition, Key: key}
		x.Latency[analysis.EndToEnd] = one
		s.Breakdown.Shares = append(s.Breakdown.Shares, x)
	}
	s.Stages = []analysis.StageStats{{Stage: "commit_put", N: 100, P50Ns: 1e6, P99Ns: 2e6, MaxNs: 3e6, MeanNs: 1e6, Supported: true}, {Stage: "commit_get", N: 100, P50Ns: 1e6, P99Ns: 2e6, MaxNs: 3e6, MeanNs: 1e6}}
	d := &analysis.Digest{Manifest: rawlog.Manifest{Run: "rich", Complete: true, StartedNs: 1e18, Settings: map[string]string{"poll-interval": "5ms"}}}
	d.Manifest.Queue.Kind, d.Manifest.Queue.CommitInterval = "delta", 100*time.Millisecond
	for i, consumers := range []string{"1", "2"} {
		x := s
		x.Step, x.Settings = i, map[string]string{"consumers": consumers}
		d.Steps = append(d.Steps, x)
		d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{Step: i, Rate: 100, Settings: x.Settings, Complete: true, DurationNs: int64(s.Duration), StartedNs: 1e18, DeadlineNs: 1e18 + int64(s.Duration) + 5e9})
	}
	return d
}

// unnamed tells what a value writes that its schema does not name.
func unnamed(t *testing.T, path string, v any) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var schema object
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(written, &doc); err != nil {
		t.Fatal(err)
	}
	defs, _ := schema["$defs"].(object)
	var look func(at string, s object, v any)
	look = func(at string, s object, v any) {
		if ref, ok := s["$ref"].(string); ok {
			look(at, defs[strings.TrimPrefix(ref, "#/$defs/")].(object), v)
			return
		}
		if any, ok := s["anyOf"].([]any); ok {
			look(at, any[0].(object), v)
			return
		}
		switch v := v.(type) {
		case object:
			properties, _ := s["properties"].(object)
			rest, _ := s["additionalProperties"].(object)
			for key, inner := range v {
				if p, ok := properties[key].(object); ok {
					look(at+"."+key, p, inner)
				} else if rest != nil {
					look(at+"."+key, rest, inner)
				} else if properties != nil {
					t.Errorf("%s: %s.%s is written and not named", path, at, key)
				}
			}
		case []any:
			items, _ := s["items"].(object)
			for _, inner := range v {
				look(at+"[]", items, inner)
			}
		}
	}
	look("", schema, doc)
}
