package console

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// From a name to its connections, and to the line that they come from: by mouse and by
// keyboard.
func TestNames(t *testing.T) {
	const ola, tomasz = `.node[aria-label^="Ola,"]`, `.node[aria-label^="Tomasz,"]`
	b := open(t, plain)
	b.visit("/graph", ola)
	b.do(chromedp.Click(ola, chromedp.ByQuery))
	b.until(`document.querySelector(".graph-panel h2")?.innerText === "Ola"`)
	b.says("Ola is Tomasz's sister.")
	b.until(`document.querySelector(".graph-panel .quote")`)
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".graph-panel .ties .link")].find(x => x.innerText === "Tomasz").click()`, nil))
	b.until(`document.querySelector(".graph-panel h2")?.innerText === "Tomasz" && document.querySelector('` + tomasz + `').getAttribute("aria-pressed") === "true"`)

	// One sign is in the Tab order, and the arrow keys reach the others.
	if n := js[int](b, `document.querySelectorAll('.node[tabindex="0"]').length`); n != 1 {
		t.Errorf("Tab stops at %d names", n)
	}
	seen := map[string]bool{}
	b.do(chromedp.Evaluate(`document.querySelector('`+tomasz+`').focus()`, nil))
	for _, key := range []string{kb.ArrowLeft, kb.ArrowUp, kb.ArrowRight, kb.ArrowDown, kb.ArrowDown} {
		b.do(chromedp.KeyEvent(key))
		seen[js[string](b, `document.activeElement.getAttribute("aria-label") ?? ""`)] = true
	}
	if len(seen) < 3 || seen[""] {
		t.Errorf("the arrows reached %v", seen)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.getAttribute("aria-pressed") === "true" && document.activeElement.querySelector("title").textContent === document.querySelector(".graph-panel h2").innerText`)

	// Around one name there are fewer, and an unknown name is reported as such.
	all := js[int](b, `document.querySelectorAll(".node").length`)
	b.visit("/graph?around=Priya", ".node.open")
	if n := js[int](b, `document.querySelectorAll(".node").length`); n < 2 || n >= all {
		t.Errorf("%d of %d names are around Priya", n, all)
	}
	b.visit("/graph?around=Zebedee", ".empty")
	b.says("Zebedee")

	// Before the day there were no connections.
	b.visit("/graph?asof=2026-09-01", ".graph-tools")
	b.settled()
	if n := js[int](b, `document.querySelectorAll(".tie:not(.beside-tie)").length`); n != 0 {
		t.Errorf("%d relations are true before they were", n)
	}
}

// The whole graph is one picture with a list beside it, and the slider shows when connections
// begin.
func TestWholeGraph(t *testing.T) {
	b := open(t, plain)
	b.visit("/graph?all=1", `.sky[data-settled="true"] canvas`)
	b.accessible("whole-graph")
	b.shoot("whole-graph")
	relations := func() int { return js[int](b, `Number(document.querySelector(".sky-count").dataset.relations)`) }
	now := relations()
	if names := js[int](b, `document.querySelectorAll(".sky-list li").length`); now < 1 || names < 5 {
		t.Fatalf("%d relations, %d names", now, names)
	}
	b.do(chromedp.Focus(`input[name="day"]`), chromedp.KeyEvent(kb.Home))
	b.until(`document.querySelector(".sky-count").dataset.relations === "0"`)
	b.do(chromedp.KeyEvent(kb.End))
	b.until(fmt.Sprintf(`document.querySelector(".sky-count").dataset.relations === "%d"`, now))
	// It is found by a part of its name, and opened by keyboard.
	b.do(chromedp.SendKeys(".sky-names input", "priy"))
	b.until(`document.querySelectorAll(".sky-list li").length === 1`)
	b.do(chromedp.Focus(".sky-list button"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".graph-panel h2")?.innerText === "Priya"`)
}

// From the year to the day by keyboard.
func TestYear(t *testing.T) {
	b := open(t, plain)
	b.visit("/day/"+theDay, `a[href="/year/2026"]`)
	b.do(chromedp.Click(`a[href="/year/2026"]`), chromedp.WaitVisible(`[data-date="`+theDay+`"].shade-4`))
	b.do(chromedp.Focus(`.month-day[tabindex="0"]`), chromedp.KeyEvent(kb.ArrowUp))
	b.until(`document.activeElement.dataset.date === "2026-09-07"`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".row.said"))
	b.visit("/year/1999", ".month-day")
	b.says("Nothing was heard in this year.")
}

// A wearable gets credentials with which it can connect, until it is removed.
func TestWearable(t *testing.T) {
	b := open(t, plain)
	b.visit("/devices", ".wearables input")
	b.do(chromedp.SendKeys(".wearables input", "pendant"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .given"))
	b.accessible("credentials")
	b.shoot("credentials")
	known := func() bool {
		l, err := api(t).Devices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(l, func(d serve.Device) bool { return d.Name == "pendant" })
	}
	if !known() {
		t.Error("the added wearable is not in the list of devices")
	}
	password := js[string](b, `document.querySelectorAll(".given code")[2].innerText`)
	if len(password) < 16 {
		t.Errorf("the password is %q", password)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	if js[bool](b, `document.body.innerHTML.includes("`+password+`")`) {
		t.Error("the password stays on the page")
	}
	b.do(chromedp.SendKeys(".wearables input", "a/b"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".toast"))
	b.do(chromedp.Click(`.wearables [aria-label="Remove pendant"]`), chromedp.WaitVisible("dialog .danger.solid"), chromedp.Click("dialog .danger.solid"), chromedp.WaitNotPresent("dialog"))
	b.until(`!document.querySelector('.wearables [aria-label="Remove pendant"]')`)
	if known() {
		t.Error("the removed wearable is still in the list of devices")
	}
}

// A new home says how to start, and shows what it is told.
func TestWelcome(t *testing.T) {
	home, _ := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	b.do(chromedp.WaitVisible(".welcome input"))
	b.accessible("welcome")
	b.shoot("welcome")
	b.fits("welcome")
	b.do(chromedp.SendKeys(".welcome input", "My spare key is with Mrs. Okafor."), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".row.said"))
	b.says("My spare key is with Mrs. Okafor.")
	for _, p := range []struct{ name, path, until string }{{"graph", "/graph", ".page.graph"}, {"year", "/year/2026", ".month-day"}, {"memories", "/memories", ".rows li, .empty"}} {
		b.visit(p.path, p.until)
		b.settled()
		b.accessible("new " + p.name)
	}
}

// A search as of what was known on a day finds nothing that was learnt later, and the sliders
// show the days in the address.
func TestKnownAt(t *testing.T) {
	b := open(t, plain)
	b.visit("/ask?q=when+is+the+dentist&known="+theDay[:4]+"-01-05", ".answer.unknown")
	b.says("I didn't know on 5 Jan 2026")
	b.until(`document.querySelector(".filters[open] [name=known] ~ output").innerText === "5 Jan 2026" && document.querySelector("[name=asof] ~ output").innerText === "today"`)
	b.visit("/ask?q=when+is+the+dentist&known=nonsense", ".answer-text")
}
