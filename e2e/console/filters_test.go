package console

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Chips and the filter expression stay in sync: a pressed chip appears in the expression, a typed
// expression becomes chips, and both restrict the answer.
func TestFilters(t *testing.T) {
	b := open(t, plain)
	b.visit("/ask?q=Tomasz", ".answer")
	line := func(want string) {
		t.Helper()
		b.until(`document.querySelector("[name=filter]").value === ` + quoted(want) + ` && (new URLSearchParams(location.search).get("filter") ?? "") !== "" && !document.querySelector(".waiting")`)
	}
	write := func(text string) {
		t.Helper()
		b.do(chromedp.Evaluate(`{ const x = document.querySelector("[name=filter]"); x.focus(); x.select() }`, nil), chromedp.KeyEvent(kb.Delete), chromedp.KeyEvent(text), chromedp.KeyEvent(kb.Enter))
	}
	pressed := func(want ...string) {
		t.Helper()
		list, err := json.Marshal(append([]string{}, want...))
		if err != nil {
			t.Fatal(err)
		}
		b.until(`JSON.stringify([...document.querySelectorAll(".filters .chip[aria-pressed=true]")].map(c => c.innerText.replace(/\s+/g, " ").trim())) === JSON.stringify(` + string(list) + `)`)
	}
	chip := func(word string) string {
		return `[...document.querySelectorAll(".filters .chip")].find(c => c.innerText.trim().startsWith(` + quoted(word) + `))`
	}

	// From chips to the expression, by mouse and by keyboard.
	b.do(chromedp.Evaluate(chip("Facts")+`.click()`, nil))
	line("type = semantic")
	b.do(chromedp.Evaluate(chip("Events")+`.focus()`, nil), chromedp.KeyEvent(" "))
	line("type in (semantic, episodic)")
	if !js[bool](b, `document.activeElement === `+chip("Events")) {
		t.Error("the chip that was pressed lost the focus")
	}
	pressed("Events", "Facts")
	if js[bool](b, `[...document.querySelectorAll(".hit .hit-foot > span:first-child")].some(k => !["Fact", "Event"].includes(k.textContent))`) {
		t.Error("the answer is not narrowed")
	}

	// From the expression to chips; a date is in the node's time zone.
	write(`speaker = Tomasz AND (type = semantic or said < 2026-10-01) and not pinned = true`)
	line(`speaker = Tomasz and (type = semantic or said < 2026-10-01T00:00:00+08:00) and not pinned = true`)
	pressed("Said by Tomasz", "(type = semantic or said < 2026-10-01T00:00:00+08:00)", "not pinned = true")
	b.accessible("filters")
	b.fits("filters")
	b.shoot("filters")
	b.do(chromedp.Evaluate(chip("(type")+`.click()`, nil))
	line("speaker = Tomasz and not pinned = true")
	b.do(chromedp.Evaluate(chip("Only what was said")+`.click()`, nil))
	line("speaker = Tomasz and not pinned = true and kind = utterance")

	// An invalid expression shows where the error is, and keeps the typed text and the chips.
	write("speaker = Tomasz and tpye = core")
	b.says("character 22: invalid: tpye: not a field; did you mean type?")
	b.accessible("filter that can't be read")
	if got := js[string](b, `document.querySelector("[name=filter]").value`); got != "speaker = Tomasz and tpye = core" {
		t.Errorf("typed, and now %q", got)
	}
	write("")
	b.until(`!location.search.includes("filter") && !!document.querySelector(".answer")`)
	pressed()
	phone := open(t, look{"zh-CN", 360, 740, true})
	phone.visit("/ask?q=Tomasz&filter=speaker+%3D+Tomasz+and+said+%3E%3D+2026-09-01", ".chip.part")
	phone.fits("filters")
	phone.accessible("filters")
	// On the Chinese page an error is shown in Chinese by its kind, with the place in the API's words.
	phone.visit("/ask?q=Tomasz&filter=tpye+%3D+core", "#filter-says.bad")
	phone.says("填写的内容不行：")
	phone.says("did you mean type?")
	phone.shoot("filter-zh")
	phone.accessible("filter that can't be read")
	// If the kind says everything, there is no English.
	phone.visit("/memory/0000000000zzzz", "main .empty")
	phone.do(chromedp.Evaluate(`fetch = () => Promise.resolve(new Response(JSON.stringify({type: "urn:locket:problem:no-space", title: "The disk's reserve is reached", status: 507, detail: "no space"}), {status: 507}))`, nil),
		openPalette, chromedp.SendKeys(".palette-field", "立即同步"), chromedp.KeyEvent(kb.Enter))
	phone.says("磁盘空间不够了。")
	if text := js[string](phone, "document.body.innerText"); strings.Contains(text, "no space") {
		t.Errorf("%.500s", text)
	}
	phone.shoot("toast-zh")
}
