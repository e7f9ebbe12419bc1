package console

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// Two tabs edit one memory: the second is shown both texts before anything is
// overwritten, whether it heard of the change at once or only when it saves.
func TestTwoTabs(t *testing.T) {
	c := api(t)
	says := func(id, want string) {
		t.Helper()
		if m, err := c.Get(t.Context(), id); err != nil || m.Text != want {
			t.Errorf("%+v, %v; want %q", m, err, want)
		}
	}
	edit := func(b *tab, id, text string) {
		t.Helper()
		b.visit("/memory/"+id, ".memory-head")
		b.do(chromedp.Click(`.actions .button:nth-child(2)`), chromedp.WaitVisible("textarea"), chromedp.Evaluate(`{ const x = document.querySelector("textarea"); x.focus(); x.select() }`, nil), chromedp.KeyEvent(text))
	}
	const first, mine = "The violet tent lies in Bregenz.", "The violet tent lies in Chur."
	t.Run("heard at once", func(t *testing.T) {
		id := added(t, "The violet tent lies in Lindau.").String()
		one, two := open(t, plain), open(t, look{"zh-CN", 360, 740, true})
		edit(one, id, first)
		edit(two, id, mine)
		one.do(chromedp.Click("form.edit .button.solid"))
		one.says("Corrected.")
		two.do(chromedp.WaitVisible(".meanwhile"))
		two.says(first)
		two.says("你写的是")
		two.accessible("two tabs")
		two.fits("two tabs")
		two.do(chromedp.Evaluate(`document.querySelector(".meanwhile").scrollIntoView({block: "center"})`, nil))
		two.shoot("two-tabs")
		if !js[bool](two, `document.querySelector("form.edit > .actions .solid").disabled`) {
			t.Error("what the wearer has not seen can be overwritten by the old button")
		}
		two.do(chromedp.Evaluate(`document.querySelector(".meanwhile button").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent("form.edit"))
		says(id, mine)
		// Undoing the first would overwrite the later change.
		one.do(chromedp.Click(".toast button"))
		one.says("Nothing was overwritten")
		says(id, mine)
	})
	t.Run("heard late", func(t *testing.T) {
		id := added(t, "The yellow tent lies in Lindau.").String()
		b := open(t, plain)
		b.first(unheard)
		edit(b, id, mine)
		text := first
		if _, err := c.Update(t.Context(), id, serve.UpdateRequest{Text: &text}); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Click("form.edit .button.solid"), chromedp.WaitVisible(".meanwhile"))
		b.says(first)
		b.says(mine)
		b.shoot("two-tabs-late")
		b.accessible("two tabs, late")
		says(id, first)
		b.do(chromedp.Click(".meanwhile button:nth-of-type(2)"), chromedp.WaitNotPresent("form.edit"))
		b.until(`document.querySelector("h1").innerText.includes("Bregenz")`)
		says(id, first)
	})
}
