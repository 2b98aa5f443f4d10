// Release writes what goes with the programs of a release: the licences of all
// modules that they link, a bill of materials (CycloneDX), and checksums.
//
//	release licences PROGRAM… -o FILE   refuses a licence that must not be linked
//	release sbom PROGRAM… -o FILE
//	release sums DIR                    SHA256SUMS of the files in DIR
//
// What a program links it reads from the program itself, as Go's linker recorded
// it; the texts of licences from the module cache. It writes no time and no path
// of the machine, so that the same programs give the same bytes.
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New("say licences, sbom or sums, and of what")
	}
	verb, args := args[0], args[1:]
	if verb == "sums" {
		return writeSums(args[0])
	}
	out := ""
	if at := slices.Index(args, "-o"); at >= 0 && at+1 < len(args) {
		out = args[at+1]
		args = slices.Delete(slices.Clone(args), at, at+2)
	}
	modules, err := linked(args)
	if err != nil {
		return err
	}
	var body []byte
	switch verb {
	case "licences":
		body, err = licences(stdout, modules)
	case "sbom":
		body, err = sbom(args, modules)
	default:
		return fmt.Errorf("%q: say licences, sbom or sums", verb)
	}
	if err != nil || out == "" {
		return err
	}
	return os.WriteFile(out, body, 0o644)
}

// module is one that a program links.
type module struct {
	Path, Version, Sum string
	Programs           []string // that link it
}

// goModule stands for the standard library.
const goModule = "go"

// linked are the modules of programs, in the order of their paths, the standard
// library first, and without our own.
func linked(programs []string) ([]module, error) {
	all := map[string]*module{}
	add := func(path, version, sum, program string) {
		key := path + "@" + version
		if all[key] == nil {
			all[key] = &module{Path: path, Version: version, Sum: sum}
		}
		if m := all[key]; !slices.Contains(m.Programs, program) {
			m.Programs = append(m.Programs, program)
		}
	}
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s is no program of Go: %w", file, err)
		}
		name := info.Path[strings.LastIndexByte(info.Path, '/')+1:]
		add(goModule, strings.TrimPrefix(info.GoVersion, "go"), "", name)
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			add(d.Path, d.Version, d.Sum, name)
		}
	}
	var out []module
	for _, m := range all {
		slices.Sort(m.Programs)
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b module) int {
		if (a.Path == goModule) != (b.Path == goModule) {
			return strings.Compare(fmt.Sprint(b.Path == goModule), fmt.Sprint(a.Path == goModule))
		}
		return strings.Compare(a.Path+"@"+a.Version, b.Path+"@"+b.Version)
	})
	return out, nil
}
