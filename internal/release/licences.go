package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
)

// freeType is the FreeType License, which golang/freetype offers beside the GPL: ours is
// this one. Its text stands in a folder beside the choice, and asks for credit.
const freeType = "FTL"

// marks are words of a licence's text by which it is known, in lower case and
// with single spaces; the first whose words all stand there is taken. Those that
// must not be linked come first.
var marks = []struct {
	id      string // SPDX
	words   []string
	refused bool
}{
	{"AGPL-3.0", []string{"gnu affero general public license"}, true},
	{"SSPL-1.0", []string{"server side public license"}, true},
	{"BUSL-1.1", []string{"business source license"}, true},
	{"Elastic-2.0", []string{"elastic license"}, true},
	{"Commons-Clause", []string{"commons clause"}, true},
	{freeType, []string{"choice of exactly one", "the freetype license"}, false}, // the other one is the GPL
	{"LGPL", []string{"gnu lesser general public license"}, true},
	{"GPL", []string{"gnu general public license"}, true},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}, false},
	{"Apache-2.0", []string{"apache license", "version 2.0"}, false},
	{"OFL-1.1", []string{"sil open font license"}, false},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}, false},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "may not be used to endorse"}, false},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}, false},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"}, false},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee"}, false},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy"}, false},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}, false},
	// Those for non-commercial use, without derivatives or to be shared alike are called otherwise.
	{"CC-BY-4.0", []string{"creative commons attribution 4.0 international"}, false},
	{"CC0-1.0", []string{"cc0 1.0 universal"}, false},
}

// classify names the licence of a text; empty for one that is not known.
func classify(text []byte) (id string, refused bool) {
	flat := strings.ToLower(strings.Join(strings.FieldsFunc(string(text), unicode.IsSpace), " "))
	for _, m := range marks {
		if !slices.ContainsFunc(m.words, func(w string) bool { return !strings.Contains(flat, w) }) {
			// The Mozilla licence names the GNU ones as compatible.
			if strings.Contains(m.id, "GPL") && strings.Contains(flat, "mozilla public license version 2.0") {
				continue
			}
			return m.id, m.refused
		}
	}
	return "", false
}

// licenceFile is a file with a licence in it, or a notice, which has no id.
type licenceFile struct {
	name, id string
	text     []byte
}

// named says whether a file's name begins with one of these words.
func named(file string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(strings.ToUpper(file), w) })
}

// errLicence: a licence that must not be linked, or none that is known.
var errLicence = errors.New("a licence that must not be linked")

// licencesOf reads the licences in a module's folder.
func licencesOf(m module, dir string) ([]licenceFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []licenceFile
	known := false
	for _, e := range entries {
		notice := named(e.Name(), "NOTICE") // which the Apache licence wants to be passed on
		if e.IsDir() || !notice && !named(e.Name(), "LICENSE", "LICENCE", "COPYING", "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		id, refused := classify(text)
		if refused {
			return nil, fmt.Errorf("%w: %s %s has %s in %s: take another library", errLicence, m.Path, m.Version, id, e.Name())
		}
		switch {
		case notice:
			id = ""
		case id == "":
			return nil, fmt.Errorf("%w: %s of %s %s is not known: look at it, and add its mark", errLicence, e.Name(), m.Path, m.Version)
		default:
			known = true
		}
		files = append(files, licenceFile{e.Name(), id, text})
		if id == freeType {
			chosen := filepath.Join("licenses", "ftl.txt")
			if text, err = os.ReadFile(filepath.Join(dir, chosen)); err != nil {
				return nil, fmt.Errorf("%w: the licence of %s %s that is ours: %w", errLicence, m.Path, m.Version, err)
			}
			files = append(files, licenceFile{filepath.ToSlash(chosen), id, text})
		}
	}
	if !known {
		return nil, fmt.Errorf("%w: no licence of %s %s is known: look at it, and add its mark", errLicence, m.Path, m.Version)
	}
	return files, nil
}

// folder is where a module's files lie in the module cache.
func folder(m module) (string, error) {
	args := []string{"list", "-m", "-f", "{{.Dir}}", m.Path}
	if m.Path == goModule {
		args = []string{"env", "GOROOT"}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// licences prints a table of them, and returns their texts. All that must not be
// linked are in the error.
func licences(stdout io.Writer, modules []module) ([]byte, error) {
	var texts bytes.Buffer
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	var errs []error
	for _, m := range modules {
		dir, err := folder(m)
		if err != nil {
			return nil, err
		}
		files, err := licencesOf(m, dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Path, m.Version, idsOf(files), strings.Join(m.Programs, ", "))
		for _, f := range files {
			title := fmt.Sprintf("%s %s, %s", m.Path, m.Version, f.name)
			if f.id != "" {
				title += " (" + f.id + ")"
			}
			line := strings.Repeat("=", 78)
			fmt.Fprintf(&texts, "%s\n%s\n%s\n\n%s\n\n", line, title, line, bytes.TrimSpace(f.text))
		}
	}
	return texts.Bytes(), errors.Join(append(errs, table.Flush())...)
}

func idsOf(files []licenceFile) string {
	var ids []string
	for _, f := range files {
		if f.id != "" && !slices.Contains(ids, f.id) {
			ids = append(ids, f.id)
		}
	}
	return strings.Join(ids, " AND ")
}
