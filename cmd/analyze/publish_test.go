package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestPublishRefusesWhatIsNoBucket(t *testing.T) {
	for _, args := range [][]string{{"publish"}, {"publish", "site"}, {"publish", "site", t.TempDir()}, {"publish", "site", "http://bucket/x"}} {
		if status, out, err := analyze(t, args...); status != 2 || out != "" || strings.Count(err, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q", args, status, out, err)
		}
	}
	if status, _, err := analyze(t, "summary", "x", "--link", "https://example.org"); status != 2 || !strings.Contains(err, "--markdown") {
		t.Errorf("a link without Markdown: status %d, %q", status, err)
	}
	if status, _, err := analyze(t, "summary", "x", "--markdown", "--link", "javascript:alert(1)"); status != 2 || !strings.Contains(err, "no address") {
		t.Errorf("a link that is none: status %d, %q", status, err)
	}
}

// The workflow's commands exist, with the flags that it gives them.
func TestWorkflowUsesCommandsThatAre(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "github-pages", "benchmark.yml"))
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`bin/analyze (\w+)([^\n]*)`).FindAllStringSubmatch(string(text), -1)
	if len(lines) < 2 {
		t.Fatalf("%d commands of analyze", len(lines))
	}
	for _, l := range lines {
		at := slices.IndexFunc(newApp().Commands, func(c *cli.Command) bool { return c.Name == l[1] })
		if at < 0 {
			t.Errorf("there is no analyze %s", l[1])
			continue
		}
		for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(l[2], -1) {
			if !slices.ContainsFunc(newApp().Commands[at].Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag[1]) }) {
				t.Errorf("analyze %s has no --%s", l[1], flag[1])
			}
		}
	}
}
