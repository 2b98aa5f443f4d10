package intake

import (
	"fmt"
	"net/url"
	"strings"

	"queuebench/analysis"
	"queuebench/importer"
)

// What files of other tools do not say, by the flags of the command line.
const (
	keyColumns = "columns"
	keyUnit    = "unit"
	keyMetric  = "metric"
)

// ParseFragment reads Options from the fragment of the page's address: where raw
// logs are cut exactly, and what files of other tools do not say. A view that is
// wrong is no error here: it is told when it is drawn.
func ParseFragment(fragment string) (opt Options, err error) {
	opt.View, _ = analysis.ParseFragment(fragment)
	page, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return opt, fmt.Errorf("the address's fragment: %w", err)
	}
	opt.Import.Metrics = page[keyMetric]
	if text := page.Get(keyColumns); text != "" {
		if opt.Import.Columns, err = importer.ParseColumns(text); err != nil {
			return opt, fmt.Errorf("%s: %w", keyColumns, err)
		}
	}
	if text := page.Get(keyUnit); text != "" {
		if opt.Import.Unit, err = importer.ParseUnit(text); err != nil {
			return opt, fmt.Errorf("%s: %w", keyUnit, err)
		}
	}
	return opt, nil
}
