package queuebench_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what GitHub reads of a workflow's file, as far as ours uses it;
// other keys are an error.
type workflow struct {
	Name        string
	On          map[string]struct{ Branches []string }
	Permissions map[string]string
	Concurrency struct{ Group string }
	Jobs        map[string]struct {
		RunsOn      string `yaml:"runs-on"`
		Environment struct{ Name, URL string }
		Steps       []struct {
			ID, Uses, Run string
			With          map[string]string
		}
	}
}

// TestWorkflowForGitHubPages reads the example as GitHub does, and runs what it
// runs, with shorter steps: twice, as two pushes do. The site then has both runs,
// and the summary of the job has a link to each.
func TestWorkflowForGitHubPages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("examples", "github-pages", "benchmark.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&w); err != nil {
		t.Fatal(err)
	}
	job, ok := w.Jobs["benchmark"]
	if !ok || len(w.On) == 0 || w.Permissions["pages"] != "write" || w.Permissions["id-token"] != "write" || job.RunsOn == "" {
		t.Fatalf("GitHub Pages needs more than %+v", w)
	}
	var script, published string
	for _, s := range job.Steps {
		switch {
		case s.Run != "" && s.Uses != "" || s.Run == "" && s.Uses == "":
			t.Errorf("a step has to use or to run something: %+v", s)
		case s.Uses != "" && !regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+$`).MatchString(s.Uses):
			t.Errorf("%s names no release", s.Uses)
		case strings.HasPrefix(s.Uses, "actions/upload-pages-artifact@"):
			published = s.With["path"]
		case strings.Contains(s.Run, "bin/analyze"):
			script += s.Run
		case s.Run != "" && s.Run != "make":
			t.Errorf("nothing tests %q", s.Run)
		}
	}
	if published == "" || !strings.Contains(script, "--out "+published) {
		t.Fatalf("uploaded is %q, and the script writes another folder:\n%s", published, script)
	}
	script = strings.NewReplacer("--duration 30s", "--duration 2s", "${{ github.repository_owner }}", "owner", "${{ github.event.repository.name }}", "repo").Replace(script)
	if strings.Contains(script, "${{") {
		t.Fatalf("an expression that the test does not know:\n%s", script)
	}

	s := newShell(t)
	if err := os.Symlink(bin, filepath.Join(s.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	summary := filepath.Join(s.dir, "summary.md")
	s.env = append(slices.Clone(s.env), "GITHUB_STEP_SUMMARY="+summary)
	for range 2 {
		s.run(t, script)
	}
	index, err := os.ReadFile(filepath.Join(s.dir, published, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	markdown, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<https://owner\.github\.io/repo/(#log=[^>&]+)>`).FindAllStringSubmatch(string(markdown), -1)
	if len(links) != 2 || links[0][1] == links[1][1] {
		t.Fatalf("%d links to two runs in\n%s", len(links), markdown)
	}
	for _, l := range links {
		if !strings.Contains(string(index), `href="`+l[1]+`"`) {
			t.Errorf("the site has no run at %s", l[1])
		}
	}
}
