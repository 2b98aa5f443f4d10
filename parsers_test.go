package queuebench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// parsers are all functions that read what others wrote, by room and name, with
// the fuzz target that reaches each (in its own room where none is named). What
// needs none says why, after a dash.
var parsers = map[string]string{
	"analysis.ParseCooldown":              "FuzzParseFragment",
	"analysis.ParseFragment":              "FuzzParseFragment",
	"analysis.ParseInterval":              "FuzzParseFragment",
	"analysis.ParseKind":                  "FuzzParseFragment",
	"analysis.ParseLines":                 "FuzzParseFragment",
	"analysis.ParsePercentiles":           "FuzzParseFragment",
	"analysis.ParseWarmup":                "FuzzParseFragment",
	"analysis.ParseWindowEdge":            "FuzzParseFragment",
	"analysis.Read":                       "FuzzRead",
	"analysis.ReadDigest":                 "FuzzReadDigest",
	"analysis.ReadOutline":                "- manifests and footers, through their readers",
	"analysis/gate.ParseMetric":           "FuzzParseSLO",
	"analysis/gate.ParseRegression":       "FuzzParseRegression",
	"analysis/gate.ParseSLO":              "FuzzParseSLO",
	"clock/offset.parsePacket":            "FuzzParsePacket",
	"importer.ParseColumns":               "FuzzParseColumns",
	"importer.ParseUnit":                  "FuzzParseColumns",
	"importer.Read":                       "FuzzAny",
	"importer.ReadPublished":              "- it reads what is built in",
	"importer/parquetfile.Read":           "FuzzRead",
	"intake.ParseFragment":                "FuzzParseFragment",
	"intake/address.Parse":                "FuzzParse",
	"internal/reliability.Read":           "- what our own tests left",
	"internal/secret.ReadFile":            "- it looks at no content",
	"internal/secret.ReadLine":            "- it looks at no content",
	"internal/yamlfile.Read":              "FuzzRead",
	"objectstore.ParseAddress":            "FuzzParseAddress",
	"objectstore.ParseEndpoint":           "FuzzParseAddress",
	"objectstore.ParsePrices":             "FuzzParsePrices",
	"queue/deltalake.parseCommit":         "FuzzParseCommit",
	"queue/deltalake.parseName":           "FuzzParseName",
	"queue/deltalake.parseSchema":         "FuzzPaths",
	"queue/jetstream.parseAck":            "FuzzAck",
	"queue/jetstream.parseReply":          "FuzzReply",
	"queue/kafka.ParseProperties":         "FuzzProperties",
	"queue/redisstreams.parseEntries":     "- values that the client's library has decoded",
	"queue/redisstreams.parseID":          "FuzzID",
	"rawlog.ReadManifest":                 "FuzzReadManifest",
	"rawlog.readFooter":                   "FuzzPart",
	"runner.ParseBegin":                   "FuzzParseBegin",
	"runner.ReadRecorded":                 "- manifests and parts of the log, through their readers",
	"runner/envelope.Decode":              "FuzzDecode",
	"runner/framing.Read":                 "FuzzRead",
	"runner/framing.ParseIndex":           "- numbers of a flag",
	"runner/framing.ParseType":            "- one of a few words",
	"runner/identity.ParsePlace":          "FuzzJSON",
	"runner/identity.ParseText":           "FuzzSpans",
	"runner/pace.ParseKind":               "- one of a few words",
	"runner/payload.ParseFormat":          "- one of a few words",
	"runner/payload.ParseKeys":            "- a number and one of a few words",
	"runner/payload.ParseSizes":           "FuzzParseSizes",
	"runner/schedule.ParseKind":           "- one of a few words",
	"runner/schedule.ParseProfile":        "FuzzParseProfile",
	"runner/schedule.ParseRate":           "FuzzParseRate",
	"scenario.fromNode":                   "FuzzRead",
	"stats/hdrlog.parse":                  "FuzzReader",
	"workload.FromNode":                   "FuzzFromNode",
	"workload.Read":                       "FuzzFromNode",
	"objectstore/embedded.newBody":        "FuzzBody",
	"objectstore/embedded.newChunkReader": "FuzzChunks",
	"queue/deltalake.dataKey":             "FuzzPaths",
	"queue/deltalake.sidecarKey":          "FuzzPaths",
	"rawlog.safeName":                     "FuzzPartNames",
	"internal/thriftwalk.Structure":       "FuzzStructure",
	"internal/pagecheck.Check":            "FuzzCheck",
	"objectstore.RemoveAll":               "FuzzRemoveAll",
}

// readsOthers are names of functions that read what others wrote.
var readsOthers = regexp.MustCompile(`^(Parse|Read|Decode|Unmarshal)[A-Z]?|^parse[A-Z]`)

// takesInput says whether a parameter is text, bytes or a stream.
func takesInput(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		switch t := p.Type.(type) {
		case *ast.Ident:
			if t.Name == "string" {
				return true
			}
		case *ast.ArrayType:
			if e, ok := t.Elt.(*ast.Ident); ok && e.Name == "byte" {
				return true
			}
		case *ast.SelectorExpr:
			if p, ok := t.X.(*ast.Ident); ok && (p.Name == "io" || p.Name == "rawlog" && t.Sel.Name == "Source") {
				return true
			}
		}
	}
	return false
}

// Every parser is fuzzed: a new one fails here until it has a target, or a
// reason to have none.
func TestEveryParserIsFuzzed(t *testing.T) {
	targets, functions := map[string]bool{}, map[string]bool{}
	var unlisted []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "testdata", "wasm", "interop", "examples", "node_modules", "queuetest", ".git", ".tools", "bin", "dist", "demo":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			switch {
			case !ok || f.Recv != nil:
			case strings.HasSuffix(path, "_test.go"):
				if strings.HasPrefix(f.Name.Name, "Fuzz") {
					targets[room+"."+f.Name.Name] = true
				}
			default:
				functions[room+"."+f.Name.Name] = true
				name := room + "." + f.Name.Name
				if _, known := parsers[name]; !known && readsOthers.MatchString(f.Name.Name) && (f.Name.IsExported() || strings.HasPrefix(room, "queue/")) && takesInput(f) && !strings.HasPrefix(room, "cmd/") {
					unlisted = append(unlisted, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range unlisted {
		t.Errorf("%s reads what others wrote, and is not in the table of this test: give it a fuzz target, and name it there", name)
	}
	for name, target := range parsers {
		room := name[:strings.LastIndexByte(name, '.')]
		if !functions[name] {
			t.Errorf("there is no function %s any more: take it out of the table", name)
		}
		if !strings.HasPrefix(target, "- ") && !targets[room+"."+target] {
			t.Errorf("%s: there is no fuzz target %s in %s", name, target, room)
		}
	}
}
