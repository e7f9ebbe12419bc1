package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// look is the language, size and theme in which a page is tested.
type look struct {
	lang          string
	width, height int64
	dark          bool
}

func (l look) String() string {
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	return fmt.Sprintf("%s-%d-%s", l.lang, l.width, theme)
}

var plain = look{"en-GB", 1440, 1000, false}

// tab is a separate browser with a session. It records what must never happen: a request to
// another host, and a violation of the page's policy.
type tab struct {
	t      *testing.T
	ctx    context.Context // lives as long as the tab
	origin string
	own    cdp.BrowserContextID // of its cookies and downloads; empty: the browser's first
	mu     sync.Mutex
	wrong  []string // guarded by mu
}

// open returns a tab that has opened the console by its link.
func open(t *testing.T, l look) *tab {
	t.Helper()
	return openAt(t, l, link(t).URL)
}

// openAt returns a tab that has opened a console by a link.
func openAt(t *testing.T, l look, to string) *tab {
	t.Helper()
	b := blank(t, l)
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	b.origin = u.Scheme + "://" + u.Host
	b.do(navigate(to), chromedp.WaitVisible("aside.side"))
	return b
}

// navigate opens a first page. Unlike chromedp.Navigate it does not wait for the load event, which could be missed.
func navigate(to string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, text, _, err := page.Navigate(to).Do(ctx)
		if err == nil && text != "" {
			err = fmt.Errorf("%s: %s", to, text)
		}
		return err
	})
}

// blank returns a tab without a session.
func blank(t *testing.T, l look) *tab {
	t.Helper()
	// A context has cookies and storage of its own, and needs a window of its own.
	whole := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	own, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, own: own}
	if err := chromedp.Run(ctx); err != nil { // attaches, for as long as this context lives
		t.Fatal(err)
	}
	chromedp.ListenTarget(ctx, b.hear)
	for js[string](b, "document.readyState") != "complete" { // a navigation that is not yet done could replace the next one
		b.do(chromedp.Sleep(10 * time.Millisecond))
	}
	b.do(network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 500),
		media(l.dark),
		emulation.SetLocaleOverride().WithLocale(l.lang),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(fmt.Sprintf("Object.defineProperty(navigator, 'languages', {get: () => [%q]})", l.lang)).Do(ctx)
			return err
		}))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, w := range b.wrong {
			t.Error(w)
		}
	})
	return b
}

// media sets the system theme of a tab to dark or light. A page follows a change at once.
func media(dark bool) chromedp.Action {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}})
}

// chromium returns the tab of a separate Chromium, which is started with more flags.
func chromium(t *testing.T, flags ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	ctx, end := chromedp.NewExecAllocator(t.Context(), slices.Concat(chromedp.DefaultExecAllocatorOptions[:],
		[]chromedp.ExecAllocatorOption{chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.Flag("lang", "en-GB"), chromedp.WSURLReadTimeout(patience)}, flags)...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	if err := chromedp.Run(ctx); err != nil { // starts it, for as long as this context lives
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	return b
}

// hear records what must not happen.
func (b *tab) hear(event any) {
	note := func(format string, args ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "blob" && u.Scheme != "data" && u.Scheme != "about" && u.Hostname() != "127.0.0.1" {
			note("the page asks %s", e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.SourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			note("the page breaks its policy: %s", e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		note("the page throws: %s", e.ExceptionDetails.Error())
	}
}

// do takes selectors as CSS. Without this, chromedp searches the text of the whole page for
// each as well, every 5 ms, which takes a processor while a page is still loading.
func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	for _, a := range actions {
		if s, ok := a.(*chromedp.Selector); ok {
			chromedp.ByQueryAll(s)
			chromedp.RetryInterval(25 * time.Millisecond)(s)
		}
	}
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		ctx, stop := context.WithTimeout(b.ctx, patience/6)
		defer stop()
		var body string
		if err := chromedp.Run(ctx, chromedp.Evaluate("location.href + ' (' + document.readyState + '):\\n' + document.body?.innerText", &body)); err != nil {
			body = err.Error()
		}
		b.t.Fatalf("%v; the page says: %.1500s", err, body)
	}
}

// go opens a page of the console and waits until a selector matches.
func (b *tab) visit(path, until string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.origin+path), chromedp.WaitVisible(until))
}

// js evaluates an expression, which may be a promise.
func js[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// until waits until an expression is true, even if the page is reloaded in the meantime.
func (b *tab) until(expression string) {
	b.t.Helper()
	poll := chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(patience/2))
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			err := poll.Do(ctx)
			if err == nil || !isGone(err) {
				return err
			}
			if err := chromedp.Sleep(25 * time.Millisecond).Do(ctx); err != nil {
				return err
			}
		}
	}))
}

// isGone reports whether the page in which a script ran is gone.
func isGone(err error) bool {
	e, ok := errors.AsType[*cdproto.Error](err)
	return ok && slices.ContainsFunc([]string{"Cannot find context", "Execution context was destroyed", "Inspected target navigated"}, func(s string) bool {
		return strings.Contains(e.Message, s)
	})
}

// says waits until the page shows a text.
func (b *tab) says(text string) {
	b.t.Helper()
	q, _ := json.Marshal(text) // of a string it does not fail
	b.until("document.body?.innerText.includes(" + string(q) + ")")
}

// settled waits until nothing is loading and all visible pictures are loaded.
func (b *tab) settled() {
	b.t.Helper()
	b.until(`!document.querySelector(".waiting") && [...document.querySelectorAll(".photo-wait")].every(p => p.getBoundingClientRect().top > innerHeight + 300) && [...document.images].every(i => i.complete)`)
}

// shoot saves a screenshot, if CONSOLE_SHOTS names a folder.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("CONSOLE_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// accessible checks the page with axe: there may be no serious problem.
func (b *tab) accessible(name string) {
	b.t.Helper()
	type violation struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	look := axe + `;
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200), FailureSummary: n.failureSummary.slice(0, 300)}))})))`
	var found []violation
	looking := chromedp.ActionFunc(func(ctx context.Context) (err error) {
		for range 3 { // a page that reloads itself aborts the first run
			err = chromedp.Evaluate(look, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }).Do(ctx)
			if err == nil || !strings.Contains(err.Error(), "context") {
				break
			}
		}
		return err
	})
	b.do(looking)
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("%s: %s: %s: %+v", name, v.ID, v.Help, v.Nodes)
		}
	}
}

// within checks that nothing in some parts of the page is cut off: that no text needs more space
// than its element has, and that no part sticks out of its parent.
func (b *tab) within(name, selector string) {
	b.t.Helper()
	over := js[[]string](b, `[...document.querySelectorAll(`+quoted(selector)+`)].flatMap(p => {
		const box = p.getBoundingClientRect();
		return [...p.querySelectorAll("*")].filter(e => e.checkVisibility() && !e.closest("svg, textarea, input, .sr, .categories, .ribbon") && e.getClientRects().length && e.getBoundingClientRect().width > 1).filter(e => {
			const r = e.getBoundingClientRect(), s = getComputedStyle(e);
			return r.right > box.right + 1 || r.left < box.left - 1 || s.overflowX === "hidden" && s.display !== "inline" && e.scrollWidth > e.clientWidth + 1;
		}).slice(0, 3).map(e => e.outerHTML.slice(0, 160));
	})`)
	for _, o := range over {
		b.t.Errorf("%s: cut, or beyond its panel: %s", name, o)
	}
}

// fits checks that nothing is wider than the screen.
func (b *tab) fits(name string) {
	b.t.Helper()
	if over := js[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		b.t.Errorf("%s: the page is %d px wider than the screen", name, over)
	}
}
