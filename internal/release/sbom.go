package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A bill of materials as CycloneDX 1.5 has it (ECMA-424), as far as it is used.
type bom struct {
	Schema     string      `json:"$schema"`
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
	Depends    []depends   `json:"dependencies"`
}

// depends says which components one is made of.
type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref,omitempty"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Licences   []choice   `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	// Components are the programs, of the whole.
	Components []component `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // hexadecimal
}

type choice struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// whole is the reference of what is released.
const whole = "queuebench"

// sbom is the bill of materials of programs, which link modules.
func sbom(programs []string, modules []module) ([]byte, error) {
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.5.schema.json", Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata:   metadata{component{Type: "application", Ref: whole, Name: whole, Licences: []choice{{"Apache-2.0"}}}},
		Components: []component{}, Depends: []depends{{Ref: whole, On: []string{}}},
	}
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sum, err := sumOf(file)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(file)
		b.Metadata.Component.Version = info.Main.Version
		b.Metadata.Component.Components = append(b.Metadata.Component.Components, component{
			Type: "application", Ref: whole + "/" + name, Name: name, Version: info.Main.Version, Hashes: []hash{{"SHA-256", sum}},
		})
	}
	for _, m := range modules {
		dir, err := folder(m)
		if err != nil {
			return nil, err
		}
		files, err := licencesOf(m, dir)
		if err != nil {
			return nil, err
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		if m.Path == goModule {
			purl = "pkg:golang/std@" + m.Version
		}
		c := component{
			Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Licences: []choice{{idsOf(files)}},
			Properties: []property{{"queuebench:linked-by", strings.Join(m.Programs, ",")}},
		}
		if m.Sum != "" {
			c.Properties = append(c.Properties, property{"golang:h1", m.Sum})
		}
		b.Components = append(b.Components, c)
		b.Depends[0].On = append(b.Depends[0].On, purl)
	}
	body, err := json.MarshalIndent(b, "", "  ")
	return append(body, '\n'), err
}

// sumsName is the file of checksums, in the form of sha256sum.
const sumsName = "SHA256SUMS"

func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // in the order of their names
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == sumsName {
			continue
		}
		sum, err := sumOf(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, e.Name())
	}
	if out.Len() == 0 {
		return fmt.Errorf("%s holds no file", dir)
	}
	return os.WriteFile(filepath.Join(dir, sumsName), []byte(out.String()), 0o644)
}

// sumOf is a file's SHA-256 in hexadecimal digits.
func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
