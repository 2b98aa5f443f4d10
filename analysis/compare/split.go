package compare

import (
	"fmt"
	"slices"
	"strings"

	"queuebench/analysis"
)

// Split makes sides of the steps of runs, one for each value of a setting, in
// the order of their first step: to compare what was varied within a run. A step
// without that setting is an error.
func Split(runs []*analysis.Digest, setting string) ([]Side, error) {
	var sides []Side
	at := map[string]int{}
	for _, d := range runs {
		parts := map[string]*analysis.Digest{}
		for i := range d.Steps {
			s := d.Steps[i]
			value, ok := s.Settings[setting]
			if !ok {
				value, ok = d.Manifest.Settings[setting]
			}
			if !ok {
				return nil, fmt.Errorf("run %s, step %d: it has no setting %q; its own are %s", d.Manifest.Run, s.Step, setting, strings.Join(ownSettings(d), ", "))
			}
			part := parts[value]
			if part == nil {
				part = &analysis.Digest{Manifest: d.Manifest}
				part.Manifest.Settings = with(d.Manifest.Settings, setting, value)
				parts[value] = part
				if _, ok := at[value]; !ok {
					at[value] = len(sides)
					sides = append(sides, Side{Label: setting + " " + value})
				}
				sides[at[value]].Runs = append(sides[at[value]].Runs, part)
			}
			s.Settings = with(s.Settings, setting, "")
			part.Steps = append(part.Steps, s)
		}
	}
	return sides, nil
}

// with is a copy of settings with one changed, or left out where it is empty.
func with(settings map[string]string, name, value string) map[string]string {
	out := make(map[string]string, len(settings)+1)
	for k, v := range settings {
		out[k] = v
	}
	delete(out, name)
	if value != "" {
		out[name] = value
	}
	return out
}

// ownSettings are the settings that steps of a run have of their own.
func ownSettings(d *analysis.Digest) []string {
	var out []string
	for i := range d.Steps {
		for name := range d.Steps[i].Settings {
			if name != "rate" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}
