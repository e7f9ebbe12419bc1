package console

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// Steps of tidying up are undone one by one, by keyboard and by mouse, and the rest stays.
// The test has its own home, whose memories are older than the day of the shared one.
func TestUndoStep(t *testing.T) {
	home, c := ownHome(t)
	for day := range 3 {
		for i := range 7 { // a day with this many memories is summarised
			_, err := c.Add(t.Context(), serve.AddRequest{Text: fmt.Sprintf("My friend Quill%d lives in Town%d.", 7*day+i, 7*day+i), Speaker: "Mei", At: at(t, fmt.Sprintf("2026-08-%02dT10:0%d:00+08:00", 10+day, i))})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	plan, err := c.PlanDream(t.Context())
	if err == nil {
		_, err = c.ApplyDream(t.Context(), plan.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	left := func() []serve.DreamStep {
		t.Helper()
		list, err := c.DreamSteps(t.Context(), plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	was := left()
	if len(was) < 3 {
		t.Fatalf("planned %+v, and done %+v", plan.Steps, was)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".dreamt summary")
	b.do(chromedp.Focus(".dreamt summary"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".dreamt li .button"))
	b.accessible("what a dream did")
	b.do(chromedp.ScrollIntoView(".dreamt li"))
	b.shoot("dreamt")
	steps := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll(".dreamt li").length === %d`, n)
	}
	b.until(steps(len(was)))
	b.do(chromedp.Focus(".dreamt li:nth-child(1) .button"), chromedp.KeyEvent(kb.Enter))
	b.says("This step was undone.")
	b.until(steps(len(was) - 1))
	b.do(chromedp.Click(".dreamt li:nth-child(1) .button"))
	b.until(steps(len(was) - 2))
	if now := left(); len(now) != len(was)-2 {
		t.Errorf("%+v is left of %+v", now, was)
	}
}

// A settled conflict is reopened, by the key u and by mouse from the list of settled ones.
func TestUnsettle(t *testing.T) {
	home, c := ownHome(t)
	if _, err := c.Pin(t.Context(), said(t, c, "My favourite colour is blue.", "2026-08-12T10:00:00+08:00").String(), true); err != nil {
		t.Fatal(err)
	}
	said(t, c, "My favourite colour is green.", "2026-08-13T10:00:00+08:00")
	stand := func(n int) []serve.Conflict {
		t.Helper()
		list, err := c.Conflicts(t.Context())
		if err != nil || len(list) != n {
			t.Fatalf("%+v, %v: want %d", list, err, n)
		}
		return list
	}
	id := stand(1)[0].ID
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".conflict .sides")
	b.says("Something heard contradicts what you pinned")
	b.do(chromedp.KeyEvent("2"))
	const none = `!document.querySelector(".conflict .sides")` // names that may be one stand in such panels, too
	b.until(none)
	stand(0)
	b.do(chromedp.KeyEvent("u"), chromedp.WaitVisible(".conflict .sides"))
	b.says("Undone.")
	if again := stand(1)[0].ID; again != id {
		t.Errorf("another conflict stands: %s, was %s", again, id)
	}
	b.settled() // content that loads later moves the button under the mouse
	b.do(chromedp.Click(".conflict .sides .side-card:nth-child(2) .button"))
	b.until(none)
	b.settled()
	b.do(chromedp.Click(".settled summary"), chromedp.WaitVisible(".settled li .button"))
	b.says("favourite colour is green.")
	b.accessible("settled")
	b.shoot("settled")
	b.settled()
	b.do(chromedp.Click(".settled li .button"), chromedp.WaitVisible(".conflict .sides"))
	b.do(chromedp.Focus(".conflict:has(.sides)"), chromedp.KeyEvent("1"))
	b.until(none)
	b.press(".toast:last-child button") // the latest notice, by keyboard
	b.do(chromedp.WaitVisible(".conflict .sides"))
	if _, err := c.Settle(t.Context(), stand(1)[0].ID, serve.SettleRequest{Choose: 1}); err != nil {
		t.Fatal(err)
	}
}
