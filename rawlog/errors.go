package rawlog

import (
	"errors"
	"fmt"
)

// The errors that callers act on. They are wrapped with the object and what is
// wrong with it: test with errors.Is.
var (
	// ErrNotAPart: the file is no part of a raw log (another format, or
	// Parquet without a part's identity).
	ErrNotAPart = errors.New("not a part of a raw log")
	// ErrDamaged: the file is cut off, altered, or made to deceive.
	ErrDamaged = errors.New("damaged file")
	// ErrSchema: the file's columns are not those of its table.
	ErrSchema = errors.New("not the columns of its table")
	// ErrUnsupported: valid Parquet that this reader does not read.
	ErrUnsupported = errors.New("not supported by this reader")
	// ErrNewer: written by a version whose format this program does not know.
	ErrNewer = errors.New("written by a newer version")
	// ErrNotHalves: what was to be joined are no halves of one run.
	ErrNotHalves = errors.New("no two halves of one run")
	// ErrNotARun: the place holds no run.
	ErrNotARun = errors.New("not a run")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func schemaError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSchema, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
