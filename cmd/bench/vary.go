package main

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
)

// fixed are flags that say where things are, or what is true of a whole run.
var fixed = []string{"workload", "queue", "seed", "run-id", "spool", "part-age", "json", "quiet", "calibrate", "metrics-addr", "repeats", "order", "stop-when-behind", "fail-fast", "vary"}

// variant is what a step has of its own.
type variant struct {
	name     string // empty where the settings say it all
	settings []command.Setting
}

// variantName is the setting that keeps a variant's name.
const variantName = "variant"

// variations are the combinations of what --vary varies, each with each variant
// of the scenario, if there is one; one that varies nothing where nothing does.
func variations(c *cli.Context) ([]variant, error) {
	all := []variant{{}}
	if s := scenarioOf(c.Context); s != nil && s.variants != nil {
		all = s.variants
	}
	refused := map[string]bool{}
	for _, name := range fixed {
		refused[name] = true
	}
	for _, f := range placeFlags() {
		refused[command.Name(f)] = true
	}
	seen := map[string]bool{}
	for _, item := range *c.Generic("vary").(*command.Strings) {
		name, list, ok := strings.Cut(item, "=")
		values, err := splitValues(list)
		switch {
		case !ok || name == "" || list == "":
			return nil, command.Misusef("--vary %q: write a flag and its values, such as consumers=1,2,4", item)
		case refused[name]:
			return nil, command.Misusef("--vary %s: this flag is the same for a whole run", name)
		case seen[name]:
			return nil, command.Misusef("--vary %s is given twice: write all its values in one list", name)
		case err != nil:
			return nil, command.Misusef("--vary %q: %w", item, err)
		}
		seen[name] = true
		if len(values) > maxSteps/len(all) {
			return nil, command.Misusef("--vary makes more than %d steps: vary less at once", maxSteps)
		}
		var next []variant
		for _, before := range all {
			for _, v := range values {
				n := len(before.settings)
				next = append(next, variant{before.name, append(before.settings[:n:n], command.Setting{Name: name, Value: v})})
			}
		}
		all = next
	}
	return all, nil
}

// splitValues are the values of a list, which commas part, but for those within a
// value in double quotes: a line of CSV, RFC 4180.
func splitValues(list string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(list))
	values, err := r.Read()
	if err == nil {
		if _, err = r.Read(); errors.Is(err, io.EOF) {
			return values, nil
		}
	}
	return nil, errors.New(`commas part the values; put one that has commas or quotes of its own into double quotes, and double those within it, such as header="a=1,2","b=say ""x"""`)
}

// joinValues writes values so that splitValues reads them.
func joinValues(values []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(values) // into memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
