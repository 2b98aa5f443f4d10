package importer

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"queuebench/analysis"
)

//go:embed published/*.csv
var publishedFiles embed.FS

// Published names the reference series that are built in.
func Published() []string {
	var names []string
	files, _ := fs.Glob(publishedFiles, "published/*.csv") // the pattern is well-formed
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".csv"))
	}
	return names
}

// IsPublished tells whether a name is that of a series that is built in.
func IsPublished(name string) bool {
	_, err := fs.Stat(publishedFiles, "published/"+name+".csv")
	return err == nil && fs.ValidPath(name)
}

// ReadPublished returns the reference series of a name in Published.
func ReadPublished(name string) ([]analysis.Reference, error) {
	body, err := fs.ReadFile(publishedFiles, "published/"+name+".csv")
	if err != nil {
		return nil, fmt.Errorf("no reference series %q is built in: there is %s", name, strings.Join(Published(), ", "))
	}
	d, err := Read(name, bytes.NewReader(body), Options{})
	if err != nil {
		return nil, err
	}
	return d.References, nil
}
