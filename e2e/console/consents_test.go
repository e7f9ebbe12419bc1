package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A consent request appears on the page by itself and is marked in the navigation. It is
// refused by keyboard, allowed by mouse, and withdrawn. What was never shown is never allowed.
func TestConsents(t *testing.T) {
	home, c := ownHome(t)
	infer := false
	for _, text := range []string{"The blood pressure is 140 to 90. " + hostile, "The blood pressure was 150 in May."} {
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer, Tags: []string{"pulse"}}); err != nil {
			t.Fatal(err)
		}
	}
	rules := `permit (principal, action, resource) when { !resource.tags.contains("pulse") };
@id("pulse") @ask("30 days") permit (principal == App::"coach", action == Action::"read", resource) when { resource.tags.contains("pulse") };`
	if _, err := c.SetPolicy(t.Context(), rules); err != nil {
		t.Fatal(err)
	}
	made, err := c.AddApp(t.Context(), serve.AppRequest{Name: "coach", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	app := c.WithKey(made.Key)
	finds := func(want int) {
		t.Helper()
		res, err := app.Search(t.Context(), serve.SearchRequest{Query: "blood pressure", Only: serve.OnlyMemories})
		n := 0
		for _, h := range res.Hits {
			if strings.Contains(h.Text, "blood pressure") {
				n++
			}
		}
		if err != nil || n != want {
			t.Errorf("the app finds %d, %v, want %d", n, err, want)
		}
	}

	b := openAt(t, look{"en-GB", 360, 740, true}, linkOf(t, home).URL)
	b.visit("/consents", ".notice.good")
	finds(0)
	b.do(chromedp.WaitVisible(".consent")) // by itself
	b.do(chromedp.WaitVisible(".nav-mark"))
	b.says("coach (app) would read")
	b.says("The blood pressure was 150 in May.")
	b.harmless("a question")
	b.fits("a question")
	b.accessible("a question")
	b.shoot("consent-phone")
	b.do(chromedp.Focus(".consent [data-act=refuse]"), chromedp.KeyEvent(kb.Enter))
	b.says("Refused: coach (app)")
	b.do(chromedp.WaitNotPresent(".consent"), chromedp.WaitNotPresent(".nav-mark"))
	finds(0)
	if list, err := c.Consents(t.Context()); err != nil || len(list) != 1 || list[0].Answer != "refused" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.RevokeApp(t.Context(), "coach"); err != nil {
		t.Fatal(err)
	}

	// Another app of the same name is another party, so it needs its own consent.
	if made, err = c.AddApp(t.Context(), serve.AppRequest{Name: "coach", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}}); err != nil {
		t.Fatal(err)
	}
	app = c.WithKey(made.Key)
	finds(0)
	desk := openAt(t, look{"zh-CN", 1440, 1000, false}, linkOf(t, home).URL)
	desk.visit("/sharing", ".nav-mark")
	desk.visit("/consents", ".consent")
	desk.settled()
	desk.accessible("a question, in Chinese")
	desk.shoot("consent-zh")
	desk.do(chromedp.SetValue(".consent [name=for]", "1d"), chromedp.Click(".consent [name=remember]"), chromedp.Click(".consent .button.solid"), chromedp.WaitNotPresent(".consent"))
	finds(2)
	list, err := c.Consents(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, v := range list {
		if v.Answer == "allowed" && (!v.All || v.Until.Sub(v.Said).Hours() != 24) {
			t.Errorf("%+v: want a day, with what comes later", v)
		}
	}
	desk.settled()
	desk.do(chromedp.Click(".consents .rows .danger"), chromedp.WaitNotPresent(".consents .rows .danger"))
	finds(0)
	if _, err := c.RevokeApp(t.Context(), "coach"); err != nil {
		t.Fatal(err)
	}
}

// A press allows what was shown, and nothing that an app asked for just before it. The rest is
// shown when the wearer asks for it.
func TestAllowOnlyWhatWasShown(t *testing.T) {
	home, c := ownHome(t)
	for _, text := range []string{"The blood pressure is 140 to 90.", "The kidney is fine."} {
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Infer: new(false), Tags: []string{"pulse"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.SetPolicy(t.Context(), `@id("pulse") @ask("30 days") permit (principal is App, action == Action::"read", resource) when { resource.tags.contains("pulse") };`); err != nil {
		t.Fatal(err)
	}
	made, err := c.AddApp(t.Context(), serve.AppRequest{Name: "coach", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	app := c.WithKey(made.Key)
	finds := func(query string, want bool) {
		t.Helper()
		res, err := app.Search(t.Context(), serve.SearchRequest{Query: query, Only: serve.OnlyMemories})
		got := slices.ContainsFunc(res.Hits, func(h serve.Hit) bool { return strings.Contains(h.Text, query) })
		if err != nil || got != want {
			t.Errorf("%s: the app finds %+v, %v, want %t", query, res.Hits, err, want)
		}
	}
	finds("blood pressure", false)
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/consents", ".consent .rows li")
	finds("kidney", false)
	b.do(chromedp.WaitVisible(".consent .came"))
	b.accessible("more was asked for")
	b.shoot("consent-more")
	b.do(chromedp.Click(".consent .button.solid"))
	b.says("Allowed: coach (app)")
	finds("blood pressure", true)
	finds("kidney", false)
	b.until(`document.querySelector(".consent .button.solid").disabled && !document.querySelector(".consent .rows li")`) // nothing is shown that could be allowed
	b.shoot("consent-rest")
	b.press(".consent .came .button")
	b.says("The kidney is fine.")
	b.do(chromedp.Click(".consent .button.solid"), chromedp.WaitNotPresent(".consent"))
	finds("kidney", true)
}

// A request of an app for a secret in the vault is answered here, too; allowing it opens the vault.
func TestConsentToReading(t *testing.T) {
	home, c := ownHome(t)
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "The alarm code is 471902."}); err != nil {
		t.Fatal(err)
	}
	list, err := c.List(t.Context(), serve.ListQuery{Type: memory.Vault})
	if err != nil || len(list.Memories) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	made, err := c.AddApp(t.Context(), serve.AppRequest{Name: "deploy", Can: []serve.Right{serve.RightVault}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (serve.VaultAnswer, error) {
		return c.WithKey(made.Key).AskVault(t.Context(), serve.VaultAsk{Entry: list.Memories[0].ID.String(), Why: "to switch it off"})
	}
	if _, err := ask(); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, home).URL)
	b.visit("/consents", ".consent")
	b.says("deploy (应用) 想读取保险库里的一个秘密，只读一次")
	b.fits("a reading")
	b.accessible("a reading")
	b.do(chromedp.Click(".consent .button.solid"), chromedp.WaitNotPresent(".consent"))
	if got, err := ask(); err != nil || got.Entry == nil || !strings.Contains(string(got.Entry.Secret), "471902") {
		t.Errorf("%s, %v", got.State, err)
	}
}
