package console

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// A memory's page shows which devices and relays store it.
func TestWhereAMemoryIsStored(t *testing.T) {
	c := api(t)
	res, err := c.Search(t.Context(), serve.SearchRequest{Query: "when is the dentist", Only: serve.OnlyMemories})
	if err != nil || len(res.Hits) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	b := open(t, plain)
	b.visit("/memory/"+res.Hits[0].ID.String(), ".where-is .rows li")
	at, _ := json.Marshal(relayAt) // of a string it does not fail
	b.until(`(() => { const rows = [...document.querySelectorAll(".where-is .rows li")].map(l => l.innerText);
		return rows[0].includes("this one") && rows[0].includes("Has all of it.") && rows.some(r => r.includes(` + string(at) + `) && r.includes("Has all of it, sealed")) && !document.querySelector(".where-is .notice"); })()`)
	b.accessible("where")
	b.shoot("where")
}

// The facts are shown as a tree by category and owner, opened by keyboard down to the fact, and
// optionally as a list.
func TestFactTree(t *testing.T) {
	b := open(t, plain)
	b.visit("/memories/semantic", ".tree summary")
	b.accessible("tree")
	b.fits("tree")
	open := func(name string) string {
		return `[...document.querySelectorAll(".tree summary")].find(s => s.innerText.includes("` + name + `"))`
	}
	b.do(chromedp.Evaluate(open("Health")+".focus()", nil), chromedp.KeyEvent(kb.Enter))
	b.until(open("Allergies · you"))
	b.do(chromedp.Evaluate(open("Allergies · you")+".focus()", nil), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".tree .tree .rows li, .tree-in .tree-in .rows li")?.innerText.includes("allergic to penicillin")`)
	if facts := js[int](b, `document.querySelectorAll(".tree-in .tree-in .rows li").length`); facts != 1 {
		t.Errorf("%d facts are there, want one", facts)
	}
	b.accessible("an open tree")
	b.shoot("tree")
	b.do(chromedp.Click(`.chips [href*="as=list"]`), chromedp.WaitVisible(".memories-grid .rows li"), chromedp.WaitNotPresent(".tree"))
	for _, l := range []look{{"zh-CN", 360, 740, true}, {"zh-CN", 1440, 1000, false}} {
		b := openAt(t, l, link(t).URL)
		b.visit("/memories/semantic", ".tree summary")
		b.do(chromedp.Evaluate(`document.querySelectorAll(".tree summary").forEach(s => s.click())`, nil), chromedp.WaitVisible(".tree-in summary"))
		b.settled()
		b.fits("tree")
		b.within("tree", ".panel")
		b.shoot("tree-" + l.String())
	}
}

// A fact that was corrected or pinned on its own page shows that in the tree.
func TestFactTreeChanges(t *testing.T) {
	home, c := ownHome(t)
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "I am allergic to penicillin.", Speaker: "Mei"}); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	const fact = ".tree-in .tree-in .rows li"
	opened := func() {
		t.Helper()
		b.visit("/memories/semantic", ".tree summary")
		b.do(chromedp.Click(".tree > details > summary"), chromedp.WaitVisible(".tree-in summary"), chromedp.Click(".tree-in summary"), chromedp.WaitVisible(fact))
	}
	opened()
	b.do(chromedp.Focus(fact+" a"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".memory-head"),
		chromedp.Click(".actions [aria-pressed=false]"), chromedp.WaitVisible(".actions [aria-pressed=true]"),
		chromedp.Click(".actions .button:nth-child(2)"), chromedp.WaitVisible("form.edit textarea"), chromedp.Evaluate(`{ const x = document.querySelector("form.edit textarea"); x.focus(); x.select() }`, nil),
		chromedp.KeyEvent("I am allergic to latex."), chromedp.Click("form.edit .button.solid"), chromedp.WaitNotPresent("form.edit"))
	b.says("Corrected.")
	opened()
	b.until(`document.querySelector("` + fact + `").innerText.includes("latex")`)
	b.do(chromedp.WaitVisible(fact + " a > svg"))
	if n := js[int](b, `document.querySelectorAll("`+fact+`").length`); n != 1 {
		t.Errorf("%d facts are there, want one", n)
	}
	b.shoot("tree-changed")
}

// The Devices page shows what a wearable lost and when it was paused, and the findings of the
// health check have buttons that apply their remedy.
func TestLostAndDoctor(t *testing.T) {
	home, c := ownHome(t, "--set", "plugins.disabled=none-such")
	at := time.Now().Add(-2 * time.Minute) // on the day of the pauses, whatever the hour
	day := filepath.Join(t.TempDir(), "day.jsonl")
	lines := fmt.Sprintf(`{"kind": "day", "date": %q, "zone": "UTC", "wearer": "Mei"}
{"at": %q, "kind": "text", "device": "pin", "speaker": "Mei", "lang": "en", "text": "My dentist is Dr. Weber."}
{"at": %q, "kind": "gap", "device": "pin", "missing": 7, "reason": "out of <b>range"}
`, at.UTC().Format(time.DateOnly), at.UTC().Format(time.RFC3339), at.UTC().Add(time.Minute).Format(time.RFC3339))
	if err := os.WriteFile(day, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(home, "replay", day); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Pause(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Pause(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/", ".ribbon-pause")
	b.until(`!!document.querySelector(".ribbon-key .key-pause") && !document.querySelector(".ribbon-key .key-photo")`) // only what the day has
	b.visit("/devices", ".wearables .rows .gaps summary")
	b.do(chromedp.Click(".wearables .rows .gaps summary"), chromedp.Click(".wearables > div > .gaps summary"))
	b.until(`(() => { const says = document.querySelector(".wearables").innerText; return says.includes("7 messages lost: out of <b>range") && says.includes("Paused since") && says.includes("3 pauses"); })()`)
	b.do(chromedp.Evaluate(`document.querySelector("[data-act=doctor]").click()`, nil))
	b.until(`[...document.querySelectorAll(".notice .button")].some(x => x.innerText === "Resume")`)
	b.until(`[...document.querySelectorAll(".notice code")].some(x => x.innerText === "locket plugin list")`)
	b.accessible("doctor")
	b.fits("doctor")
	b.do(chromedp.Evaluate(`document.querySelector(".notice .button").scrollIntoView({block: "center"})`, nil))
	b.shoot("doctor")
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".notice .button")].find(x => x.innerText === "Resume").focus()`, nil), chromedp.KeyEvent(kb.Enter))
	b.until(`!document.querySelector(".recording.paused") && ![...document.querySelectorAll(".notice .button")].some(x => x.innerText === "Resume")`)
	if s, err := c.Status(t.Context()); err != nil || s.Pause.Paused {
		t.Errorf("%+v, %v", s.Pause, err)
	}
	b.do(chromedp.Evaluate(`scrollTo(0, 0)`, nil))
	b.shoot("lost")
	cred, err := c.AddLogin(t.Context(), serve.AddDeviceRequest{Name: "pendant-of-mine"})
	if err != nil {
		t.Fatal(err)
	}
	pendant, err := wear.Dial(wear.Config{URL: cred.Broker, Device: cred.Name, Password: string(cred.Password), Hello: wire.Hello{Model: "test", Firmware: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer pendant.Close()
	sent, err := pendant.Publish(t.Context(), &wire.Button{Header: wire.Header{At: time.Now()}, Gesture: "single"})
	if err == nil {
		err = sent.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	small := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, home).URL)
	small.visit("/devices", ".wearables .rows .gaps summary")
	if wide := js[float64](small, `document.querySelector(".wearables .rows-text").getBoundingClientRect().width`); wide < 140 {
		t.Errorf("a wearable's name has %v pixels beside when it was seen", wide)
	}
	small.do(chromedp.Click(".wearables .rows .gaps summary"), chromedp.Click(".wearables > div > .gaps summary"))
	small.fits("lost")
	small.within("lost", ".panel")
	small.shoot("lost-zh")
}
