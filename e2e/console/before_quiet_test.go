package console

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Tidying up shows its steps first, and can be undone. The test is in a file whose tests
// run early, because a node that is idle for some minutes tidies up by itself.
func TestTidyUp(t *testing.T) {
	c := api(t)
	b := open(t, plain)
	b.visit("/review", ".tidy .button")
	// The button moves down when the content above it has loaded, so a click at a position may miss it.
	b.do(chromedp.Evaluate(`document.querySelector(".tidy .button").click()`, nil), chromedp.WaitVisible(".dream-steps li"))
	b.accessible("plan")
	b.shoot("plan")
	b.do(chromedp.Click(".tidy .button.solid"))
	b.says("Done:")
	b.do(chromedp.WaitVisible(".dreams li button"))
	list, err := c.Dreams(t.Context())
	if err != nil || len(list) != 1 || list[0].Undone {
		t.Fatalf("%+v, %v", list, err)
	}
	b.press(".toast button") // by keyboard
	b.until(`!document.querySelector(".dreams li button")`)
	list, err = c.Dreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if !d.Undone {
			t.Errorf("a dream was not undone: %+v", d)
		}
	}
}
