package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// axe is the source of axe-core, which npm fetches as the lock file has it. It
// is a tool of these tests, and no page carries it.
var axe = sync.OnceValues(func() (string, error) {
	const script = "node_modules/axe-core/axe.min.js"
	if !installed() {
		cmd := exec.Command("npm", "ci")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return "", err
		}
	}
	b, err := os.ReadFile(script)
	return string(b), err
})

// installed tells whether the version of the lock file is there.
func installed() bool {
	version := func(file string, of func(map[string]any) any) any {
		var m map[string]any
		b, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(b, &m) != nil {
			return nil
		}
		return of(m)
	}
	has := version("node_modules/axe-core/package.json", func(m map[string]any) any { return m["version"] })
	wants := version("package.json", func(m map[string]any) any {
		d, _ := m["dependencies"].(map[string]any)
		return d["axe-core"]
	})
	return has != nil && has == wants
}

// violation is what axe finds: a rule, and where it is broken.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		Target         []any
		FailureSummary string
	}
}

// violations runs every rule of axe that is on by default, and that of the size
// of what is clicked; or only the rules for which it matters what the screen is.
func (b *tab) violations(all bool) []violation {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		b.t.Fatalf("axe-core: %v (npm ci in interop/browser needs Node with npm and its registry)", err)
	}
	if !eval[bool](b, `Boolean(window.axe)`) {
		b.do(chromedp.Evaluate[chromedp.Void](source + "\n;void 0"))
	}
	rules := `rules: { "target-size": { enabled: true } }`
	if !all {
		rules = `runOnly: { type: "rule", values: ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block"] }`
	}
	// Rows of a table are alike, and there are thousands; what a figure is drawn of
	// has no rule.
	b.do(chromedp.Evaluate[chromedp.Void](`for (const t of document.querySelectorAll("table.series")) [...t.tBodies[0].rows].slice(3).forEach((r) => r.remove());
		window.axed = null; axe.run({ exclude: [["figure svg > *"]] }, { resultTypes: ["violations"], ` + rules + ` }).then(
		(r) => { window.axed = r.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ html, target, failureSummary }) => ({ html: html.slice(0, 300), target, failureSummary })) })); },
		(e) => { window.axed = [{ id: "axe", impact: "critical", help: String(e), nodes: [] }]; }); void 0`))
	b.waitLong(`window.axed`)
	return eval[[]violation](b, `window.axed`)
}

// accessible has axe-core look at the page: it finds nothing that is serious, and
// nothing moderate either. Where says what is looked at.
func (b *tab) accessible(where string, all bool) {
	b.t.Helper()
	for _, x := range b.violations(all) {
		var places []string
		for _, n := range x.Nodes[:min(len(x.Nodes), 4)] {
			places = append(places, n.HTML+"\n    "+strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
		}
		tell := b.t.Errorf
		if x.Impact == "minor" {
			tell = b.t.Logf
		}
		tell("%s: %s (%s), %s, at %d places:\n  %s", where, x.ID, x.Impact, x.Help, len(x.Nodes), strings.Join(places, "\n  "))
	}
}
