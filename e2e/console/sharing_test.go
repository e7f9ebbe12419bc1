package console

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// reader is another person's home, which has only a key.
func reader(t *testing.T) (home, key string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "reader")
	out, err := command(home, "--json", "share", "key")
	if err != nil {
		t.Fatal(err)
	}
	var k serve.GivenKey
	if err := json.Unmarshal([]byte(out), &k); err != nil {
		t.Fatal(err)
	}
	return home, k.Key
}

// toLook goes through the steps of a share by keyboard, until both views are shown side by side.
func toLook(b *tab, title, name, key string) {
	b.t.Helper()
	tabs := func(n int) {
		for range n {
			b.do(chromedp.KeyEvent(kb.Tab))
		}
	}
	b.visit("/sharing/new", ".sharer [name=query]")
	b.do(chromedp.Focus(".sharer [name=query]"))
	tabs(1)
	b.do(chromedp.KeyEvent(" ")) // facts
	b.do(chromedp.Focus(".sharer [name=title]"), chromedp.KeyEvent(title), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=key]"))
	b.until(`document.activeElement.matches("h1")`)
	tabs(1)
	b.do(chromedp.KeyEvent(name))
	tabs(1)
	b.do(input.InsertText(key)) // as pasted
	tabs(4)                     // another person, for how long, back, next
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=words]"))
	tabs(1)
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".two-views td"))
}

// A share is made by keyboard with the reader's view beside the wearer's own; the
// reader gets what was shown, and nothing more once it is revoked.
func TestShare(t *testing.T) {
	theirs, key := reader(t)
	b := open(t, plain)
	toLook(b, "For Ann", "Ann", key)
	b.shoot("share-look")
	b.accessible("share-look")
	b.fits("share-look")
	rows := `[...document.querySelectorAll(".two-views tbody tr")]`
	if own := js[[]string](b, rows+`.map(r => r.cells[0].innerText)`); !slices.Contains(own, "Ola is Tomasz's sister.") {
		t.Errorf("the wearer's own are %q", own)
	}
	if gone := js[[]string](b, rows+`.find(r => r.cells[0].innerText.startsWith("Ola is")).querySelectorAll("del").values().map(d => d.innerText).toArray()`); !slices.Equal(gone, []string{"Ola", "Tomasz"}) {
		t.Errorf("marked as taken out: %q", gone)
	}

	// A memory is left out, and the reader's view follows; it is included again, and left out for good.
	const away = "Ola is Tomasz's sister."
	leave := `document.querySelector('[aria-label^="Leave out: Ola is"]')`
	there := rows + `.some(r => r.cells[0].innerText === "` + away + `")`
	b.do(chromedp.Evaluate(leave+`.focus()`, nil), chromedp.KeyEvent(kb.Enter))
	b.until(`!` + there + ` && document.querySelector(".left-out").innerText.includes("` + away + `")`)
	b.do(chromedp.Click(".left-out button"))
	b.until(there + ` && !document.querySelector(".left-out")`)
	b.do(chromedp.Evaluate(leave+`.click()`, nil))
	b.until(`!` + there)
	b.accessible("left out")

	// A possible name is removed by a press.
	risk := js[string](b, `document.querySelector(".risks .chip").innerText.trim()`)
	b.do(chromedp.Evaluate(`document.querySelector(".risks .chip").click()`, nil))
	b.until(`![...document.querySelectorAll(".risks .chip")].some(c => c.innerText.trim() === ` + quoted(risk) + `)`)
	seen := js[[]string](b, rows+`.map(r => r.cells[1].querySelector(".seen").innerText.replaceAll("removed:", "").replaceAll("\n", ""))`)
	b.do(chromedp.Evaluate(`document.querySelector(".sharer footer .button.solid").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".share-link input"))
	link := js[string](b, `document.querySelector(".share-link input").value`)

	out, err := command(theirs, "--json", "share", "open", link)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Memories []struct{ Text string } }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range got.Memories {
		texts = append(texts, strings.NewReplacer("[", "", "]", "").Replace(m.Text))
		if strings.Contains(m.Text, "sister") || strings.Contains(m.Text, "Tomasz") || strings.Contains(m.Text, risk) {
			t.Errorf("the reader is told %q", m.Text)
		}
	}
	for _, list := range [][]string{texts, seen} { // a page shows only the start of a very long text
		for i := range list {
			list[i] = list[i][:min(len(list[i]), 1000)]
		}
	}
	slices.Sort(texts)
	slices.Sort(seen)
	if !slices.Equal(texts, seen) {
		t.Errorf("the page showed\n%q\nand the reader got\n%q", seen, texts)
	}

	// The share is listed, viewed, and revoked by mouse.
	b.do(chromedp.Click(`.sharer .actions a[href="/sharing"]`), chromedp.WaitVisible(".out .danger"))
	b.says("For Ann")
	b.do(chromedp.Click(`.out a.button.small`), chromedp.WaitVisible(".seen-list .taken"))
	b.accessible("share")
	b.do(chromedp.Click(".back"), chromedp.Click(".out .danger"), chromedp.WaitVisible("dialog .danger"), chromedp.Click("dialog .danger"), chromedp.WaitNotPresent("dialog"))
	b.says("Only you")
	if _, err := command(theirs, "--json", "share", "open", link); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("the reader is served after it was revoked: %v", err)
	}

	phone := open(t, look{"zh-CN", 360, 740, true})
	toLook(phone, "phone", "Ann", key)
	phone.fits("share-look")
	phone.accessible("share-look")
	phone.shoot("share-look-phone")
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // of a string it does not fail
	return string(b)
}

// A share of somebody else is opened by its link, and removed.
func TestGiven(t *testing.T) {
	b := open(t, plain)
	b.visit("/sharing", ".given-panel")
	b.do(chromedp.Click(".given-panel > details:last-child summary"), chromedp.WaitVisible(".given-panel .inline input"))
	key := js[string](b, `document.querySelector(".given-panel .inline input").value`)
	text := "The orange dinghy lies in Bregenz."
	added(t, text)
	// The wearer shares with their own key, which works like anybody else's.
	s, err := api(t).CreateShare(t.Context(), serve.ShareRequest{Query: text, To: []string{"Ann=" + key}})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Evaluate(`document.querySelector(".given-panel [name=link]").closest("details").open = true`, nil),
		chromedp.SendKeys(".given-panel [name=link]", s.Link), chromedp.SendKeys(".given-panel [name=from]", "Ann <b>"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".given-share summary"))
	b.do(chromedp.Click(".given-share summary"))
	b.says("Ann <b>")
	b.says("The orange dinghy")
	b.accessible("given")
	b.do(chromedp.Click(".given-share .danger"), chromedp.WaitNotPresent(".given-share"))
	if list, err := api(t).GivenShares(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := api(t).RevokeShare(t.Context(), s.ID.String(), ""); err != nil {
		t.Error(err)
	}
}

// A rule is made in words, previewed, saved and undone, and its effect is viewed as somebody
// else.
func TestRules(t *testing.T) {
	c := api(t)
	b := open(t, plain)
	b.visit("/sharing", ".policy")
	b.do(chromedp.SendKeys("[name=never]", "Huaihai"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".policy .chip"))
	if p, err := c.Policy(t.Context()); err != nil || !slices.Equal(p.Never, []string{"Huaihai"}) {
		t.Errorf("%+v, %v", p, err)
	}
	b.do(chromedp.Click(".toast button"), chromedp.WaitNotPresent(".policy .chip"))

	b.do(chromedp.Click(".policy-part:last-child > summary"), chromedp.SendKeys("[name=value]", "Priya"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".policy-diff .button"))
	b.accessible("rules")
	b.do(chromedp.Click(".policy-diff .button.solid"), chromedp.WaitVisible(".policy > .rows .badge.warn"))
	if p, err := c.Policy(t.Context()); err != nil || !p.Mine || len(p.Rules) != 2 || !p.Rules[1].Forbids || !strings.Contains(p.Rules[1].Words, "Priya") {
		t.Errorf("%+v, %v", p, err)
	}
	b.do(chromedp.Click(".policy-part:first-child > summary"), chromedp.WaitVisible("[name=as]"), chromedp.SetValue("[name=as]", "app:new"),
		chromedp.Evaluate(`document.querySelector("[name=as]").dispatchEvent(new Event("change", {bubbles: true}))`, nil), chromedp.WaitVisible(".policy-items"))
	if js[bool](b, `document.querySelector(".policy-items").innerText.includes("Priya is vegetarian")`) {
		t.Error("the rule holds nothing back")
	}
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".toast button")].at(-1).click()`, nil), chromedp.WaitNotPresent(".policy > .rows"))
	if p, err := c.Policy(t.Context()); err != nil || p.Mine {
		t.Errorf("%+v, %v", p, err)
	}
}
