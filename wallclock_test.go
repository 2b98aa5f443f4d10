package queuebench_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wallTimes are the files in which a time becomes a number of the wall clock, and why
// none of these numbers is part of a difference.
var wallTimes = map[string]string{
	"clock/clock.go":                   "the anchor, read once",
	"objectstore/folder_get.go":        "a file's own time, for its ETag",
	"queue/deltalake/start.go":         "a time that the user gave",
	"queue/kafka/config.go":            "a time that the user gave",
	"queue/kafka/positions.go":         "a time that the user gave",
	"queue/kafka/deliveries.go":        "the broker's stamp",
	"queue/redisstreams/wire.go":       "a time that the user gave",
	"queue/rabbitmq/consumer.go":       "the broker's stamp",
	"cmd/bench/kafka_settings.go":      "a time that the user gave",
	"importer/numbers.go":              "a time of another tool's file",
	"analysis/view_cut.go":             "a time that the user gave",
	"examples/running-sum/pipeline.go": "a header that its consumers read",
}

// TestOnlyTheAnchorReadsTheWallClock: no step of the wall clock can enter a difference
// where no number is made of it. Durations come from Go's own times, which carry the
// monotonic clock, and stamps from the one anchored clock.
func TestOnlyTheAnchorReadsTheWallClock(t *testing.T) {
	number := regexp.MustCompile(`\.Unix(Nano|Milli|Micro)?\(\)`)
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(path)
		if d.IsDir() {
			if name := d.Name(); path != "." && strings.HasPrefix(name, ".") || slashed == "internal" || slashed == "interop" || name == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if number.Match(body) {
			found[slashed] = true
			if wallTimes[slashed] == "" {
				t.Errorf("%s makes a number of a time: take it from a clock.Clock, or say in this table why no step of the wall clock can enter a difference by it", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range wallTimes {
		if !found[path] {
			t.Errorf("%s makes no number of a time any more: take it from the table", path)
		}
	}
}
