package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/node/console"
)

// consolePages are the pages to open, each with an element that it has once it can be used.
var consolePages = []struct{ name, path, until string }{
	{"today", "/", ".row.said"},
	{"week", "/week/TODAY", ".week-day .ribbon"},
	{"year", "/year/YEAR", ".month-day.shade-4"},
	{"ask", "/ask?q=what+about+my+lamp+number+99", ".answer"},
	{"memories", "/memories", ".rows li"},
	{"facts", "/memories/semantic", ".tree summary"},
	{"graph", "/graph", ".node text"},
	{"review", "/review", ".tidy"},
	{"sharing", "/sharing", ".policy"},
	{"devices", "/devices", ".tiles"},
	{"communities", "/communities", "[data-act=found]"},
	{"market", "/market", "[data-act=market]"},
}

//go:embed console_pages.js
var measuring string

// look measures the pages in a browser.
func (b *consoleBench) look(ctx context.Context, c *console.Console) (out []result, err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(b.chromium), chromedp.NoSandbox, chromedp.Flag("lang", "en-GB"), chromedp.WSURLReadTimeout(time.Minute))
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	defer end()
	browser, cancel := chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Run(browser); err != nil {
		return nil, fmt.Errorf("start %s: %w", b.chromium, err)
	}
	add := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "console", Case: name, N: n, Value: round(value), Unit: unit, Note: note})
	}
	var first []float64
	var tab context.Context
	for range b.rounds { // each with an empty cache, and alone
		if tab != nil {
			if err := chromedp.Cancel(tab); err != nil {
				return nil, err
			}
		}
		if tab, err = b.tab(browser); err != nil {
			return nil, err
		}
		link, err := c.OpenConsole(ctx)
		if err != nil {
			return nil, err
		}
		ms, err := evaluate[float64](tab, `locketReady(".row.said")`, chromedp.Navigate(link.URL))
		if err != nil {
			return nil, fmt.Errorf("first page: %w", err)
		}
		first = append(first, ms/1000)
	}
	add("first_page_s", len(first), percentile(first, 50), "s", fmt.Sprintf("the day of %d lines, from the address to the lines; %d memories; processor %g times slower", consoleDay, b.memories, b.slower))
	var took []float64
	serious := 0
	today := time.Now().UTC()
	for _, p := range consolePages {
		var own []float64
		path := today.Format(map[string]string{"week": "/week/2006-01-02", "year": "/year/2006"}[p.name])
		if path == "" {
			path = p.path
		}
		for range b.rounds {
			ms, err := evaluate[float64](tab, fmt.Sprintf(`locketGo(%s, %s)`, quote(path), quote(p.until)))
			if err != nil {
				return nil, fmt.Errorf("page %s: %w", p.name, err)
			}
			own = append(own, ms)
		}
		took = append(took, own...)
		add("page_"+p.name+"_ms", len(own), percentile(own, 50), "ms", "median")
		n, err := evaluate[int](tab, b.axe+`; axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").length)`)
		if err != nil {
			return nil, fmt.Errorf("axe on %s: %w", p.name, err)
		}
		serious += n
	}
	add("page_p95_ms", len(took), percentile(took, 95), "ms", fmt.Sprintf("from a press to the page, %d pages", len(consolePages)))
	fps, err := evaluate[struct{ Moved, Slid float64 }](tab, `locketFrames()`)
	if err != nil {
		return nil, fmt.Errorf("frames of the graph: %w", err)
	}
	add(fmt.Sprintf("graph_fps_%d", b.names), b.names, fps.Moved, "1/s", "all names are drawn, while one moves and magnifies the picture")
	add(fmt.Sprintf("graph_time_fps_%d", b.names), b.names, fps.Slid, "1/s", "the same, while one drags the slider through time")
	add("axe_serious", len(consolePages), float64(serious), "violations", "violations of WCAG 2.1 AA that are serious or critical, on all pages")
	return out, nil
}

// tab opens a separate browser with an empty cache.
func (b *consoleBench) tab(browser context.Context) (context.Context, error) {
	whole := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	own, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(whole)
	if err != nil {
		return nil, err
	}
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(whole)
	if err != nil {
		return nil, err
	}
	ctx, _ := chromedp.NewContext(browser, chromedp.WithTargetID(id)) // it ends with the browser
	return ctx, chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(1440, 1000, 1, false), emulation.SetCPUThrottlingRate(b.slower),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(measuring).Do(ctx)
			return err
		}))
}

// evaluate awaits an expression after some actions.
func evaluate[T any](ctx context.Context, expression string, before ...chromedp.Action) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	err = chromedp.Run(ctx, append(before, chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))...)
	if err != nil {
		var says string
		if e := chromedp.Run(ctx, chromedp.Evaluate("document.body?.innerText.slice(0, 300)", &says)); e == nil {
			err = errors.Join(err, fmt.Errorf("the page says %q", says))
		}
	}
	return v, err
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string never fails
	return string(b)
}
