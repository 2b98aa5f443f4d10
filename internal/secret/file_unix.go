//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// othersWho says who but its owner may use a file; empty for nobody.
func othersWho(info fs.FileInfo) string {
	mode := info.Mode().Perm()
	owner, known := info.Sys().(*syscall.Stat_t)
	ofRoot := known && owner.Uid == 0 && os.Geteuid() != 0
	switch {
	case mode&0o007 != 0:
		return "everybody"
	case mode&0o070 == 0, ofRoot && mode&0o030 == 0:
		return ""
	}
	return "its group"
}
