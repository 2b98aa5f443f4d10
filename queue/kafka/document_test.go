package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/kafka.md has the table of the settings that are known.
func TestSettingsAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "kafka.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, k := range known {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(k.names, "`, `"), k.what)
	}
	if !strings.Contains(string(text), "|---|---|\n"+b.String()) {
		t.Errorf("the table of %s is not that of this package, which is:\n%s", path, b.String())
	}
}
