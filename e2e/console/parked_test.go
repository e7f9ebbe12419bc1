package console

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/node/serve"
)

// onPhone checks a panel of the Devices page on a narrow phone, in Chinese: it does not scroll
// sideways, and nothing in it is cut off.
func onPhone(t *testing.T, home, name, panel string) {
	t.Helper()
	b := openAt(t, look{"zh-CN", 360, 740, true}, linkOf(t, home).URL)
	b.visit("/devices", panel)
	b.settled()
	b.do(chromedp.Evaluate(`document.querySelector(`+quoted(panel)+`).scrollIntoView()`, nil))
	b.fits(name)
	b.within(name, ".panel")
	b.accessible(name)
	b.shoot(name + "-zh-CN-360")
}

// The Devices page shows the retention rules, and what they would erase now.
func TestRetentionRules(t *testing.T) {
	home, c := ownHome(t, "--set", "retention.rules=tag:<b>family forever,type:episodic 90d")
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "Medlars are eaten when they are brown.", Infer: &infer}); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.palette("how long things")
	b.press(".kept summary")
	b.until(`JSON.stringify([...document.querySelectorAll(".kept li code")].map(c => c.innerText)) === '["tag:<b>family forever","type:episodic 90d"]'`)
	b.says("Due by now: 0 memories and 0 lines.")
	b.accessible("kept")
	onPhone(t, home, "kept", ".kept")
}

// A line that the model failed on is listed beside the engines with the reason, and retried by
// keyboard.
func TestParkedLines(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	home, c := ownHome(t, "--set", "llm.url="+s.URL, "--set", "llm.model="+s.Model(), "--set", "llm.extract=true")
	s.Otherwise(llmtest.Say(`{"operations": [{"op": "ADD", "mess`))
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "Lena breeds <b>grey parrots</b> in Antwerp.", Speaker: "Mei"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RunModel(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/devices", ".parked li a")
	b.says("Lena breeds <b>grey parrots</b> in Antwerp.")
	b.says("the model's answer can't be used")
	b.accessible("parked")
	b.do(chromedp.ScrollIntoView(".parked"))
	b.shoot("parked")
	onPhone(t, home, "parked", ".parked")
	s.Otherwise(llmtest.Say(`{"operations": []}`))
	b.do(chromedp.Focus(".parked button"), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(".parked"))
	if list, err := c.ParkedMessages(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The Devices page shows the disk's limit and what is here, with buttons that apply the limit
// and copy photos here.
func TestRoomOnDisk(t *testing.T) {
	home, c := ownHome(t, "--set", "hot.records=800", "--set", "sync.relay="+relayAt)
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "Medlars are eaten when they are brown.", Infer: &infer}); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/devices", ".room dd")
	b.until(`document.querySelector(".room dd").innerText.includes("800 memories")`)
	b.until(`document.querySelectorAll(".room dd")[1].innerText === "1"`)
	b.accessible("room")
	b.do(chromedp.ScrollIntoView(".room"))
	b.shoot("room")
	onPhone(t, home, "room", ".room")
	b.do(chromedp.Focus(".room [data-does=moveTiers]"), chromedp.KeyEvent(kb.Enter))
	b.says("0 memories are now only at the relay.") // new memories stay for a day
	b.do(chromedp.Focus(".room [data-act=photos]"), chromedp.KeyEvent(kb.Enter))
	b.says("All photos and recordings are here; 0 were copied.")
}
