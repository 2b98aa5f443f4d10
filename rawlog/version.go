package rawlog

import (
	"fmt"
	"strconv"
	"strings"
)

// checkVersion refuses a schema that this program does not read. A version is
// name/major or name/major.minor; a higher minor version only adds what may be
// ignored.
func checkVersion(schema string) error {
	name, major, err := splitVersion(schema)
	wantName, wantMajor, _ := splitVersion(SchemaVersion)
	switch {
	case err != nil || name != wantName:
		return fmt.Errorf("schema is %q, expected %s", schema, SchemaVersion)
	case major > wantMajor:
		return fmt.Errorf("%w: this log is %s; this program reads /%d: use a newer analyze", ErrNewer, schema, wantMajor)
	case major < wantMajor:
		return fmt.Errorf("%w: this log is %s; this program reads /%d: use an older analyze", ErrUnsupported, schema, wantMajor)
	}
	return nil
}

func splitVersion(schema string) (name string, major int, err error) {
	name, version, ok := strings.Cut(schema, "/")
	if !ok {
		return "", 0, fmt.Errorf("%q has no version", schema)
	}
	text, _, _ := strings.Cut(version, ".")
	major, err = strconv.Atoi(text)
	if err == nil && major < 1 {
		err = fmt.Errorf("version %d", major)
	}
	return name, major, err
}
