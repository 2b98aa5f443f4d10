//go:build !unix

package secret

import "io/fs"

// othersWho is nobody: there are no permission bits here that would tell.
func othersWho(fs.FileInfo) string { return "" }
