package browser

import (
	"context"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// policy tries on a page what a run's name would do that had become markup, and
// what a script would do that had come in: the policy of the page refuses each.
// That the pages themselves keep to it, and ask no stranger, all tests find: see
// newTab. The page is left.
func (b *tab) policy() {
	b.t.Helper()
	b.mu.Lock()
	for _, p := range b.problems {
		b.t.Errorf("before anything was tried: %s", p)
	}
	before := len(b.requests)
	b.ignore = append(b.ignore, "violates the following", "Content Security Policy", "stranger.example", "inline script", "inline event handler", "was not explicitly set")
	b.mu.Unlock()
	refused := underPolicy(b, `(async () => {
		const refused = new Set();
		document.addEventListener("securitypolicyviolation", (e) => refused.add(e.effectiveDirective));
		const script = document.createElement("script");
		script.textContent = "window.broken = 1";
		document.body.append(script);
		const div = document.createElement("div");
		div.innerHTML = '<img src="http://stranger.example/a.png" onerror="window.broken = 2"><b onclick="window.broken = 3">b</b>';
		document.body.append(div);
		div.querySelector("b").click();
		const object = document.createElement("object");
		object.data = "http://stranger.example/o";
		document.body.append(object);
		const form = document.createElement("form");
		form.action = "http://stranger.example/f";
		document.body.append(form);
		form.submit();
		const base = document.createElement("base");
		base.href = "http://stranger.example/";
		document.head.append(base);
		try { new Function("window.broken = 4")(); } catch { refused.add("eval"); }
		await fetch("http://stranger.example/x").catch(() => {});
		for (let i = 0; i < 200 && !refused.has("form-action"); i++) await new Promise((done) => setTimeout(done, 20));
		base.remove();
		if (window.broken) refused.add("broken " + window.broken);
		return [...refused].sort();
	})()`)
	got := " " + strings.Join(refused, " ") + " "
	for _, want := range []string{"img-src", "script-src-elem", "script-src-attr", "connect-src", "form-action", "base-uri", "eval"} {
		if !strings.Contains(got, " "+want+" ") {
			b.t.Errorf("%s is not refused: %s", want, refused)
		}
	}
	if strings.Contains(got, "broken") {
		b.t.Errorf("what came in has run: %s", refused)
	}
	// What was refused was never sent; the browser notes some of it all the same.
	b.mu.Lock()
	b.requests = append(b.requests[:before:before], without(b.requests[before:], "stranger.example")...)
	b.mu.Unlock()
	b.do(chromedp.Navigate("about:blank"))
}

// underPolicy evaluates as a script of the page would: eval is refused there, if
// not to a debugger.
func underPolicy(b *tab, js string) []string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](js, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.AllowUnsafeEvalBlockedByCSP = new(false) }))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func without(all []string, part string) (out []string) {
	for _, s := range all {
		if !strings.Contains(s, part) {
			out = append(out, s)
		}
	}
	return out
}
