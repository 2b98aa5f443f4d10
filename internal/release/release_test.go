package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLicencesAreKnownByTheirWords(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                                         "Apache-2.0",
		"Permission is hereby granted, free of\ncharge, to any person obtaining a copy of":                                    "MIT",
		"Redistribution and use in source and binary forms, with or\nwithout … Neither the name of the":                       "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without":                                                  "BSD-2-Clause",
		"Mozilla Public License Version 2.0 … \"Secondary License\" means either the GNU General Public License, Version 2.0": "MPL-2.0",
		"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3":                                                                        "AGPL-3.0!",
		"GNU GENERAL PUBLIC LICENSE":                                "GPL!",
		"Business Source License 1.1 … Apache License, Version 2.0": "BUSL-1.1!",
		"Server Side Public License VERSION 1":                      "SSPL-1.0!",
		"\"Commons Clause\" License Condition … MIT … Permission is hereby granted, free of charge, to any person obtaining a copy": "Commons-Clause!",
		"your choice of exactly one of: The FreeType License, The GNU General Public License":                                       "FTL",
		"Creative Commons Attribution 4.0 International Public License":                                                             "CC-BY-4.0",
		"Creative Commons Attribution-NonCommercial 4.0 International Public License":                                               "",
		"All rights reserved.": "",
	} {
		id, refused := classify([]byte(text))
		if refused {
			id += "!"
		}
		if id != want {
			t.Errorf("%q is %q, expected %q", text, id, want)
		}
	}
}

func TestAModuleThatMustNotBeLinkedIsRefused(t *testing.T) {
	for text, good := range map[string]bool{"GNU Affero General Public License": false, "do as you please": false, "Apache License Version 2.0": true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := licencesOf(module{Path: "example.org/m", Version: "v1.0.0"}, dir)
		if good != (err == nil) || !good && (!errors.Is(err, errLicence) || !strings.Contains(err.Error(), "example.org/m v1.0.0")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := licencesOf(module{}, t.TempDir()); !errors.Is(err, errLicence) {
		t.Errorf("a module without a licence: %v", err)
	}
}

// A choice of licences is ours with the text of the one that was chosen, or not at all.
func TestAChoiceOfLicences(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("LICENSE", "your choice of exactly one of: The FreeType License, the GNU General Public License")
	if _, err := licencesOf(module{Path: "m"}, dir); !errors.Is(err, errLicence) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the text of the one: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "licenses"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("licenses/ftl.txt", "The FreeType Project LICENSE")
	if files, err := licencesOf(module{Path: "m"}, dir); err != nil || len(files) != 2 || idsOf(files) != "FTL" || string(files[1].text) != "The FreeType Project LICENSE" {
		t.Errorf("%+v, %v", files, err)
	}
}

// All that the programs link, on every system of a release, has a licence that they may
// link: asked of the imports, without building them.
func TestLicencesOfTheProgramsThemselves(t *testing.T) {
	const form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"
	modules := map[[2]string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", form, "./cmd/bench", "./cmd/analyze")
		cmd.Dir = filepath.Join("..", "..")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				modules[[2]string{path, version}] = true
			}
		}
	}
	if len(modules) < 30 {
		t.Errorf("%d modules: the programs link more", len(modules))
	}
	for pair := range modules {
		m := module{Path: pair[0], Version: pair[1]}
		dir, err := folder(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := licencesOf(m, dir); err != nil {
			t.Error(err)
		}
	}
}

// The test's own program stands for a released one: it links our modules.
func TestBillOfAProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var table bytes.Buffer
	if err := run(&table, []string{"licences", program, "-o", filepath.Join(dir, "LICENSES")}); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); !strings.Contains(text, "BSD-3-Clause") || !strings.HasPrefix(text, goModule) {
		t.Errorf("licences: %s", text)
	}
	for range 2 {
		if err := run(io.Discard, []string{"sbom", program, "-o", filepath.Join(dir, "sbom.json")}); err != nil {
			t.Fatal(err)
		}
	}
	body, err := os.ReadFile(filepath.Join(dir, "sbom.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	if err := json.Unmarshal(body, &b); err != nil || b.Format != "CycloneDX" || b.Spec != "1.5" || len(b.Components) == 0 || !strings.HasPrefix(b.Components[0].PURL, "pkg:golang/std@") {
		t.Errorf("%v, %s", err, body)
	}
	home, err := os.UserHomeDir()
	if err == nil && bytes.Contains(body, []byte(home)) {
		t.Error("the bill holds a path of this machine")
	}
	if err := run(io.Discard, []string{"sums", dir}); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsName))
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if err != nil || len(lines) != 2 || !slices.IsSorted([]string{lines[0][66:], lines[1][66:]}) {
		t.Errorf("%q, %v", sums, err)
	}
	for _, args := range [][]string{nil, {"sbom"}, {"licences", "main.go"}, {"other", program}, {"sums", filepath.Join(dir, "none")}} {
		if err := run(io.Discard, args); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}
