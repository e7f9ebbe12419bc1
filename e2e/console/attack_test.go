package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/node/serve"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A memory is shown as text, whatever it contains.
func TestHostileTexts(t *testing.T) {
	const html = `<img src=x onerror="window.broken=1"><script>window.broken=1</script><a href="javascript:window.broken=1">`
	for i, text := range []string{
		"Kiosk " + html,
		"Kiosk \u202Eright to left\u2066 \u200F without an end",
		"Kiosk " + strings.Repeat("W", 30000),
		"Kiosk {{7*7}} ${7*7} [password] %s",
	} {
		id := added(t, text).String()
		if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: text, Speaker: fmt.Sprint("Eve", i, html)[:100], At: at(t, "2026-09-22T10:00:00+08:00")}); err != nil {
			t.Fatal(err)
		}
		b := open(t, look{"en-GB", 360, 740, false})
		for _, p := range []struct{ path, until string }{
			{"/memory/" + id, ".memory-head"}, {"/memories", ".rows li"}, {"/ask?q=Kiosk", ".answer"}, {"/graph?at=" + url.QueryEscape(text[:min(len(text), 2000)]), ".node"}, {"/graph?around=" + url.QueryEscape(text[:min(len(text), 2000)]), ".empty, .node, .notice"}, {"/day/2026-09-22", ".row.said"}, {"/day/2026-09-22?line=" + url.QueryEscape(html), ".row.said"},
		} {
			b.visit(p.path, p.until)
			b.fits(p.path)
			if js[bool](b, `"broken" in window || !!document.querySelector("main script, main img[src=x], main a[href^=javascript]")`) {
				t.Errorf("%s: a text was run or became markup", p.path)
			}
			// Bidirectional control characters are isolated in an element.
			if js[bool](b, `(() => { const w = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT); while (w.nextNode()) if (/[\u202a-\u202e\u2066-\u2069\u200f]/.test(w.currentNode.data) && !w.currentNode.parentElement.closest("bdi, textarea")) return true; return false })()`) {
				t.Errorf("%s: a mark of direction reaches beyond its text", p.path)
			}
		}
	}
}

// A page of another origin can neither frame the console nor use its session.
func TestForeignPage(t *testing.T) {
	b := open(t, plain)
	var routes []string
	for _, e := range serve.Endpoints() {
		routes = append(routes, fmt.Sprintf("[%q,%q]", e.Method, b.origin+strings.NewReplacer("{", "", "}", "").Replace(e.Path)))
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>evil</title><iframe src=%q></iframe><script>
			window.got = [];
			window.done = Promise.all([%s].flatMap(([method, url]) => ["cors", "no-cors"].map(mode =>
				fetch(url, {method: mode === "cors" || method === "GET" ? method : "POST", mode, credentials: "include", body: method === "GET" ? undefined : "{}"})
					.then(r => r.text()).then(t => { if (t) got.push(url + " " + t) }, () => 0)))).then(() => "done");
		</script>`, b.origin+"/", strings.Join(routes, ","))
	}))
	defer evil.Close()
	b.do(chromedp.Navigate(evil.URL))
	js[string](b, "window.done")
	if got := js[[]string](b, "window.got"); len(got) > 0 {
		t.Errorf("the foreign page reads: %.300s", got)
	}
	if js[bool](b, `(() => { try { return !!frames[0].document.querySelector("aside") } catch { return false } })()`) {
		t.Error("the console is framed")
	}
	s, err := api(t).Status(t.Context())
	if err != nil || s.Locked || s.Pause.Paused {
		t.Errorf("the foreign page changed something: %+v, %v", s, err)
	}
	b.mu.Lock()
	framed := false
	for _, w := range b.wrong {
		framed = framed || strings.Contains(w, "frame-ancestors") || strings.Contains(w, "X-Frame-Options")
	}
	b.wrong = nil // that its page was refused is as it should be
	b.mu.Unlock()
	if !framed {
		t.Error("the browser did not refuse to frame the console")
	}
}

// A link works once: whoever finds it in a history or a log can't use it.
func TestUsedLink(t *testing.T) {
	l := link(t)
	one, two := blank(t, plain), blank(t, plain)
	one.do(chromedp.Navigate(l.URL), chromedp.WaitVisible("aside.side"))
	if got := js[string](one, "location.href"); strings.Contains(got, "open=") {
		t.Errorf("the code stays in the address: %s", got)
	}
	two.do(chromedp.Navigate(l.URL), chromedp.WaitVisible(".door"))
	two.says("This link was used or has expired")
	three := blank(t, plain)
	three.do(chromedp.Navigate(l.URL[:strings.Index(l.URL, "#")]), chromedp.WaitVisible(".door"))
	three.says("locket open")
}
