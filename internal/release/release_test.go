package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
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
