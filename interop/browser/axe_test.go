package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

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
// of what is clicked.
func (b *tab) violations() []violation {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		b.t.Fatalf("axe-core: %v (npm ci in interop/browser needs Node with npm and its registry)", err)
	}
	if !eval[bool](b, `Boolean(window.axe)`) {
		b.do(chromedp.Evaluate[chromedp.Void](source + "\n;void 0"))
	}
	b.do(chromedp.Evaluate[chromedp.Void](`window.axed = null; axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }).then(
		(r) => { window.axed = r.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map(({ html, target, failureSummary }) => ({ html: html.slice(0, 300), target, failureSummary })) })); },
		(e) => { window.axed = [{ id: "axe", impact: "critical", help: String(e), nodes: [] }]; }); void 0`))
	b.waitLong(`window.axed`)
	return eval[[]violation](b, `window.axed`)
}

// TestAccessible has axe-core look at the pages, wide and light, narrow and dark: it finds
// nothing that is serious, and nothing moderate either. With all that can be
// unfolded unfolded, it looks once.
func TestAccessible(t *testing.T) {
	t.Parallel()
	for _, v := range everyView() {
		switch v.name {
		case "report", "list", "run", "comparison", "error":
		default:
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			v.open(t, b)
			check := func(where string) {
				t.Helper()
				for _, x := range b.violations() {
					var places []string
					for _, n := range x.Nodes[:min(len(x.Nodes), 4)] {
						places = append(places, n.HTML+"\n    "+strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
					}
					tell := t.Errorf
					if x.Impact == "minor" {
						tell = t.Logf
					}
					tell("%s: %s (%s), %s, at %d places:\n  %s", where, x.ID, x.Impact, x.Help, len(x.Nodes), strings.Join(places, "\n  "))
				}
			}
			// Rules look at colours and at places, each of which has two kinds.
			for _, s := range []screen{screens[0], screens[3]} {
				b.see(s)
				check(s.name)
			}
			b.see(screens[0])
			// Rows of a table are alike, and there are thousands.
			b.do(chromedp.Evaluate[chromedp.Void](`for (const t of document.querySelectorAll("table.series")) [...t.tBodies[0].rows].slice(3).forEach((r) => r.remove());
				for (const d of document.querySelectorAll("details")) d.open = true; void 0`))
			check("unfolded")
		})
	}
}
