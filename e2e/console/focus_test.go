package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// stopped returns what is wrong with the element that Tab has reached; null: it was visited
// before, or the focus left the page.
const stopped = `(() => {
	const e = document.activeElement;
	window.stops ??= [];
	if (!e || e === document.body || window.stops.includes(e)) return null;
	const before = window.stops.at(-1);
	window.stops.push(e);
	const part = x => x.closest(".panel, main, aside");
	const r = e.getBoundingClientRect(), p = before?.getBoundingClientRect();
	const bad = [];
	if (!e.checkVisibility() || !r.width || !r.height) bad.push("is not shown");
	if (before && part(e) === part(before) && r.bottom <= p.top && r.left < p.right) bad.push("stands above the one before");
	if (before && !(before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) bad.push("comes before it in the page");
	return bad.length ? bad.join(", ") + ": " + e.outerHTML.slice(0, 160) : "";
})()`

// Tab moves through each page in reading order, and never to a hidden element.
func TestFocusFollowsReadingOrder(t *testing.T) {
	for _, l := range []look{plain, {"zh-CN", 360, 740, true}} {
		b := open(t, l)
		for _, p := range pages(t) {
			b.visit(p.path, p.until)
			b.settled()
			n := 0
			for ; n < 400; n++ {
				b.do(chromedp.KeyEvent(kb.Tab))
				bad := js[*string](b, stopped)
				if bad == nil {
					break
				}
				if *bad != "" {
					t.Errorf("%s at %d: stop %d %s", p.name, l.width, n, *bad)
				}
			}
			if n < 4 || n == 400 {
				t.Errorf("%s at %d: %d stops", p.name, l.width, n)
			}
		}
	}
}

// The focused element may disappear: a dialog with the element that opened it, a row, a page.
// Then the element in its place or its parent has the focus, and Tab continues from there.
func TestFocusIsKept(t *testing.T) {
	b := open(t, plain)
	at := func(what, selector string) {
		t.Helper()
		b.until(`document.activeElement?.matches(` + quoted(selector) + `)`)
		if t.Failed() {
			t.Fatal(what)
		}
	}
	press := func(selector string) chromedp.Action {
		return chromedp.Tasks{chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter)}
	}
	// A cancelled dialog returns the focus.
	b.visit("/devices", ".wearables [name=wearable]")
	b.settled()
	b.do(press(".members .actions .button"), chromedp.WaitVisible("dialog .pair-line"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	at("another device", ".members .actions .button")
	b.do(press(".palette-button"), chromedp.WaitVisible(".palette-field"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	at("the palette", ".palette-button")
	// A dialog that removes the element that opened it moves the focus to its place.
	for _, name := range []string{"fob", "pin"} {
		b.do(chromedp.SendKeys(".wearables [name=wearable]", name), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .given"),
			chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
		at("after "+name, ".wearables form *")
	}
	for _, name := range []string{"fob", "pin"} {
		row := `[...document.querySelectorAll(".wearables li")].find(l => l.innerText.includes("` + name + `"))`
		b.until(`!!` + row)
		b.do(chromedp.Evaluate(row+`.querySelector("button:last-of-type").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .danger"), press("dialog .danger"), chromedp.WaitNotPresent("dialog"))
		b.until(`!` + row)
		at("after "+name, ".wearables, .wearables *")
	}
	// After a link to another page, that page has the focus.
	b.visit("/memories", ".rows li a")
	b.settled()
	b.do(press(".rows li a"), chromedp.WaitVisible(".memory-head"))
	at("a memory", "#main, #main *")
	b.do(chromedp.KeyEvent(kb.Tab))
	at("its first link", "#main *")
	b.do(chromedp.NavigateBack(), chromedp.WaitVisible(".rows li a"))
	at("back", "#main, #main *")
	if text := js[string](b, `document.activeElement.outerHTML.slice(0, 200)`); strings.Contains(text, "waiting") {
		t.Error(text)
	}
}

// If more rows are loaded while their button has the focus, Tab goes on with the first new row.
func TestMoreRowsKeepThePlace(t *testing.T) {
	b := open(t, look{"en-GB", 360, 740, false})
	b.visit("/memories", ".rows li")
	b.settled()
	rows := js[int](b, `(() => {
		const all = [...document.querySelectorAll(".rows li")];
		document.querySelector(".more").focus();
		return all.length;
	})()`)
	b.do(chromedp.WaitNotPresent(".more"))
	if n := js[int](b, `[...document.querySelectorAll(".rows li")].indexOf(document.activeElement)`); n != rows {
		t.Errorf("row %d of %d has the focus: %s", n, rows, js[string](b, `document.activeElement.outerHTML.slice(0, 160)`))
	}
}

// A change on the node reloads a long list in place: it keeps its later rows, and the focused
// one keeps the focus.
func TestLongListStaysOnChange(t *testing.T) {
	b := open(t, plain)
	b.visit("/memories", ".rows li")
	b.do(chromedp.ScrollIntoView(".more"), chromedp.WaitNotPresent(".more")) // the second page is loaded
	rows := js[int](b, `(() => {
		const all = [...document.querySelectorAll(".rows a")];
		all.at(-1).focus();
		window.kept = document.activeElement.href;
		window.least = all.length;
		new MutationObserver(() => window.least = Math.min(window.least, document.querySelectorAll(".rows a").length)).observe(document.querySelector("main"), {childList: true, subtree: true});
		return all.length;
	})()`)
	const text = "The tall ladder stands behind the greenhouse"
	if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: text, Infer: new(false)}); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector(".rows").textContent.includes(` + quoted(text) + `)`)
	if least := js[int](b, `window.least`); least < rows {
		t.Errorf("of %d rows %d were left", rows, least)
	}
	if !js[bool](b, `document.activeElement.href === window.kept`) {
		t.Errorf("the focus is on %s", js[string](b, `document.activeElement.outerHTML.slice(0, 160)`))
	}
}
