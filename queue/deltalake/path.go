package deltalake

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

const (
	logFolder      = "_delta_log/"
	lastCheckpoint = logFolder + "_last_checkpoint"
)

// versionName matches the name of a version, below the log's folder. Nothing
// nested is one (delta#7451).
var versionName = regexp.MustCompile(`^(\d{20})\.json$`)

// sidecars is where the sidecars of checkpoints lie.
const sidecars = logFolder + "_sidecars/"

// checkpointName matches a checkpoint, or a part of one: N.checkpoint.parquet,
// N.checkpoint.PART.PARTS.parquet, N.checkpoint.UUID.parquet or .json.
var checkpointName = regexp.MustCompile(`^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.([0-9A-Za-z-]{1,64}))?\.(parquet|json)$`)

func versionKey(v int64) string    { return fmt.Sprintf("%s%020d.json", logFolder, v) }
func checkpointKey(v int64) string { return fmt.Sprintf("%s%020d.checkpoint.parquet", logFolder, v) }

// parseName returns the version in a key that the pattern matches.
func parseName(pattern *regexp.Regexp, key string) (int64, bool) {
	name, ok := strings.CutPrefix(key, logFolder)
	if !ok {
		return 0, false
	}
	m := pattern.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	return v, err == nil
}

// dataKey is the key of a data file, relative to the table: its path in the
// log, percent-decoded exactly once. What points outside the table is refused.
func dataKey(path string) (string, error) {
	if scheme, _, ok := strings.Cut(path, ":"); (ok && !strings.ContainsAny(scheme, "/%")) || strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("%w: the data file %q has an absolute path", ErrUnsupported, path)
	}
	key, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%w: the path %q of a data file: %w", ErrCorrupt, path, err)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return "", fmt.Errorf("%w: the path %q of a data file leaves the table or has an empty part", ErrUnsupported, path)
		}
	}
	return key, nil
}
