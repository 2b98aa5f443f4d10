package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chrome is the one browser of all tests; each test has a window of its own.
var chrome context.Context

// pictures asks for pictures of what the tests look at, not of failures only.
var pictures = flag.Bool("pictures", false, "save pictures of the main views into artefacts")

// scratch is a folder that lives as long as the tests do.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	if err := sideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := start(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sideBySide lets twice as many tests run at a time as there are processors,
// unless -parallel says otherwise: half of what a test takes is waiting for the
// browser's other processes.
func sideBySide() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(2*goruntime.GOMAXPROCS(0)))
}

func start(m *testing.M) (code int, err error) {
	if scratch, err = os.MkdirTemp("", "queuebench-tools-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	ctx, quit, err := launch()
	if err != nil {
		return 1, err
	}
	defer quit()
	chrome = ctx
	return m.Run(), nil
}

// launch starts a browser with a profile of its own; quit ends it.
func launch(more ...chromedp.ExecAllocatorOption) (ctx context.Context, quit func(), err error) {
	path, err := chromium()
	if err != nil {
		return nil, nil, err
	}
	profile, err := os.MkdirTemp("", "queuebench-browser-")
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.WindowSize(1200, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-default-apps", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
		// Whoever else is asked does not exist, and the failure is seen.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
	}, more...)...)
	ctx, cancel := chromedp.NewContext(ctx)
	quit = func() {
		cancel()
		stop()
		if err := os.RemoveAll(profile); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := chromedp.Do(ctx); err != nil {
		quit()
		return nil, nil, fmt.Errorf("%s did not start: %w", path, err)
	}
	return ctx, quit, nil
}

func chromium() (string, error) {
	if p := os.Getenv("CHROMIUM"); p != "" {
		return p, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("these tests need a Chromium: install one (Debian: apt-get install -y --no-install-recommends chromium), or name it in CHROMIUM")
}

// tab is a page as a person has it before them.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string
	ignore   []string // parts of problems that the test expects
}

// newTab opens an empty tab that notes every console message that is an error,
// every violation of the security policy and every request.
func newTab(t testing.TB) *tab {
	t.Helper()
	return tabOf(t, chrome)
}

// tabOf opens it in a browser that is not the one of all tests.
func tabOf(t testing.TB, browser context.Context) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.event); err != nil {
		t.Fatal(err)
	}
	for _, enable := range []func() error{
		func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err },
		func() error { _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); return err },
		// Each window is the one that a person works in, also beside others.
		func() error {
			_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
			return err
		},
	} {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.shot("failed")
		}
		closeTab()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the browser reports: %s", p)
		}
		for _, r := range b.requests {
			if !strings.HasPrefix(r, "http://127.0.0.1:") && !strings.HasPrefix(r, "file://") && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") {
				t.Errorf("the page asked a stranger: %s", r)
			}
		}
	})
	return b
}

func (b *tab) event(ev any) {
	problem := ""
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.mu.Lock()
		b.requests = append(b.requests, e.Request.URL)
		b.mu.Unlock()
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			problem = string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL
		}
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			problem += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if k := string(e.Type); k == "error" || k == "warning" || k == "assert" {
			for _, a := range e.Args {
				problem += " " + string(a.Value) + a.Description
			}
			problem = "console:" + problem
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a dialog opened: " + e.Message
	}
	if problem == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.ignore {
		if strings.Contains(problem, i) {
			return
		}
	}
	b.problems = append(b.problems, problem)
}

// within bounds what the page is given to do something: on a host that is busy a
// figure takes a minute.
const within = 4 * time.Minute

// do does one step after the other. The page may draw itself anew between the finding
// of an element and the click on it: then it is found again.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		for range 5 {
			if err == nil || !strings.Contains(err.Error(), "Could not find node") {
				break
			}
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// eval evaluates JavaScript in the page.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := evaluated[T](b, js)
	if err != nil {
		b.t.Fatalf("%v: %s", err, js)
	}
	return v
}

func evaluated[T any](b *tab, js string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// wait waits until a JavaScript expression is true, of a page that may still be going
// to another one.
func (b *tab) wait(js string) { b.t.Helper(); b.waitFor(js, within) }

// waitLong waits for what reads hundreds of megabytes.
func (b *tab) waitLong(js string) { b.t.Helper(); b.waitFor(js, 2*within) }

// leaving says that the page was gone before it answered.
func leaving(err error) bool {
	return slices.ContainsFunc([]string{"navigated or closed", "Execution context was destroyed", "Cannot find context"}, func(text string) bool {
		return strings.Contains(err.Error(), text)
	})
}

func (b *tab) waitFor(js string, within time.Duration) {
	b.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		is, err := evaluated[bool](b, "Boolean("+js+")")
		if is {
			return
		}
		if err != nil && !leaving(err) {
			b.t.Fatalf("%v: %s", err, js)
		}
		if time.Now().After(end) {
			b.t.Fatalf("after %v still not: %s\n%s", within, js, eval[string](b, `["#page-error","#view-error","#status"].map(s => s+": "+(document.querySelector(s)||{}).textContent).join("\n")`))
		}
	}
}

// change does something that makes the page compute, and waits for it.
func (b *tab) change(do func()) {
	b.t.Helper()
	before := eval[string](b, `document.getElementById("main").dataset.views || "0"`)
	do()
	b.wait(`(document.getElementById("main").dataset.views || "0") !== "` + before + `" && !document.getElementById("main").dataset.computing`)
}

// enter puts a value into an input as a person does who types it and leaves.
func (b *tab) enter(id, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`{const e = document.getElementById("`+id+`"); e.focus(); e.select()}`), chromedp.KeyEvent(value+"\t"))
}

// key presses a key on an element n times.
func (b *tab) key(id, key string, n int) {
	b.t.Helper()
	b.do(chromedp.Focus("#" + id))
	for range n {
		b.do(chromedp.KeyEvent(key))
	}
}

// look sets what the reader's screen is like.
func (b *tab) look(width, height int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(width, height))
	// Without motion nothing is on its way to its colour when it is looked at.
	b.media("", "prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce")
}

// media sets on what the page is shown, screen or print, and features of it in
// pairs of name and value.
func (b *tab) media(kind string, features ...string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Media: kind}
	for i := 0; i+1 < len(features); i += 2 {
		p.Features = append(p.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatal(err)
	}
}

// downloads is the folder into which this tab saves.
func (b *tab) downloads() string {
	b.t.Helper()
	dir := b.t.TempDir()
	p := cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID}
	if _, err := chromedp.Call(b.ctx, cdpbrowser.SetDownloadBehavior, p); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// shot saves a picture of the whole page into artefacts/, of a test that failed,
// or where pictures are asked for.
func (b *tab) shot(name string) {
	if !*pictures && !b.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll("artefacts", 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("artefacts", strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o666)
	}
	if err != nil {
		b.t.Logf("no picture: %v", err)
	}
}
