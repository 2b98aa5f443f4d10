package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bill is what CycloneDX 1.5 says, by its published schema (testdata/cyclonedx,
// Apache-2.0, of the CycloneDX core team), and one that is none is refused by it.
func TestTheBillKeepsToItsSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.5.schema.json", "spdx.schema.json", "jsf-0.82.schema.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", "cyclonedx", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.5.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "sbom.json")
	if err := run(io.Discard, []string{"sbom", program, "-o", out}); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(doc)
	}
	if err := valid(body); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
	for was, is := range map[string]string{`"alg": "SHA-256"`: `"alg": "SHA-257"`, `"type": "library"`: `"type": "book"`, `"specVersion"`: `"spec"`} {
		spoilt := bytes.Replace(body, []byte(was), []byte(is), 1)
		if bytes.Equal(spoilt, body) || valid(spoilt) == nil {
			t.Errorf("with %s in the place of %s it is valid", is, was)
		}
	}
}
