package console

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What other tests do by mouse is done here by keyboard alone, and the other way round.

// press focuses an element that the keyboard can reach, and presses Enter.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(selector))
	if !js[bool](b, `(() => { const x = document.querySelector(`+quoted(selector)+`); x.focus(); return document.activeElement === x && x.tabIndex >= 0 })()`) {
		b.t.Fatalf("%s is not reached by the keyboard", selector)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
}

// openPalette presses Ctrl+K until the palette has the focus. A page that was only just
// shown does not listen yet.
var openPalette = chromedp.ActionFunc(func(ctx context.Context) error {
	for {
		if err := chromedp.KeyEvent("k", chromedp.KeyModifiers(input.ModifierCtrl)).Do(ctx); err != nil {
			return err
		}
		err := chromedp.Poll(`document.activeElement?.matches(".palette-field")`, nil, chromedp.WithPollingTimeout(3*time.Second)).Do(ctx)
		if !errors.Is(err, chromedp.ErrPollingTimeout) {
			return err
		}
	}
})

// palette runs the first action found by some words.
func (b *tab) palette(words string) {
	b.t.Helper()
	b.do(openPalette, chromedp.KeyEvent(words))
	b.until(`document.querySelector(".palette-field").value === ` + quoted(words))
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(".palette-field"))
}

func TestCorrectByKeyboard(t *testing.T) {
	id := added(t, "The orange tent lies in Lindau.").String()
	one, two := open(t, plain), open(t, plain)
	for _, b := range []*tab{one, two} {
		b.visit("/memory/"+id, ".memory-head")
	}
	one.press(".actions .button:nth-child(2)")
	one.do(chromedp.WaitVisible("textarea"), chromedp.Focus("textarea"), chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)), chromedp.KeyEvent("The orange tent lies in Chur."), chromedp.KeyEvent(kb.Tab))
	one.until(`document.activeElement.matches("form.edit .button.solid")`)
	one.do(chromedp.KeyEvent(kb.Enter))
	two.until(`document.querySelector("h1").innerText.includes("Chur")`)
	one.press(".toast button")
	two.until(`document.querySelector("h1").innerText.includes("Lindau")`)
}

// The last ten minutes are forgotten, in a separate home, because everything in the shared one
// was learnt in them.
func TestForgetLastMinutes(t *testing.T) {
	home, c := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	for name, ask := range map[string]func(){
		"keyboard": func() {
			b.palette("forget the last 10 minutes")
			b.do(chromedp.WaitVisible("dialog .forget-part"))
			b.press("dialog .danger.solid")
		},
		"mouse": func() {
			b.do(chromedp.Click(".palette-button"), chromedp.WaitVisible(".palette-list"))
			b.do(chromedp.ScrollIntoView(`.palette-list li[data-does=forget]`), chromedp.Click(`.palette-list li[data-does=forget]`))
			b.do(chromedp.WaitVisible("dialog .forget-part"), chromedp.Click("dialog .danger.solid"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			infer := false
			res, err := c.Add(t.Context(), serve.AddRequest{Text: "The white canoe is in the yard, said by " + name + ".", Infer: &infer})
			if err != nil || len(res.Changes) != 1 {
				t.Fatalf("%+v, %v", res, err)
			}
			ask()
			b.says("Forgotten: 1 memory")
			if m, err := c.Get(t.Context(), res.Changes[0].Memory.String()); err == nil {
				t.Errorf("it is there: %+v", m)
			}
			b.do(chromedp.Navigate(b.origin+"/memories"), chromedp.WaitVisible(".empty"))
		})
	}
}

func TestRevealByKeyboard(t *testing.T) {
	b := open(t, plain)
	b.visit("/memories/vault", ".secrets li")
	b.press(".secrets li:nth-child(2) .button")
	b.do(chromedp.WaitVisible(".secret-value"))
	b.press(".secret .button:last-child")
	b.do(chromedp.WaitNotPresent(".secret-value"))
	b.press(".secrets li:nth-child(2) .button")
	b.do(chromedp.WaitVisible(".secret-value"))
	// It closes by itself when its time is over.
	js[any](b, `(() => { const now = Date.now; Date.now = () => now() + 31000 })()`)
	b.do(chromedp.WaitNotPresent(".secret-value"))
}

func TestSettleByMouse(t *testing.T) {
	c := api(t)
	first := said(t, c, "I live in Oslo now.", "2026-10-11T10:00:00+08:00")
	if _, err := c.Pin(t.Context(), first.String(), true); err != nil {
		t.Fatal(err)
	}
	said(t, c, "I live in Bergen now.", "2026-10-12T10:00:00+08:00")
	b := open(t, look{"zh-CN", 360, 740, false})
	// Possible duplicate names that another test left are cards of the same look without sides.
	b.visit("/review", ".conflict .side-card")
	b.settled() // content that loads later moves the button under the mouse
	b.do(chromedp.Click(".conflict .side-card:nth-child(2) .button"), chromedp.WaitNotPresent(".conflict .side-card"))
	if list, err := c.Conflicts(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The sliders move through time by keyboard and by mouse: a question is answered as of a day,
// and Locket says so if it did not know the answer then.
func TestSliders(t *testing.T) {
	now := time.Now()
	for _, job := range []struct {
		text string
		at   time.Time
	}{{"My dance teacher is Pavel.", now.AddDate(0, -10, 0)}, {"My dance teacher is Irena.", now.AddDate(0, -2, 0)}} {
		infer := false
		if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: job.text, Infer: &infer, Slot: &memory.Slot{Subject: memory.WearerUser, Attribute: "dance_teacher", Value: job.text[20 : len(job.text)-1]}, At: job.at}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, plain)
	const question = "/ask?q=who+is+my+dance+teacher"
	answers := func(want string) {
		t.Helper()
		b.until(`!document.querySelector(".waiting") && !!document.querySelector(".answer")?.innerText.includes(` + quoted(want) + `)`)
	}
	b.visit(question, ".answer-text")
	answers("Irena")
	b.do(chromedp.Focus("[name=asof]"))
	for range 6 { // a tenth of the year each
		b.do(chromedp.KeyEvent(kb.PageDown))
	}
	answers("Pavel")
	if got := js[string](b, `document.querySelector("[name=asof]").getAttribute("aria-valuetext")`); got == "today" {
		t.Error("the slider does not say its day")
	}
	b.accessible("slider")
	b.do(chromedp.Focus("[name=asof]"), chromedp.KeyEvent(kb.End))
	answers("Irena")
	// By mouse, to the middle of the slider's year.
	at := js[[]float64](b, `(() => { const r = document.querySelector("[name=asof]").getBoundingClientRect(); return [r.left + r.width * 0.4, r.top + r.height / 2] })()`)
	b.do(chromedp.MouseClickXY(at[0], at[1]))
	answers("Pavel")

	b.visit(question, ".answer-text")
	b.do(chromedp.Focus("[name=known]"), chromedp.KeyEvent(kb.PageDown))
	answers("I didn't know")
}
