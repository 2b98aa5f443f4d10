package broker

import (
	"fmt"
	"maps"
	"slices"
)

// Positive refuses settings of a kind of queue, by their names, that are below 1.
func Positive(kind string, settings map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if n := settings[name]; n < 1 {
			return fmt.Errorf("%s: %s %d is not at least 1", kind, name, n)
		}
	}
	return nil
}
