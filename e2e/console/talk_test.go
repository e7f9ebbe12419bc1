package console

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A conversation continues by keyboard: a follow-up keeps the subject, a question about something
// else does not, and the page says if something is not known.
func TestConversation(t *testing.T) {
	b := open(t, plain)
	b.visit("/ask?q=Who+is+allergic+to+hazelnuts", ".answer-text")
	b.says("Tomasz is allergic to hazelnuts.")
	on := func(question, answer string) {
		t.Helper()
		b.do(chromedp.Focus("[name=on]"), chromedp.KeyEvent(question), chromedp.KeyEvent(kb.Enter))
		b.until(`document.querySelector(".talk-now")?.innerText.includes(` + quoted(question) + `) && document.querySelector(".answer")?.innerText.includes(` + quoted(answer) + `)`)
	}
	on("who is his sister", "Ola is Tomasz's sister.")
	b.says("Searched for:")
	b.until(`document.activeElement.name === "on"`)
	on("what is quantum chromodynamics", "I don't know")
	on("and how old is she", "I don't know")
	b.accessible("talk")
	b.shoot("talk")
	if turns := js[[]string](b, `[...document.querySelectorAll(".talk-a")].map(x => x.innerText)`); len(turns) != 3 || turns[1] != "Ola is Tomasz's sister." || turns[2] != "I don't know" {
		t.Errorf("before it were %q", turns)
	}

	// A question in the field above starts another conversation, and going back returns to the first.
	b.do(chromedp.SendKeys(".ask-field input", "where is Weber"), chromedp.KeyEvent(kb.Enter))
	b.says("Weber is on Huaihai Road")
	b.do(chromedp.WaitNotPresent(".talk"))
}
