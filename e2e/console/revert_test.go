package console

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What an app wrote is shown and removed, and the removal is undone.
func TestRevertAppWrites(t *testing.T) {
	c := api(t)
	app, err := c.AddApp(t.Context(), serve.AppRequest{Name: "notebook", Can: []serve.Right{serve.RightRead, serve.RightAdd}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	infer := false
	res, err := c.WithKey(app.Key).Add(t.Context(), serve.AddRequest{Text: "The brass lamp is from Graz.", Infer: &infer})
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	id := res.Changes[0].Memory.String()
	active := func() bool {
		m, err := c.Get(t.Context(), id)
		return err == nil && m.State == memory.Active
	}
	b := open(t, look{"en-GB", 360, 740, true})
	b.visit("/sharing", ".take-back")
	b.fits("sharing with an app")
	b.press(".take-back")
	b.do(chromedp.WaitVisible("dialog .forget-part li"))
	b.says("The brass lamp is from Graz.")
	b.accessible("take back")
	b.shoot("take-back")
	b.do(chromedp.Click("dialog .danger.solid"))
	b.says("Removed from 1 memory.")
	if active() {
		t.Error("the memory is still active after the revert")
	}
	b.press(".toast button")
	b.do(chromedp.WaitNotPresent(".toast button"))
	b.until(`fetch("/v1/memories/` + id + `", {headers: {"Locket-Console": localStorage["locket.key"]}}).then(r => r.json()).then(m => m.state === "active")`)
	if _, err := c.RevokeApp(t.Context(), "notebook"); err != nil {
		t.Fatal(err)
	}
}
