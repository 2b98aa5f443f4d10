package session

import (
	"bytes"
	"errors"
	"strings"

	"queuebench/intake/address"
	"queuebench/report/texts"
)

// foreign says of the files of a group that are no digests what they are, and
// what reads them.
func foreign(files []File, group int) Run {
	var all []File
	for _, f := range files {
		if f.Foreign && f.Err == nil && f.Group == group {
			all = append(all, f)
		}
	}
	first := all[0]
	folder, _, inFolder := strings.Cut(first.Name, "/")
	run := Run{Name: first.Name, From: first.From}
	argument, log := address.Quoted(first.Name), isLog(all)
	switch {
	case log && !inFolder:
		argument = "RUN"
	case !log && len(first.Data) == 0:
		run.Err = errors.New(first.Name + " is empty: copy it again")
		return run
	}
	if inFolder {
		run.Name, argument = folder, address.Quoted(folder)
	}
	run.Err = errors.New(texts.ForeignFiles(first.Name, len(all)-1, log, argument))
	return run
}

// isLog tells files of a raw log: parts, or the manifest that names them.
func isLog(files []File) bool {
	for _, f := range files {
		if address.IsManifest(f.Data) || bytes.HasPrefix(f.Data, []byte("PAR1")) {
			return true
		}
	}
	return false
}
