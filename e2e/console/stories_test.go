package console

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// added adds one memory, unchanged.
func added(t *testing.T, text string) memory.ID {
	t.Helper()
	infer := false
	res, err := api(t).Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer})
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Changes[0].Memory
}

// said lets Mei say a line, and returns the first memory that it changes.
func said(t *testing.T, c *serve.Client, text, when string) memory.ID {
	t.Helper()
	res, err := c.Add(t.Context(), serve.AddRequest{Text: text, Speaker: "Mei", At: at(t, when)})
	if err != nil || len(res.Changes) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Changes[0].Memory
}

// Find out when the dentist is, and go to where it was said: by mouse, and by keyboard
// alone.
func TestDentist(t *testing.T) {
	const said = `.row.said.open`
	t.Run("mouse", func(t *testing.T) {
		b := open(t, plain)
		b.visit("/ask", ".ask-begin")
		b.do(chromedp.SendKeys(".ask-field input", "when is the dentist"), chromedp.Click(".ask-field .button"), chromedp.WaitVisible(".answer-text"))
		b.says("Thursday 17 September 2026, 16:15")
		b.do(chromedp.Click(".answer .quote a"), chromedp.WaitVisible(said))
		if got := js[string](b, `document.querySelector("`+said+` .bubble p").innerText`); !strings.Contains(got, "dentist appointment moved to Thursday") {
			t.Error(got)
		}
		b.shoot("line")
		b.accessible("line")
	})
	t.Run("keyboard", func(t *testing.T) {
		b := open(t, plain)
		b.do(openPalette)
		b.accessible("palette")
		b.shoot("palette")
		b.do(chromedp.KeyEvent("when is the dentist"), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".answer-text"))
		b.do(chromedp.Focus(".answer .quote a"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(said))
		b.until(`document.activeElement?.matches("` + said + ` button.about")`)
		before := js[string](b, `document.activeElement.closest(".row").id`)
		b.do(chromedp.KeyEvent("j"))
		b.until(`document.activeElement?.matches("button.about") && document.activeElement.closest(".row").id !== "` + before + `"`)
	})
}

// New lines appear on the page by themselves.
func TestLive(t *testing.T) {
	b := open(t, plain)
	b.visit("/", ".day-head")
	b.visit("/day/2026-09-20", ".empty")
	if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: "My locker at the pool is number 88.", Speaker: "Mei", At: at(t, "2026-09-20T10:00:00+08:00")}); err != nil {
		t.Fatal(err)
	}
	b.says("My locker at the pool is number 88.")
	b.says("10:00")
}

// Correct a memory in one browser and see it change in another, and back.
func TestCorrect(t *testing.T) {
	id := added(t, "The blue kayak lies in Lindau.").String()
	one, two := open(t, plain), open(t, look{"zh-CN", 360, 740, true})
	for _, b := range []*tab{one, two} {
		b.visit("/memory/"+id, ".memory-head")
	}
	one.do(chromedp.Click(`.actions .button:nth-child(2)`), chromedp.WaitVisible("textarea"), chromedp.Evaluate(`document.querySelector("textarea").select()`, nil), chromedp.SendKeys("textarea", "The blue kayak lies in Bregenz."))
	one.accessible("edit")
	one.do(chromedp.Click("form.edit .button.solid"))
	one.says("Corrected.")
	one.until(`document.querySelector("h1").innerText.includes("Bregenz")`)
	two.until(`document.querySelector("h1").innerText.includes("Bregenz")`)
	one.do(chromedp.Click(".toast button"))
	two.until(`document.querySelector("h1").innerText.includes("Lindau")`)
	m, err := api(t).Get(t.Context(), id)
	if err != nil || m.Text != "The blue kayak lies in Lindau." {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestPin(t *testing.T) {
	id := added(t, "The red kite hangs in the hall.").String()
	b := open(t, plain)
	b.visit("/memory/"+id, ".memory-head")
	const pinned = `[...document.querySelectorAll(".badge")].some(x => x.innerText.includes("Pinned"))`
	b.do(chromedp.Click(`.actions .button:nth-child(1)`))
	b.until(pinned)
	if m, err := api(t).Get(t.Context(), id); err != nil || !m.Pinned {
		t.Errorf("%+v, %v", m, err)
	}
	b.do(chromedp.Click(".toast button"))
	b.until("!" + pinned)
	if m, err := api(t).Get(t.Context(), id); err != nil || m.Pinned {
		t.Errorf("%+v, %v", m, err)
	}
}

// What will be forgotten is shown first, and is gone afterwards.
func TestForget(t *testing.T) {
	id := added(t, "The green canoe lies in Konstanz.").String()
	b := open(t, plain)
	b.visit("/memory/"+id, ".memory-head")
	b.do(chromedp.Click(".actions .danger"), chromedp.WaitVisible("dialog .forget-part"))
	b.says("green canoe")
	b.shoot("forget")
	b.accessible("forget")
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	if _, err := api(t).Get(t.Context(), id); err != nil {
		t.Fatal("it went without a confirmation: ", err)
	}
	b.do(chromedp.Click(".actions .danger"), chromedp.WaitVisible("dialog .danger.solid"), chromedp.Click("dialog .danger.solid"))
	b.says("Forgotten: 1 memory")
	if m, err := api(t).Get(t.Context(), id); err == nil {
		t.Errorf("%+v", m)
	}
}

// A secret is shown on request, and hides by itself.
func TestReveal(t *testing.T) {
	b := open(t, plain)
	b.visit("/memories/vault", ".secrets li")
	b.do(chromedp.Click(".secrets li:nth-child(3) .button"), chromedp.WaitVisible(".secret-value"))
	if got := js[string](b, `document.querySelector(".secret-value").innerText`); !strings.Contains(got, "Capital") && len(got) < 4 {
		t.Error(got)
	}
	b.until(`document.querySelector(".log li")`) // it was logged
	b.accessible("revealed")
	js[any](b, `(() => { const now = Date.now; Date.now = () => now() + 31000 })()`)
	b.do(chromedp.WaitNotPresent(".secret-value"))
}

func TestPause(t *testing.T) {
	b := open(t, plain)
	paused := func() bool {
		s, err := api(t).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Pause.Paused
	}
	b.do(chromedp.Click(".recording button"), chromedp.WaitVisible(".recording.paused"))
	if !paused() {
		t.Error("the node is not paused after the click")
	}
	b.do(chromedp.Click(".toast button"), chromedp.WaitVisible(".recording:not(.paused)"))
	if paused() {
		t.Error("the node is still paused after the undo")
	}
	// A pause from elsewhere appears at once, too.
	if _, err := api(t).Pause(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".recording.paused"))
	if _, err := api(t).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".recording:not(.paused)"))
}

// A recording plays from the day.
func TestSound(t *testing.T) {
	b := open(t, plain)
	b.visit("/day/"+theDay, ".line .row")
	// More of the day is drawn as one scrolls.
	b.until(`(() => { document.querySelector(".line ~ button")?.scrollIntoView(); return document.querySelector(".sound-row") !== null; })()`)
	// The row is far down, where loading pictures would move it away from the mouse.
	press := chromedp.Evaluate(`document.querySelector(".sound-row button").click()`, nil,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithUserGesture(true) })
	b.do(press)
	b.until(`document.querySelector(".sound-row progress").value > 0`)
	b.shoot("sound")
	b.do(press)
	b.until(`document.querySelector(".sound-row button").getAttribute("aria-pressed") === "false"`)
}

// Answers as of a day use what was true on that day; other answers use what is true now.
func TestAsOf(t *testing.T) {
	for _, job := range []struct{ text, at string }{{"I work at Siemens now.", "2026-03-01T10:00:00+08:00"}, {"I work at Nokia now.", "2026-06-01T10:00:00+08:00"}} {
		if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: job.text, Speaker: "Mei", At: at(t, job.at)}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, plain)
	b.visit("/ask?q=where+do+I+work&asof=2026-04-01", ".answer-text")
	b.until(`document.querySelector(".answer-text").innerText.includes("Siemens")`)
	b.visit("/ask?q=where+do+I+work", ".answer-text")
	b.until(`document.querySelector(".answer-text").innerText.includes("Nokia")`)
}

// Something heard that contradicts a pinned memory waits for the wearer's decision, and is
// settled by keyboard.
func TestSettle(t *testing.T) {
	c := api(t)
	lisbon := said(t, c, "I live in Lisbon now.", "2026-10-01T10:00:00+08:00")
	if _, err := c.Pin(t.Context(), lisbon.String(), true); err != nil {
		t.Fatal(err)
	}
	said(t, c, "I live in Berlin now.", "2026-10-02T10:00:00+08:00")
	b := open(t, plain)
	b.visit("/review", ".conflict")
	b.says("Something heard contradicts what you pinned")
	b.says("Berlin")
	b.accessible("conflict")
	b.shoot("conflict")
	b.do(chromedp.KeyEvent("1"))
	b.says("No contradictions")
	if list, err := c.Conflicts(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The places of a day are drawn from the wearer's own visits, and one leads to its lines.
func TestMap(t *testing.T) {
	b := open(t, plain)
	b.visit("/day/"+theDay, ".day-map summary")
	b.do(chromedp.Focus(".day-map summary"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".day-map svg"))
	b.accessible("map")
	if n := js[int](b, `document.querySelectorAll(".map-spot").length`); n < 5 {
		t.Errorf("%d places", n)
	}
	// Hengshan Road is south of Lumen Analytics, and west of it, as on any map.
	at := func(name string) []float64 {
		return js[[]float64](b, `(() => { const li = [...document.querySelectorAll(".day-map li")].find(l => l.innerText.includes("`+name+`")); const c = document.querySelectorAll(".map-spot circle")[Number(li.querySelector("b").innerText) - 1]; return [c.cx.baseVal.value, c.cy.baseVal.value] })()`)
	}
	if road, work := at("Hengshan Road"), at("Lumen Analytics"); road[0] >= work[0] || road[1] <= work[1] {
		t.Errorf("Hengshan Road is drawn at %v and Lumen Analytics at %v", road, work)
	}
	b.do(chromedp.Evaluate(`document.querySelector(".day-map").scrollIntoView()`, nil))
	b.shoot("map")
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".day-map li button")].find(x => x.innerText.includes("Paper Crane")).focus()`, nil), chromedp.KeyEvent(kb.Enter))
	b.until(`(() => { const r = [...document.querySelectorAll(".place-row")].find(r => r.innerText.includes("Paper Crane")); return r && r.getBoundingClientRect().top >= -2 && r.getBoundingClientRect().top < innerHeight })()`)
}
