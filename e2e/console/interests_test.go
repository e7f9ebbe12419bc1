package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// opens opens a message on a page.
func (b *tab) opens(message string) {
	b.t.Helper()
	b.do(chromedp.SetValue("[name=message]", message))
	b.press("[data-does=openInterests] .button")
}

// sends returns the message that a page shows for sending to somebody, once it differs from the
// last one.
func (b *tab) sends(to, last string) string {
	b.t.Helper()
	b.until(`document.querySelector(".sending h2")?.innerText === ` + quoted("Send this to "+to) + ` && document.querySelector(".sending input").value !== ` + quoted(last))
	m := js[string](b, `document.querySelector(".sending input").value`)
	if !strings.HasPrefix(m, "locket-match-1.") {
		b.t.Fatalf("the message is %.40q", m)
	}
	return m
}

// Two people compare interests by their consoles: first how many, then which. An interest that
// only one of them has never appears on the other's page.
func TestInterestsInCommon(t *testing.T) {
	mei, cMei := ownHome(t)
	ben, cBen := ownHome(t)
	tells(t, cMei, "bee keeping", "The bees swarm in May.")
	a, b := openAt(t, plain, linkOf(t, mei).URL), openAt(t, plain, linkOf(t, ben).URL)
	a.palette("interests in common")
	a.until(`document.activeElement?.name === "words"`)
	a.says("Choose an interest first.")
	a.do(chromedp.KeyEvent("围棋"), chromedp.KeyEvent(kb.Enter))
	a.until(`document.querySelector(".chips")?.innerText.includes("围棋")`)
	a.do(chromedp.SendKeys("[name=words]", "Secret sauces"), chromedp.KeyEvent(kb.Enter))
	a.until(`document.querySelectorAll(".chips li").length === 2`)
	a.press("[data-does=chooseInterests] > .button")
	a.do(chromedp.WaitVisible(".proposed"))
	a.press(".proposed button") // the tag of a memory
	a.until(`document.querySelectorAll(".chips:not(.proposed) li").length === 3`)
	b.visit("/interests", "[name=words]")
	for _, i := range []string{"Bee  Keeping", "围棋", "<b>chess</b>", "rowing"} {
		b.do(chromedp.SendKeys("[name=words]", i), chromedp.KeyEvent(kb.Enter))
		b.until(`[...document.querySelectorAll(".chips li")].some(l => l.innerText.trim() === ` + quoted(strings.Join(strings.Fields(i), " ")) + `)`)
	}
	b.press(".chips li:last-child button")
	b.until(`document.querySelectorAll(".chips li").length === 3`)

	// She asks; the words of the key are those that his page shows.
	key, err := cBen.GivenKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.do(chromedp.SendKeys("[data-does=askInterests] [name=name]", "Ben"), chromedp.SetValue("[data-does=askInterests] [name=key]", "no key"))
	a.press("[data-does=askInterests] form > .button")
	a.says("invalid: key:")
	a.do(chromedp.SetValue("[data-does=askInterests] [name=key]", key.Key))
	a.press("[data-does=askInterests] form > .button")
	a.do(chromedp.WaitVisible("dialog .pair-words"))
	words := func(b *tab) string {
		return js[string](b, `[...document.querySelectorAll("dialog .pair-words li")].map(l => l.innerText).join(" ")`)
	}
	if got := words(a); got != key.Words {
		t.Errorf("of %q the page shows %q", key.Words, got)
	}
	a.says("Ben learns how many of your 3 interests they share.")
	a.accessible("interests-ask")
	a.shoot("interests-ask")
	a.press("dialog .solid")
	asks := a.sends("Ben", "")

	// His page asks him before it answers anything, and he enters a name for her.
	b.opens("rubbish")
	b.says("invalid:")
	b.opens(asks)
	b.do(chromedp.WaitVisible("dialog .pair-words"))
	own, err := cMei.GivenKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := words(b); got != own.Words {
		t.Errorf("of %q the page shows %q", own.Words, got)
	}
	if v, err := cBen.Interests(t.Context()); err != nil || len(v.Comparisons) != 0 {
		t.Errorf("before his yes: %+v, %v", v, err)
	}
	b.do(chromedp.SendKeys("dialog [name=name]", "Mei <i>"))
	b.press("dialog .solid")
	answer := b.sends("Mei <i>", "")
	b.says("It is not known yet how many interests you and Mei <i> share.")

	// How many, then which, each after consent.
	a.opens(answer)
	counts := a.sends("Ben", asks)
	a.says("You and Ben share 2 interests, according to their program.")
	b.opens(counts)
	b.says("You and Mei <i> share 2 interests, according to their program.")
	a.press("[data-does=tellInterests]")
	a.do(chromedp.WaitVisible("dialog .solid"))
	a.says("Ben learns which of their interests you share.")
	a.press("dialog .solid")
	hers := a.sends("Ben", counts)
	a.says("You see them once Ben has told you, too.")
	b.opens(hers)
	b.says("Mei <i> has told you which interests you share. You see them once you have told Mei <i>, too.")
	b.press("[data-does=tellInterests]")
	b.do(chromedp.WaitVisible("dialog .solid"))
	b.press("dialog .solid")
	his := b.sends("Mei <i>", answer)
	b.says("You and Mei <i> share: Bee Keeping, 围棋.")
	b.harmless("interests")
	a.opens(his)
	a.says("You and Ben share: 围棋, bee keeping.")
	a.do(chromedp.WaitNotPresent(".sending"))
	for b, foreign := range map[*tab]string{a: "chess", b: "sauces"} {
		if strings.Contains(js[string](b, "document.body.innerText"), foreign) {
			t.Errorf("the page shows %s, which the other alone has", foreign)
		}
		b.accessible("interests")
		b.shoot("interests-" + foreign)
	}

	// The last message can be shown again; a forgotten comparison still counts.
	a.press(".comparison .button:not(.danger)")
	if again := a.sends("Ben", ""); again != hers {
		t.Error("another message than the one that was sent")
	}
	a.press(".comparison .danger")
	a.says("You have not compared interests with anyone.")
	a.do(chromedp.SendKeys("[data-does=askInterests] [name=name]", "Ben"), chromedp.SetValue("[data-does=askInterests] [name=key]", key.Key))
	a.press("[data-does=askInterests] form > .button")
	a.do(chromedp.WaitVisible("dialog .solid"))
	a.press("dialog .solid")
	a.says("too many comparisons")

	for _, l := range []look{{"zh-CN", 360, 740, true}, {"en-GB", 360, 740, false}} {
		phone := openAt(t, l, linkOf(t, ben).URL)
		phone.visit("/interests", ".comparison")
		phone.fits("interests")
		phone.accessible("interests")
		phone.shoot("interests-" + l.String())
	}
}
