package deltalake

import "errors"

// The errors that end a producer or consumer. They are wrapped with the object
// that they are about: test with errors.Is.
var (
	// ErrGap: a version is missing although a later one exists.
	ErrGap = errors.New("the log has a gap")
	// ErrStartTooOld: the version to start from was cleaned away.
	ErrStartTooOld = errors.New("the start is older than the oldest version in the log")
	// ErrOtherPartitions: a consumer waits for a table that is there with another
	// number of partitions.
	ErrOtherPartitions = errors.New("the table has another number of partitions")
	// ErrMissingData: the log names a data file that does not exist.
	ErrMissingData = errors.New("a data file of the log is missing")
	// ErrUnsupported: the table needs what this reader or writer has not.
	ErrUnsupported = errors.New("the table needs what is not supported")
	// ErrNotAppendOnly: the table was changed in a way that no queue can follow.
	ErrNotAppendOnly = errors.New("the table was changed by more than appends")
	// ErrCorrupt: an object is not what it should be.
	ErrCorrupt = errors.New("a corrupt object")
	// ErrFenced: another writer has the same AppID and is ahead.
	ErrFenced = errors.New("this writer was replaced by another one with the same AppID")
	// ErrTooManyConflicts: other writers won every race for a version.
	ErrTooManyConflicts = errors.New("other writers won each race for a version")
	// ErrUnknownFate: a commit may or may not have been stored.
	ErrUnknownFate = errors.New("it is not known whether the commit was stored")
)

var (
	errAbandoned = errors.New("deltalake: the producer was closed before the message was committed")
	errInFlight  = errors.New("deltalake: the producer was closed while the commit was under way, it may still be stored")
)
