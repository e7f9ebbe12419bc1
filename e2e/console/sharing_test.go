package console

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
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

	// The form adds to what was written by hand and not saved yet. Its second preview replaces the first.
	b.do(chromedp.Click(".policy-part:last-child > summary"), chromedp.Click(".policy-part details summary"), chromedp.WaitVisible(".policy textarea"),
		chromedp.SendKeys(".policy textarea", "// by hand"),
		chromedp.SendKeys("[name=value]", "Priy"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".policy-diff .button"),
		chromedp.SendKeys("[name=value]", "a"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".policy textarea").value.includes("Priya") && document.querySelector(".policy-diff .button.solid")`)
	b.accessible("rules")
	b.do(chromedp.Click(".policy-diff .button.solid"), chromedp.WaitVisible(".policy > .rows .badge.warn"))
	if p, err := c.Policy(t.Context()); err != nil || strings.Count(p.Text, "Priy") != strings.Count(p.Text, "Priya") || !strings.Contains(p.Text, "// by hand") {
		t.Errorf("%q, %v", p.Text, err)
	}
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

// What was changed elsewhere while somebody wrote rules is not overwritten: both texts are shown,
// whether the page heard of the change at once or only when it saves.
func TestRulesChangedMeanwhile(t *testing.T) {
	home, c := ownHome(t)
	rule := func(tag string) string {
		return `@id("` + tag + `") permit (principal, action, resource) when { resource.tags.contains("` + tag + `") };`
	}
	set := func(tag string) {
		t.Helper()
		if _, err := c.SetPolicy(t.Context(), rule(tag)); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(tag string) {
		t.Helper()
		if p, err := c.Policy(t.Context()); err != nil || p.Text != rule(tag) {
			t.Errorf("%+v, %v: want %s", p, err, tag)
		}
	}
	write := func(b *tab, tag string) {
		t.Helper()
		b.visit("/sharing", ".policy")
		b.do(chromedp.Click(".policy-part:last-child > summary"), chromedp.Click(".policy-part details summary"), chromedp.WaitVisible(".policy textarea"),
			chromedp.Evaluate(`{ const x = document.querySelector(".policy textarea"); x.focus(); x.select() }`, nil), input.InsertText(rule(tag)),
			chromedp.Click(".policy-part details .button"), chromedp.WaitVisible(".policy-diff .button.solid"))
	}
	set("garden")
	b := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, home).URL)
	write(b, "kitchen")
	set("cellar")
	b.do(chromedp.WaitVisible(".policy .meanwhile"), chromedp.WaitNotPresent(".policy-diff"))
	b.says(rule("cellar"))
	b.says(rule("kitchen"))
	b.accessible("rules of two")
	b.fits("rules of two")
	b.do(chromedp.Evaluate(`document.querySelector(".meanwhile").scrollIntoView({block: "center"})`, nil))
	b.shoot("rules-of-two")
	stands("cellar")
	b.press(".meanwhile .button")
	b.do(chromedp.WaitVisible(".policy-diff .button.solid"), chromedp.WaitNotPresent(".policy .meanwhile"), chromedp.Click(".policy-diff .button.solid"), chromedp.WaitVisible(".toast button"))
	stands("kitchen")
	// A text that nobody has changed here follows the rules.
	set("attic")
	b.until(`document.querySelector(".policy textarea").value === ` + quoted(rule("attic")))
	b.press(".toast button") // undoing the first would overwrite the later change
	b.says("没有覆盖任何内容")
	stands("attic")

	late := openAt(t, plain, linkOf(t, home).URL)
	late.first(unheard)
	write(late, "kitchen")
	set("cellar")
	late.do(chromedp.Click(".policy-diff .button.solid"), chromedp.WaitVisible(".policy .meanwhile"))
	late.says(rule("cellar"))
	late.says(rule("kitchen"))
	late.do(chromedp.Evaluate(`document.querySelector(".meanwhile").scrollIntoView({block: "center"})`, nil))
	late.shoot("rules-of-two-late")
	stands("cellar")
	late.do(chromedp.Click(".meanwhile .button:nth-of-type(2)"), chromedp.WaitNotPresent(".policy .meanwhile"))
	late.until(`document.querySelector(".policy textarea").value === ` + quoted(rule("cellar")))
	stands("cellar")

	// A word that another adds meanwhile stays one that is never given out.
	if _, err := c.SetNever(t.Context(), []string{"Villa"}); err != nil {
		t.Fatal(err)
	}
	late.do(chromedp.SendKeys("[name=never]", "Huaihai"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".policy .chip"))
	if p, err := c.Policy(t.Context()); err != nil || !slices.Equal(p.Never, []string{"Huaihai", "Villa"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// The command does not replace rules that were changed after it asked.
func TestCommandAsksAboutTheRulesThatStand(t *testing.T) {
	home, c := ownHome(t)
	file := filepath.Join(t.TempDir(), "next.cedar")
	if err := os.WriteFile(file, []byte("forbid (principal is App, action, resource);"), 0o600); err != nil {
		t.Fatal(err)
	}
	const meanwhile = "forbid (principal, action, resource);"
	cmd := exec.CommandContext(t.Context(), locket, "--home", home, "policy", "set", file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(said)
	for text := ""; !strings.HasSuffix(text, "[y/N]"); {
		more, err := r.ReadString(']')
		if err != nil {
			t.Fatalf("%s%s: %v", text, more, err)
		}
		text += more
	}
	if _, err := c.SetPolicy(t.Context(), meanwhile); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "y\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if waited := cmd.Wait(); err != nil || waited == nil || !strings.Contains(string(rest), "changed since it was read") {
		t.Errorf("%s, %v, %v", rest, err, waited)
	}
	if p, err := c.Policy(t.Context()); err != nil || p.Text != meanwhile {
		t.Errorf("%+v, %v", p, err)
	}
}
