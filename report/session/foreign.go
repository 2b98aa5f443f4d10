package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"queuebench/intake/address"
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
	what, argument := "is no digest", address.Quoted(first.Name)
	switch log := isLog(all); {
	case log && inFolder:
		what = "is of a raw log"
	case log:
		what, argument = "is of a raw log", "RUN"
	case len(first.Data) == 0:
		run.Err = errors.New(first.Name + " is empty: copy it again")
		return run
	}
	if inFolder {
		run.Name, argument = folder, address.Quoted(folder)
	}
	more := ""
	if n := len(all) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
		what = strings.Replace(what, "is", "are", 1)
	}
	run.Err = fmt.Errorf("%s%s %s. This file opens digests only, so that it stays small: drop what `analyze digest %s -o run.digest.gz` writes, or open it with `analyze serve %[4]s`",
		first.Name, more, strings.Replace(what, "are no digest", "are no digests", 1), argument)
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
