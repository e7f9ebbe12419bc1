package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// first runs a script in each page before the page's own.
func (b *tab) first(script string) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// late lets the answers to some requests of the page wait until it calls window.arrive.
func (b *tab) late(paths string) {
	b.t.Helper()
	b.first(`{ const ask = fetch, waits = new Promise(r => window.arrive = r); window.fetch = async (url, o) => { const a = await ask(url, o); if (new RegExp(` + quoted(paths) + `).test(url)) { window.waiting = true; await waits; } return a; } }`)
}

// unheard keeps a page from hearing of changes on the node.
const unheard = `{ const ask = fetch; window.fetch = (url, o) => String(url).endsWith("/v1/live") ? new Promise(() => 0) : ask(url, o) }`

// heard adds a memory, as a wearable would, and waits until the page has loaded again because of it.
func (b *tab) heard(c *serve.Client, r serve.AddRequest) {
	b.t.Helper()
	b.do(chromedp.Evaluate(`window.mark = performance.now(), asked.length = 0`, nil))
	if _, err := c.Add(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
	b.until(`window.loaded > window.mark`)
}

// counted records what a page asks for, and when it began to load its state the last time.
const counted = `{ window.asked = []; const ask = fetch; window.fetch = async (url, o) => { const at = performance.now(); window.asked.push(String(url)); const a = await ask(url, o); if (String(url).endsWith("/v1/status")) setTimeout(() => window.loaded = at, 500); return a; } }`

// A row that is moved because its list is sorted again keeps the focus.
func TestFocusStaysOnMovedElement(t *testing.T) {
	home, c := ownHome(t)
	says := func(who, text, at_ string) {
		t.Helper()
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Speaker: who, Keep: true, At: at(t, at_)}); err != nil {
			t.Fatal(err)
		}
	}
	says("Ada", "The ferry leaves at nine.", "2026-08-12T10:00:00+08:00")
	says("Ada", "The ferry is white.", "2026-08-12T10:01:00+08:00")
	says("Bo", "The pier is long.", "2026-08-12T10:02:00+08:00")
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/day/2026-08-12", ".chips .count")
	b.settled()
	const names = `[...document.querySelectorAll(".chips .chip:has(.count) bdi")].map(e => e.textContent).join()`
	b.do(chromedp.Evaluate(`(window.kept = [...document.querySelectorAll(".chips .chip")].find(e => e.textContent.includes("Ada"))).focus()`, nil))
	says("Bo", "The lamp is green.", "2026-08-12T10:03:00+08:00")
	says("Bo", "The rope is short.", "2026-08-12T10:04:00+08:00")
	b.until(names + ` === "Bo,Ada"`)
	b.until(`document.activeElement === window.kept || document.activeElement === document.body`)
	if e := js[string](b, `document.activeElement.outerHTML.slice(0, 160)`); !js[bool](b, `document.activeElement === window.kept`) {
		t.Errorf("the focus is on %s", e)
	}
	// An element that the wearer left keeps no focus.
	b.do(chromedp.MouseClickXY(1400, 900))
	says("Ada", "The anchor is heavy.", "2026-08-12T10:05:00+08:00")
	says("Ada", "The sail is red.", "2026-08-12T10:06:00+08:00")
	b.until(names + ` === "Ada,Bo"`)
	if e := js[string](b, `document.activeElement.tagName`); e != "BODY" && e != "MAIN" {
		t.Errorf("the focus is on %s", e)
	}
}

// What comes to the page of questions stands below what is shown: no key and no press meets
// another question than the one that the wearer read.
func TestReviewStaysOnChange(t *testing.T) {
	home, c := ownHome(t)
	dispute := func(pinned, heard string) {
		t.Helper()
		if _, err := c.Pin(t.Context(), said(t, c, pinned, "2026-08-12T10:00:00+08:00").String(), true); err != nil {
			t.Fatal(err)
		}
		said(t, c, heard, "2026-08-13T10:00:00+08:00")
	}
	dispute("My favourite colour is blue.", "My favourite colour is green.")
	unsure(t, home, "The canoe may be in Ulm.")
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".conflict .sides")
	b.until(`!!document.querySelector(".doubt")`)
	dispute("My favourite food is rice.", "My favourite food is bread.")
	unsure(t, home, "The kayak may be in Linz.")
	b.until(`document.querySelectorAll(".conflict .sides").length === 2 && document.querySelectorAll(".doubt").length === 2`)
	b.settled()
	if text := js[string](b, `document.querySelector(".doubt").textContent`); !strings.Contains(text, "canoe") {
		t.Errorf("the first doubt is now %s", text)
	}
	b.do(chromedp.KeyEvent("2"))
	b.until(`document.querySelectorAll(".conflict .sides").length === 1`)
	list, err := c.Conflicts(t.Context())
	if err != nil || len(list) != 1 || list[0].Slot == nil || !strings.Contains(list[0].Sides[0].Text, "food") {
		t.Errorf("%+v, %v: want the one that came later", list, err)
	}
}

// A key or a press settles the contradiction that was shown: not one that takes its place, and not one
// whose sides have changed since.
func TestSettleOnlyWhatWasShown(t *testing.T) {
	home, c := ownHome(t)
	pinned := map[string]string{}
	for what, of := range map[string][2]string{"colour": {"blue", "green"}, "food": {"rice", "bread"}} {
		id := said(t, c, "My favourite "+what+" is "+of[0]+".", "2026-08-12T10:00:00+08:00").String()
		if _, err := c.Pin(t.Context(), id, true); err != nil {
			t.Fatal(err)
		}
		said(t, c, "My favourite "+what+" is "+of[1]+".", "2026-08-13T10:00:00+08:00")
		pinned[what] = id
	}
	stand := func(n int) []serve.Conflict {
		t.Helper()
		list, err := c.Conflicts(t.Context())
		if err != nil || len(list) != n {
			t.Errorf("%+v, %v: want %d", list, err, n)
		}
		return list
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".conflict .sides")
	b.settled()
	what := "colour"
	if !js[bool](b, `document.querySelector(".conflict.here").textContent.includes("colour")`) {
		what = "food"
	}
	list := stand(2)
	chosen := list[slices.IndexFunc(list, func(c serve.Conflict) bool { return strings.Contains(c.Sides[0].Text, what) })].ID
	// The one that is chosen is settled elsewhere: no key settles the other before it is chosen, too.
	if _, err := c.Settle(t.Context(), chosen, serve.SettleRequest{Choose: 1}); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelectorAll(".conflict .sides").length === 1`)
	b.shoot("conflict-unchosen")
	b.do(chromedp.KeyEvent("2"), chromedp.KeyEvent("b"), chromedp.KeyEvent(kb.Enter))
	b.settled()
	stand(1)
	b.do(chromedp.KeyEvent("j"), chromedp.WaitVisible(".conflict.here"), chromedp.KeyEvent("1"))
	b.until(`!document.querySelector(".conflict .sides")`)
	stand(0)

	// The text of a side changes, and the page does not hear of it.
	if _, err := c.Unsettle(t.Context(), chosen); err != nil {
		t.Fatal(err)
	}
	b.first(unheard)
	b.visit("/review", ".conflict .sides")
	b.settled()
	text := "My favourite " + what + " is teal."
	if _, err := c.Update(t.Context(), pinned[what], serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	stand(1)
	b.do(chromedp.Click(".conflict .side-card:nth-child(1) .button"))
	b.says("This was changed elsewhere")
	stand(1)
	b.says(text) // the sides as they are now
	b.shoot("conflict-changed")
	b.do(chromedp.Click(".conflict .side-card:nth-child(1) .button"))
	b.until(`!document.querySelector(".conflict .sides")`)
	stand(0)
}

// "Show more" keeps the opened parts of a tree of facts, and goes on with the first new one.
func TestMoreFactsKeepTheOpen(t *testing.T) {
	b := open(t, plain)
	b.first(`{ const ask = fetch; window.fetch = (url, o) => ask(String(url).replace("/v1/facts?limit=500&", "/v1/facts?limit=2&"), o) }`)
	b.late(`/v1/facts[?]limit=5000`)
	b.visit("/memories/semantic", ".tree summary")
	category := `[...document.querySelectorAll(".tree > details")].find(d => d.querySelector(".tree-in > button"))`
	b.do(chromedp.Evaluate(`document.querySelectorAll(".tree > details > summary").forEach(s => s.click())`, nil))
	b.until(`!!` + category)
	b.settled()
	b.do(chromedp.Evaluate(`window.tree = `+category+`.querySelector(".tree-in"); window.kept = tree.querySelector("details"); kept.querySelector("summary").click(); tree.querySelector(":scope > button").focus()`, nil))
	b.until(`kept.open && !!kept.querySelector(".rows li")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`window.waiting`)
	if js[bool](b, `tree.innerText.includes("use the list")`) {
		t.Error("the page says that it can't show the rest, which it is loading")
	}
	b.do(chromedp.Evaluate(`arrive()`, nil))
	b.until(`document.querySelectorAll(".tree .tree-in > details").length && !document.querySelector(".waiting") && !document.activeElement.matches("button")`)
	if !js[bool](b, `kept.isConnected && kept.open`) {
		t.Error("the open part is closed")
	}
	if !js[bool](b, `document.activeElement === tree.querySelectorAll(":scope > details")[2]`) {
		t.Errorf("the focus is on %s", js[string](b, `document.activeElement.outerHTML.slice(0, 160)`))
	}
}

// More rows of a day, loaded from their focused button, keep the place of the keyboard.
func TestMoreOfTheDayKeepsThePlace(t *testing.T) {
	b := open(t, look{"en-GB", 360, 740, false})
	b.visit("/day/"+theDay, ".line + .button")
	b.settled()
	rows := js[int](b, `(() => { const n = document.querySelector(".line").children.length; document.querySelector(".line + .button").focus(); return n; })()`)
	b.until(fmt.Sprintf(`document.querySelector(".line").children.length > %d`, rows))
	if n := js[int](b, `[...document.querySelector(".line").children].indexOf(document.activeElement)`); n != rows {
		t.Errorf("row %d of %d has the focus: %s", n, rows, js[string](b, `document.activeElement.outerHTML.slice(0, 160)`))
	}
}

// A notice whose button has the focus stays until the wearer leaves it.
func TestNoticeWaitsForTheWearer(t *testing.T) {
	b := open(t, plain)
	b.first(`{ const later = setTimeout; window.setTimeout = (f, ms, ...a) => later(f, ms >= 6000 ? 800 : ms, ...a); window.wait = ms => new Promise(r => later(r, ms)) }`)
	b.visit("/memory/"+added(t, "The old kettle whistles in the shed.").String(), ".memory-head")
	b.settled()
	b.do(chromedp.Click(".actions .button"), chromedp.WaitVisible(".toast button"), chromedp.Evaluate(`document.querySelector(".toast button").focus()`, nil))
	if !js[bool](b, `wait(2500).then(() => document.activeElement.matches(".toast button"))`) {
		t.Error("the button vanished under the focus")
	}
	b.do(chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.WaitNotPresent(".toast"))
}

// A recording that arrives after its page was left does not play.
func TestLateSoundIsSilent(t *testing.T) {
	b := open(t, plain)
	b.late("/media$")
	b.first(`HTMLMediaElement.prototype.play = async function() { window.played = true; }`)
	b.visit("/memories/resource", ".sound-tile button")
	b.do(chromedp.Click(".sound-tile button"))
	b.until(`window.waiting`)
	b.do(chromedp.Click(`nav a[href="/ask"]`), chromedp.WaitVisible(".ask-field"))
	if js[bool](b, `(arrive(), new Promise(r => setTimeout(r, 500)).then(() => !!window.played))`) {
		t.Error("it plays, and nothing stops it")
	}
	b.visit("/memories/resource", ".sound-tile button")
	b.do(chromedp.Evaluate(`arrive()`, nil), chromedp.Click(".sound-tile button"))
	b.until(`window.played`)
}

// In Chinese, the captions of recordings and photos are Chinese, too.
func TestCaptionsInChinese(t *testing.T) {
	b := open(t, look{"zh-CN", 360, 740, true})
	b.visit("/memories/resource", ".sound-tile button")
	all := js[string](b, `[...document.querySelectorAll(".tile .caption")].map(c => c.textContent).join("\n")`)
	if !strings.Contains(all, "录音") || strings.Contains(all, "Recording") || strings.Contains(all, "Photo") {
		t.Error(all)
	}
	b.do(chromedp.Click(".sound-tile .caption a"), chromedp.WaitVisible(".memory-head"))
	if head := js[string](b, `document.querySelector(".memory-head h1").textContent`); strings.Contains(head, "Recording of") || strings.Contains(head, ", ") {
		t.Error(head)
	}
}

// An answer that arrives late does not take the focus from a field that is typed into.
func TestLateAnswerLeavesTheField(t *testing.T) {
	b := open(t, plain)
	b.late("/v1/ask$")
	b.visit("/ask?q=when+is+the+dentist", ".ask-field")
	b.until(`window.waiting`)
	b.do(chromedp.Evaluate(`arrive()`, nil), chromedp.WaitVisible(".follow-up"))
	b.do(chromedp.Evaluate(`{ const ask = fetch; window.waiting = false; window.fetch = async (url, o) => { const a = await ask(url, o); if (String(url).endsWith("/v1/ask")) await new Promise(r => { window.arrive = r; window.waiting = true; }); return a; } }`, nil))
	b.do(chromedp.SendKeys(".follow-up input", "and where?\n"), chromedp.WaitVisible(".talk-now"), chromedp.Click(".ask-field input"), chromedp.KeyEvent("who fixes "))
	b.until(`window.waiting`)
	b.do(chromedp.Evaluate(`arrive()`, nil), chromedp.WaitVisible(".follow-up"))
	b.do(chromedp.KeyEvent("the bike"))
	if text := js[string](b, `document.querySelector(".ask-field input").value`); text != "who fixes the bike" {
		t.Errorf("%q is typed", text)
	}
}

// What is heard makes no open page ask a market: its operator could tell when the wearer speaks.
func TestMarketIsNotAskedOnChange(t *testing.T) {
	b := open(t, plain)
	b.first(counted)
	b.visit("/market", ".orders")
	b.until(`asked.some(a => a.includes("/v1/market/offers")) && asked.some(a => a.includes("/v1/market/disputes"))`)
	b.settled()
	b.heard(api(t), serve.AddRequest{Text: "The blue wheelbarrow has a flat tyre", Infer: new(false)})
	if list := js[[]string](b, `asked.filter(a => /offers|disputes/.test(a))`); len(list) > 0 {
		t.Errorf("asked: %v", list)
	}
}

// The picture of the whole graph keeps its place and its size when a name comes to it, and is
// not drawn anew by what has no name.
func TestWholeGraphStaysOnChange(t *testing.T) {
	b := open(t, plain)
	b.first(counted)
	b.visit("/graph?all=1", `.sky[data-settled="true"] canvas`)
	for range 12 {
		b.do(chromedp.Evaluate(`document.querySelectorAll(".sky-tools button")[1].click()`, nil))
	}
	// How wide the drawn names are, in px.
	const width = `new Promise(r => setTimeout(r, 500)).then(() => {
		const c = document.querySelector(".sky canvas:last-of-type"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let [l, r] = [c.width, 0];
		for (let i = 3; i < d.length; i += 4) if (d[i]) { const x = (i >> 2) % c.width; l = Math.min(l, x); r = Math.max(r, x); }
		return r - l;
	})`
	small := js[int](b, width)
	b.do(chromedp.Evaluate(`window.kept = document.querySelector(".sky canvas")`, nil))
	b.heard(api(t), serve.AddRequest{Text: "the old rope is wet", Infer: new(false)})
	if !js[bool](b, `kept.isConnected`) {
		t.Error("the same graph is drawn again")
	}
	b.heard(api(t), serve.AddRequest{Text: "My cousin Wilhelmina lives in Bregenz.", Keep: true})
	b.until(`!kept.isConnected && !!document.querySelector(".sky canvas")`)
	if now := js[int](b, width); now > small+120 {
		t.Errorf("the names are %d px wide, %d before", now, small)
	}
	b.shoot("whole-graph-kept")
}

// A request for consent stays where it is when an app asks again, so that no press meets
// another one.
func TestConsentsStayOnChange(t *testing.T) {
	home, c := ownHome(t)
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "The blood pressure is 140 to 90.", Infer: new(false), Tags: []string{"pulse"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetPolicy(t.Context(), `@id("pulse") @ask("30 days") permit (principal is App, action == Action::"read", resource) when { resource.tags.contains("pulse") };`); err != nil {
		t.Fatal(err)
	}
	asks := map[string]func(){}
	for _, name := range []string{"coach", "nurse"} {
		made, err := c.AddApp(t.Context(), serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
		if err != nil {
			t.Fatal(err)
		}
		app := c.WithKey(made.Key)
		asks[name] = func() {
			t.Helper()
			if _, err := app.Search(t.Context(), serve.SearchRequest{Query: "blood pressure", Only: serve.OnlyMemories}); err != nil {
				t.Fatal(err)
			}
		}
		asks[name]()
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.first(counted)
	b.visit("/consents", ".consent")
	b.until(`document.querySelectorAll(".consent").length === 2`)
	const order = `[...document.querySelectorAll(".consent")].map(f => f.getAttribute("aria-label")).join("; ")`
	was := js[string](b, order)
	last := "coach"
	if strings.Index(was, "nurse") > strings.Index(was, "coach") {
		last = "nurse"
	}
	asks[last]()
	b.heard(c, serve.AddRequest{Text: "The lake is cold.", Infer: new(false)})
	if now := js[string](b, order); now != was {
		t.Errorf("%s, before %s", now, was)
	}
}

// The newest day stays while somebody reads it, also after midnight, until the wearer goes on to Today.
func TestDayStaysAtMidnight(t *testing.T) {
	home, c := ownHome(t)
	says := func(text, when string) serve.AddRequest {
		return serve.AddRequest{Text: text, Speaker: "Mei", Keep: true, At: at(t, when)}
	}
	if _, err := c.Add(t.Context(), says("The ferry leaves at nine.", "2026-08-12T23:50:00+08:00")); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.first(counted)
	b.first(`{ const own = Date; window.later = 0; window.Date = class extends own { constructor(...a) { a.length ? super(...a) : super(own.now() + window.later) } static now() { return own.now() + window.later } } }`)
	b.visit("/", ".row.said")
	b.settled()
	b.do(chromedp.Click("button.about"), chromedp.WaitVisible(".row.said.open"), chromedp.Evaluate(`window.kept = document.querySelector(".row.said.open"), window.later = 864e5`, nil))
	b.says("Nothing was heard after this day.")
	b.heard(c, says("The pier is long.", "2026-08-13T00:10:00+08:00"))
	b.settled()
	if !js[bool](b, `kept.isConnected && kept.matches(".open") && document.querySelector("h1").textContent.includes("12 August")`) {
		t.Errorf("the day that was read is gone: %s", js[string](b, `document.querySelector("#main").innerText.slice(0, 300)`))
	}
	b.do(chromedp.WaitVisible(`.day-tools a[href="/"]`))
	b.do(chromedp.WaitNotPresent(".last-heard"))
	b.accessible("a newer day")
	b.shoot("day-stays")
	b.do(chromedp.EmulateViewport(360, 740))
	b.fits("a newer day")
	b.shoot("day-stays-phone")
	b.press(`.day-tools a[href="/"]`)
	b.says("The pier is long.")
	b.says("13 August")
	// So does "Today" in the navigation.
	b.heard(c, says("The mast is tall.", "2026-08-14T00:10:00+08:00"))
	b.do(chromedp.WaitVisible(`.day-tools a[href="/"]`))
	b.press(`nav a[href="/"]`)
	b.says("The mast is tall.")
	// A day's own page offers nothing.
	b.visit("/day/2026-08-12", ".row.said")
	b.do(chromedp.WaitNotPresent(`.day-tools a[href="/"]`))
}

// The credentials of the first wearable are shown once: they stay when it says its first words.
func TestCredentialsStayOnFirstWords(t *testing.T) {
	home, c := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	b.first(counted)
	b.visit("/", ".welcome .wearables input")
	b.settled()
	b.do(chromedp.SendKeys(".wearables input", "pendant"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .given"))
	b.heard(c, serve.AddRequest{Text: "The plums are ripe.", Keep: true})
	if !js[bool](b, `!!document.querySelector("dialog[open] .given")`) {
		t.Fatal("the credentials are gone")
	}
	b.do(chromedp.Click("dialog header button"), chromedp.WaitVisible(".row.said"))
	b.says("The plums are ripe.")
}

// A dialog stays when text in it is selected with a drag that ends beside it.
func TestDialogStaysAfterDrag(t *testing.T) {
	b := open(t, plain)
	b.visit("/", ".palette-button")
	b.do(chromedp.Click(".palette-button"), chromedp.WaitVisible(".palette-field"), chromedp.KeyEvent("the name of the boat"))
	at := js[[]float64](b, `(() => { const r = document.querySelector(".palette-field").getBoundingClientRect(); return [r.left + 60, r.top + r.height / 2]; })()`)
	b.do(chromedp.MouseEvent(input.MousePressed, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)), chromedp.MouseEvent(input.MouseMoved, 5, at[1], chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseReleased, 5, at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	if text := js[string](b, `document.querySelector(".palette-field")?.value ?? "no dialog"`); text != "the name of the boat" {
		t.Error(text)
	}
	b.do(chromedp.MouseClickXY(5, 500), chromedp.WaitNotPresent("dialog"))
}

// A secret that arrives when the page is no longer visible is not shown.
func TestLateSecretStaysHidden(t *testing.T) {
	b := open(t, plain)
	b.late("/v1/vault/[0-9a-z]{26}$")
	b.visit("/memories/vault", ".secrets .button")
	b.do(chromedp.Click(".secrets .button"))
	b.until(`window.waiting`)
	if js[bool](b, `(Object.defineProperty(document, "hidden", {get: () => true, configurable: true}), arrive(), new Promise(r => setTimeout(r, 500)).then(() => !!document.querySelector(".secret-value")))`) {
		t.Error("it is shown")
	}
}

// A line of a block that is being corrected stays when it is no longer current, with what was
// typed. Once it is forgotten it is gone.
func TestCorrectionStaysOnChange(t *testing.T) {
	b, c := open(t, plain), api(t)
	b.first(counted)
	res, err := c.Add(t.Context(), serve.AddRequest{Text: "The wearer sails a small dinghy.", Infer: new(false), Type: memory.Core})
	if err != nil {
		t.Fatal(err)
	}
	id := res.Changes[0].Memory.String()
	b.visit("/memories/core", `.block-line [href="/memory/`+id+`"] + .plain`)
	b.do(chromedp.Click(`.block-line [href="/memory/`+id+`"] + .plain`), chromedp.WaitVisible(".edit textarea"), chromedp.SendKeys(".edit textarea", " Her name is Lark."))
	if _, err := c.Update(t.Context(), id, serve.UpdateRequest{Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	b.heard(c, serve.AddRequest{Text: "The harbour is full.", Infer: new(false)})
	if text := js[string](b, `document.querySelector(".edit textarea")?.value ?? "no field"`); text != "The wearer sails a small dinghy. Her name is Lark." {
		t.Error(text)
	}
	b.says("Archived")
	b.shoot("correction-of-archived")
	b.accessible("correction of archived")
	if _, err := c.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitNotPresent(".edit"))
	if js[bool](b, `document.querySelector("main").textContent.includes("dinghy")`) {
		t.Error("what was forgotten is still shown")
	}
}
