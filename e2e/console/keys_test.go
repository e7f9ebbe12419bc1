package console

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// Enter after the last doubt settles no conflict, nor does Enter that opens the list of settled
// conflicts.
func TestEnterSettlesOnlyTheDoubt(t *testing.T) {
	home, c := ownHome(t)
	if _, err := c.Pin(t.Context(), said(t, c, "My favourite colour is blue.", "2026-08-12T10:00:00+08:00").String(), true); err != nil {
		t.Fatal(err)
	}
	said(t, c, "My favourite colour is green.", "2026-08-13T10:00:00+08:00")
	unsure(t, home, "The canoe may be in Ulm.", "The kayak may be in Linz.")
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".conflict .sides")
	b.until(`document.querySelectorAll(".doubt").length === 2`)
	b.settled()
	b.do(chromedp.Focus(".doubt"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.matches(".doubt")`)
	b.until(`document.querySelectorAll(".doubt").length === 1`)
	b.until(`document.activeElement.matches(".doubt")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`!document.querySelector(".doubt") && document.activeElement.matches("h1")`)
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent("b"), chromedp.KeyEvent("1"))
	b.do(chromedp.Focus(".settled summary"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".settled").open && !document.querySelector(".settled .waiting")`)
	b.settled()
	if list, err := c.Conflicts(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	b.do(chromedp.Focus(".conflict.here"), chromedp.KeyEvent(kb.Enter))
	b.until(`!document.querySelector(".conflict .sides")`)
	if list, err := c.Conflicts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// While Chinese is composed the palette leaves Enter to the input method.
func TestPaletteWithInputMethod(t *testing.T) {
	home, c := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
	b.until(`document.activeElement?.matches(".palette-field")`)
	b.do(chromedp.KeyEvent("pause for 10"))
	b.until(`document.querySelector("[role=option]")?.innerText.includes("ause")`)
	enter := func(kind input.KeyType, code int64) *input.DispatchKeyEventParams {
		return input.DispatchKeyEvent(kind).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(code)
	}
	// With an input method, keydown has code 229 (Process) and keyup the real code.
	b.do(enter(input.KeyRawDown, 229), enter(input.KeyUp, 13))
	b.settled()
	if s, err := c.Status(t.Context()); err != nil || s.Pause.Paused || !js[bool](b, `!!document.querySelector(".palette-field")`) {
		t.Errorf("it acted: %+v, %v", s, err)
	}
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".recording.paused"))
}

// Pages whose script failed to load are loaded again: by the button, and by themselves when the
// node reports a change.
func TestFailedScriptIsLoadedAgain(t *testing.T) {
	home, c := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	block := func(urls ...string) {
		t.Helper()
		b.do(network.SetBlockedURLs(urls))
	}
	rest := js[string](b, `fetch("/worker.js").then(r => r.text()).then(s => /rest-[0-9A-Z]{8}\.js/.exec(s)[0])`)
	block(b.origin + "/" + rest)
	b.do(chromedp.Navigate(b.origin+"/memories"), chromedp.WaitVisible(".again"))
	b.says("Try again")
	b.accessible("a part did not come")
	block()
	b.press(".again")
	b.do(chromedp.WaitVisible("[href='/memories/core']"))

	block(b.origin + "/" + rest)
	b.do(chromedp.Navigate(b.origin+"/review"), chromedp.WaitVisible(".again"))
	block()
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "The green canoe is in Ulm.", Infer: &infer}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible("[data-act=tidy]"))
}
