package console

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// pageOf returns the address of one of the pages, with a selector that matches once it is loaded.
func pageOf(t *testing.T, name string) (path, until string) {
	t.Helper()
	for _, p := range pages(t) {
		if p.name == name {
			return p.path, p.until
		}
	}
	t.Fatalf("no page %s", name)
	return "", ""
}

// A phone has no keys, so nothing on it speaks of keys.
func TestPhoneShowsNoKeys(t *testing.T) {
	const shown = `[...document.querySelectorAll("kbd, .keys")].some(e => e.offsetParent !== null)`
	for _, touch := range []bool{false, true} {
		b := open(t, look{"zh-CN", 360, 740, false})
		b.do(emulation.SetTouchEmulationEnabled(touch), emulation.SetEmitTouchEventsForMouse(touch))
		for _, name := range []string{"review", "graph"} {
			path, until := pageOf(t, name)
			b.visit(path, until)
			b.settled()
			if got := js[bool](b, shown) || js[bool](b, `document.querySelector("main header").innerText.includes("键")`); got == touch {
				t.Errorf("%s: keys are shown: %t; with touch: %t", name, got, touch)
			}
		}
	}
}

// The heading of a how-to has no steps, because they are below it.
func TestHeadingOfAGuide(t *testing.T) {
	b := open(t, plain)
	b.visit(pageOf(t, "guide"))
	if got := js[string](b, `document.querySelector("main h1").innerText`); strings.TrimSpace(got) != "How to descale the coffee machine" {
		t.Errorf("%q", got)
	}
}

// What was heard again is not shown as if it had been erased.
func TestHeardAgainIsNotStruckOut(t *testing.T) {
	b := open(t, plain)
	b.visit(pageOf(t, "memory"))
	b.settled()
	b.says("Heard again")
	if !js[bool](b, `[...document.querySelectorAll(".history del")].every(d => d.innerText.trim() !== document.querySelector("main h1").innerText.trim())`) {
		t.Error("the present text is struck out")
	}
}
