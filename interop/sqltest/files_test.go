package sqltest

import (
	"os"
	"testing"
)

// The rows of an engine in a file agree with a summary in another: for `make
// bench-scale`, which names the two. Without them there is nothing to hold.
func TestFilesAgree(t *testing.T) {
	if os.Getenv("ROWS") == "" {
		return
	}
	rows, err := os.ReadFile(os.Getenv("ROWS"))
	if err != nil {
		t.Fatal(err)
	}
	summary, err := os.ReadFile(os.Getenv("SUMMARY"))
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, rows, summary, "50", "75", "85", "95", "99", "99.9")
}
