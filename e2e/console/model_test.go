package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/node/serve"
)

// A model's answer is shown with its sources, which link to their place. An answer without a
// source says so, and if the model fails, the original text is shown.
func TestAnswerOfAModel(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	home, c := ownHome(t, "--set", "llm.url="+s.URL, "--set", "llm.model="+s.Model())
	for _, text := range []string{"The red kayak lies in the boat house in Lindau.", "The blue kayak was sold."} {
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Speaker: "Mei", At: at(t, "2026-09-23T10:00:00+08:00")}); err != nil {
			t.Fatal(err)
		}
	}
	cite := func(r *llmtest.Request) string {
		for l := range strings.Lines(r.Last()) {
			if i := strings.Index(l, "["); i >= 0 && strings.Contains(l, "Lindau") {
				return "It is in <b>Lindau</b> " + l[i:strings.Index(l, "]")+1] + "."
			}
		}
		return "I don't know."
	}
	s.Otherwise(llmtest.Func(cite))
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/ask", ".ask-field input")
	b.do(chromedp.SendKeys(".ask-field input", "Where is the red kayak?"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".answer .cites a"))
	b.says("It is in <b>Lindau</b>")
	b.says("test-model")
	if n := js[int](b, `document.querySelectorAll(".answer .cites a").length`); n != 1 || js[bool](b, `!!document.querySelector(".answer .notice")`) {
		t.Errorf("%d citations, want one, and no warning", n)
	}
	b.accessible("a model's answer")
	b.shoot("model")
	small := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, home).URL)
	small.visit("/ask?q=Where+is+the+red+kayak%3F", ".answer .cites a")
	small.fits("a model's answer")
	small.shoot("model-zh")
	// The citation leads to where it was said.
	b.do(chromedp.Focus(".answer .cites a"), chromedp.KeyEvent(kb.Enter))
	b.until(`/^\/(day|memory)\//.test(location.pathname)`)
	b.says("The red kayak lies in the boat house in Lindau")

	s.Otherwise(llmtest.Say("It is in Rome [zzzzzzzzzz]."))
	b.visit("/ask?q=Where+is+the+red+kayak+now%3F", ".answer .notice")
	b.says("The model named no source in your memory")
	b.shoot("model-uncited")
	s.Otherwise(llmtest.Fails(401, "", "bad key"))
	b.visit("/ask?q=Where+does+the+red+kayak+lie%3F", ".answer")
	b.says("boat house in Lindau")
	b.until(`!document.body.innerText.includes("test-model")`)
}
