package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// tells adds a text with a tag to a home, unchanged.
func tells(t *testing.T, c *serve.Client, tag, text string) {
	t.Helper()
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer, Tags: []string{tag}}); err != nil {
		t.Fatal(err)
	}
}

// puts shares a home's memories with a tag with a community, through the API.
func puts(t *testing.T, c *serve.Client, in, tag string) serve.CommunityView {
	t.Helper()
	v, err := c.AddToCommunity(t.Context(), in, serve.ShareRequest{Tags: []string{tag}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// unfold opens all folded parts of a page.
func (b *tab) unfold() {
	b.t.Helper()
	b.do(chromedp.Evaluate(`document.querySelectorAll("main details").forEach(d => d.open = true)`, nil))
}

// again refreshes a community.
func (b *tab) again() {
	b.t.Helper()
	b.press(".market-more button:not(.danger)")
	b.says("Up to date.")
}

// Three homes create, join and use a community at a real relay. What the preview shows is
// exactly what the other members get.
func TestCommunities(t *testing.T) {
	mei, cMei := ownHome(t, "--set", "sync.relay="+relayAt)
	ann, cAnn := ownHome(t)
	_, cBo := ownHome(t)
	tells(t, cMei, "garden", "Priya waters the tomatoes every second day.")
	tells(t, cMei, "garden", "Quinces want a warm wall.")
	tells(t, cAnn, "beds", "Beans are sown in May, says Ola.")
	owner, member := openAt(t, plain, linkOf(t, mei).URL), openAt(t, plain, linkOf(t, ann).URL)

	// It is created by keyboard.
	owner.palette("create a community")
	owner.until(`document.activeElement?.name === "name"`)
	owner.says("You are not in any community.")
	owner.do(chromedp.KeyEvent("Gardeners <b>"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Mei"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".pool-members"))
	owner.says("Gardeners <b>")
	owner.press("[data-does=setCommunityRules]")
	owner.do(chromedp.WaitVisible("[name=rules]"), chromedp.SendKeys("[name=rules]", "Beans before opinions."), chromedp.Click(".pool-rules .solid"), chromedp.WaitNotPresent("[name=rules]"))
	owner.says("Beans before opinions.")

	// A key is added after its words were compared, and joins by the link.
	member.visit("/communities", ".own-key summary")
	member.press(".own-key summary")
	member.do(chromedp.WaitVisible(".own-key input"))
	key := js[string](member, `document.querySelector(".own-key input").value`)
	owner.press(".pool-members summary")
	owner.do(chromedp.WaitVisible(".pool-members [name=key]"), chromedp.Focus(".pool-members [name=name]"), chromedp.KeyEvent("Ann"), chromedp.KeyEvent(kb.Tab), input.InsertText("no key"),
		chromedp.Click(".pool-members form > .button"))
	owner.says("invalid: key:")
	owner.do(chromedp.SetValue(".pool-members [name=key]", key), chromedp.Focus(".pool-members form > .button"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .pair-words"))
	words := js[string](owner, `[...document.querySelectorAll("dialog .pair-words li")].map(l => l.innerText).join(" ")`)
	if !strings.Contains(js[string](member, `document.querySelector(".own-key").innerText`), words) || len(strings.Fields(words)) != 5 {
		t.Errorf("the owner is shown %q", words)
	}
	owner.accessible("compare")
	owner.shoot("pool-compare")
	owner.press("dialog .solid")
	owner.says("Ann was added. Send them the link.")
	link := js[string](owner, `document.querySelector(".pool-members .inline input").value`)
	member.do(chromedp.SendKeys("[name=link]", link), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Garden"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".pool-members"))
	member.says("Beans before opinions.")
	if js[bool](member, `!!document.querySelector("[data-does=setCommunityRules], .pool-members .danger, [name=moderator]")`) {
		t.Error("a member is shown what the owner does")
	}

	// What is shared is what was shown.
	owner.press(".page-head .solid")
	owner.do(chromedp.WaitVisible(".sharer [name=tags]"), chromedp.SendKeys(".sharer [name=tags]", "garden"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=words]"))
	if js[bool](owner, `!!document.querySelector(".sharer [name=title], .sharer [type=number]")`) || js[int](owner, `document.querySelectorAll(".sharer-steps li").length`) != 3 {
		t.Error("it asks what a community does not take")
	}
	owner.do(chromedp.Focus(".sharer [name=words]"), chromedp.KeyEvent("Quinces, Priya"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".two-views td"))
	owner.accessible("pool-look")
	owner.fits("pool-look")
	owner.shoot("pool-look")
	exact := js[[]string](owner, `[...document.querySelectorAll(".two-views pre")].map(p => JSON.parse(p.textContent).text)`)
	if len(exact) != 2 || strings.Contains(strings.Join(exact, " "), "Priya") || strings.Contains(strings.Join(exact, " "), "Quinces") {
		t.Errorf("shown before it goes in: %q", exact)
	}
	owner.press(".sharer > footer .solid")
	owner.says("Shared with the community.")
	owner.do(chromedp.WaitVisible(".pool-items .seen"))
	member.again()
	member.do(chromedp.WaitVisible(".pool-items .seen"))
	var there []string
	v, err := cAnn.Community(t.Context(), "Garden")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range v.Items {
		there = append(there, i.Text)
	}
	slices.Sort(exact)
	slices.Sort(there)
	if !slices.Equal(exact, there) {
		t.Errorf("shown: %q; the members have %q", exact, there)
	}

	// A member proposes somebody, and the owner compares the words of the key.
	bo, err := cBo.GivenKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	member.press(".pool-members summary")
	member.do(chromedp.WaitVisible(".pool-members [name=key]"), chromedp.SendKeys(".pool-members [name=name]", "Bo"), chromedp.SetValue(".pool-members [name=key]", bo.Key), chromedp.Click(".pool-members form > .button"), chromedp.WaitVisible("dialog .solid"), chromedp.Click("dialog .solid"), chromedp.WaitVisible(".pool-waits"))
	member.says("The owner or a moderator decides about Bo.")
	owner.press(".pool-members summary")
	owner.do(chromedp.WaitVisible(".pool-members [name=name]"), chromedp.SendKeys(".pool-members [name=name]", "Cleo"))
	owner.again()
	owner.do(chromedp.WaitVisible(".pool-waits"))
	if text := js[string](owner, `document.querySelector(".pool-members [name=name]").value`); text != "Cleo" {
		t.Errorf("who was typed is now %q", text)
	}
	owner.press(".pool-members summary")
	owner.press(".pool-waits .button")
	owner.do(chromedp.WaitVisible("dialog .pair-words"))
	owner.says("Ann proposed this key, and could have used another key under this name.")
	if got := js[string](owner, `[...document.querySelectorAll("dialog .pair-words li")].map(l => l.innerText).join(" ")`); got != bo.Words {
		t.Errorf("of %q the page shows %q", bo.Words, got)
	}
	owner.do(chromedp.Click("dialog .solid"), chromedp.WaitNotPresent("dialog"), chromedp.WaitNotPresent(".pool-waits"))
	if _, err := cBo.JoinCommunity(t.Context(), serve.JoinCommunity{Link: link, Name: "Beds"}); err != nil {
		t.Fatal(err)
	}

	poolQuestions(t, owner, member, cMei)
	poolRemovals(t, owner, member, cBo)

	for _, home := range []struct{ name, at string }{{"pool", mei}, {"pool-member", ann}} {
		looks(t, home.at, home.name, "/communities", ".communities .rows a", func(b *tab) {
			b.settled()
			b.fits("communities")
			b.press(".communities .rows a")
			b.do(chromedp.WaitVisible(".pool-members"))
			b.unfold()
			b.do(chromedp.WaitVisible(".pool-log"))
		})
	}
	poolHostile(t, mei)

	// The member leaves by mouse, and the owner ends it by keyboard.
	member.do(chromedp.Click(".market-more .danger"), chromedp.WaitVisible("dialog .danger"))
	member.says("To come back you need another key.")
	member.do(chromedp.Click("dialog .danger"), chromedp.WaitVisible("[data-act=join]"))
	if list, err := cAnn.Communities(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	owner.press(".market-more .danger")
	owner.says("It ends for all members")
	owner.press("dialog .danger")
	owner.do(chromedp.WaitVisible("[data-act=found]"))
	owner.says("You are not in any community.")
	if _, err := cBo.Community(t.Context(), "Beds"); err == nil {
		t.Error("the community still exists after its end")
	}
}

// poolQuestions lets a member ask, and the owner's node answers by itself.
func poolQuestions(t *testing.T, owner, member *tab, cMei *serve.Client) {
	t.Helper()
	member.says("Each of the 2 members, and anyone who joins later, can read that you asked this")
	member.do(chromedp.Focus("[name=question]"), chromedp.KeyEvent("When do the tomatoes want water?"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".pool-question"))
	member.says("3 members know what was asked, who asked, and each answer")
	member.says("Nobody has answered yet.")

	owner.press(".pool-answering .button")
	owner.do(chromedp.WaitVisible(".pool-answering [name=tags]"), chromedp.SendKeys(".pool-answering [name=tags]", "garden"), chromedp.SendKeys(".pool-answering [name=words]", "Priya"))
	owner.accessible("pool-answering")
	owner.shoot("pool-answering")
	owner.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".pool-answering .notice.good"))
	owner.says("It answers with: garden Removed: Names of people, Priya")
	owner.until(`document.querySelector(".pool-question .pool-answers")?.textContent.includes("waters the tomatoes")`)
	member.again()
	member.until(`(a => a?.includes("waters the tomatoes") && a.includes("Mei") && !a.includes("Priya"))(document.querySelector(".pool-question .pool-answers")?.textContent)`)
	member.shoot("pool-answered")

	// Answering is changed, stopped, and turned on again by undo.
	owner.press(".pool-answering .button")
	owner.until(`document.querySelector(".pool-answering [name=tags]")?.value === "garden"`)
	owner.do(chromedp.Click(".pool-answering footer .button"), chromedp.Click(".pool-answering .danger"), chromedp.WaitNotPresent(".pool-answering .notice.good"))
	if v, err := cMei.Community(t.Context(), "Gardeners <b>"); err != nil || v.Answers || v.With != nil {
		t.Errorf("%+v, %v", v.With, err)
	}
	owner.do(chromedp.Evaluate(`[...document.querySelectorAll(".toast button")].at(-1).click()`, nil), chromedp.WaitVisible(".pool-answering .notice.good"))
	if v, err := cMei.Community(t.Context(), "Gardeners <b>"); err != nil || !v.Answers || !slices.Equal(v.With.Tags, []string{"garden"}) || !slices.Equal(v.With.Redact, []string{"names", "Priya"}) || v.With.Sensitivity != memory.Personal {
		t.Errorf("%+v, %v", v.With, err)
	}
}

// poolRemovals removes items and a member with reasons, shows items again, and takes one back.
func poolRemovals(t *testing.T, owner, member *tab, cBo *serve.Client) {
	t.Helper()
	const ad = "Buy <b>beans</b> at Bo's."
	tells(t, cBo, "ad", ad)
	puts(t, cBo, "Beds", "ad")
	owner.again()
	item := `[...document.querySelectorAll(".pool-items li")].find(l => l.textContent.includes(` + quoted(ad) + `))`
	owner.until(`!!` + item)
	reasoned := func(why string) {
		t.Helper()
		owner.do(chromedp.WaitVisible("dialog [name=reason]"), chromedp.Focus("dialog [name=reason]"), chromedp.KeyEvent(why), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent("dialog"))
	}
	owner.do(chromedp.Evaluate(item+`.querySelector(".danger").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog [name=reason]"))
	owner.accessible("pool-remove")
	owner.shoot("pool-remove")
	reasoned("It is an <i>advertisement</i>.")
	owner.until(`!` + item)
	member.again()
	member.unfold()
	member.until(`(r => r?.includes("It is an <i>advertisement</i>. (Mei)") && r.includes(` + quoted(ad) + `) && !document.querySelector(".pool-removed .button"))(document.querySelector(".pool-removed")?.textContent)`)
	owner.do(chromedp.Evaluate(`[...document.querySelectorAll(".toast button")].at(-1).click()`, nil))
	owner.until(`!!` + item + ` && !document.querySelector(".pool-removed")`)

	// Removed once more, it is shown again from the list of removed items.
	owner.do(chromedp.Evaluate(item+`.querySelector(".danger").click()`, nil))
	reasoned("Still one.")
	owner.unfold()
	owner.press(".pool-removed .button")
	owner.do(chromedp.WaitNotPresent(".pool-removed"))
	owner.until(`!!` + item)

	// Ann shares something by mouse, and takes it back.
	member.do(chromedp.Click(".page-head .solid"), chromedp.WaitVisible(".sharer [name=tags]"), chromedp.SendKeys(".sharer [name=tags]", "beds"), chromedp.Click(".sharer form .solid"),
		chromedp.WaitVisible("[name=words]"), chromedp.SendKeys("[name=words]", "Ola"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".two-views td"), chromedp.Click(".sharer > footer .solid"), chromedp.WaitVisible(".pool-items .pool-item .button"))
	if got := js[string](member, `document.querySelector(".pool-items").textContent`); !strings.Contains(got, "Beans are sown in May") || strings.Contains(got, "Ola") {
		t.Errorf("Ann put in %q", got)
	}
	owner.again()
	owner.until(`document.querySelector(".pool-items").textContent.includes("Beans are sown")`)
	member.press(".pool-items .pool-item .button")
	member.until(`!document.querySelector(".pool-items").textContent.includes("Beans are sown")`)
	owner.again()
	owner.until(`!document.querySelector(".pool-items").textContent.includes("Beans are sown")`)

	// Bo is removed with a reason, and what Bo shared is hidden.
	owner.do(chromedp.Evaluate(`document.querySelector('[aria-label="Remove: Bo"]').click()`, nil))
	reasoned("He sells our questions.")
	owner.until(`!` + item + ` && !document.querySelector(".pool-members").textContent.includes("Bo")`)
	owner.unfold()
	owner.until(`document.querySelector(".pool-removed").textContent.includes("The person who shared it is no longer a member.") && document.querySelector(".pool-log").textContent.includes("He sells our questions.")`)
	if _, err := cBo.Community(t.Context(), "Beds"); err == nil {
		t.Error("Bo reads on")
	}
	owner.do(chromedp.ScrollIntoView(".pool-log"))
	owner.shoot("pool-log")
}

// poolHostile makes all texts of a community hostile.
func poolHostile(t *testing.T, home string) {
	t.Helper()
	for _, bad := range []string{hostile, strings.Repeat("W", 1<<20)} {
		b := openAt(t, look{"en-GB", 360, 740, false}, linkOf(t, home).URL)
		b.spoil(bad, []string{"name", "rules", "by", "text", "why", "what", "words", "link", "tags", "redact"})
		for _, path := range []string{"/communities", ".rows a"} {
			if path[0] == '/' {
				b.visit(path, ".communities .rows a")
			} else {
				b.do(chromedp.Focus(".communities "+path), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".pool-members")) // a mouse click would hit the tabs below
				b.unfold()
				b.do(chromedp.WaitVisible(".pool-log"))
			}
			b.settled()
			b.harmless("communities " + path)
		}
		b.do(chromedp.Focus(".page-head .solid"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".sharer [name=tags]"), chromedp.SendKeys(".sharer [name=tags]", "garden"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[name=words]"), chromedp.Focus("[name=words]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".two-views td"))
		b.settled()
		b.harmless("what goes in")
	}
}
