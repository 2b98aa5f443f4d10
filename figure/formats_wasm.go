//go:build js

package figure

import (
	"fmt"
	"io"
)

// PNG and PDF would add their encoders to the module that a page loads.
var otherFormats []string

func (f Figure) writeOther(_ io.Writer, format string) error {
	return fmt.Errorf("figure %s: no format %q in the browser, which draws svg only; use `analyze plot --format %s`", f.Name, format, format)
}
