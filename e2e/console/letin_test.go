package console

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// unfolded opens a part of a page to which the palette led, if it is not open yet.
func (b *tab) unfolded(act string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(`[data-act=` + act + `]`))
	if !js[bool](b, `document.querySelector("[data-act=`+act+`]").parentElement.open`) {
		b.do(chromedp.ScrollIntoView(`[data-act=`+act+`]`), chromedp.Click(`[data-act=`+act+`]`))
	}
}

// A private zone for the night is added by keyboard, and removed by mouse, with undo.
func TestZones(t *testing.T) {
	c := api(t)
	names := func() (list []string) {
		t.Helper()
		all, err := c.Zones(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range all.Zones {
			list = append(list, z.Name+": "+z.String())
		}
		return list
	}
	b := open(t, plain)
	b.palette("add a private zone")
	b.until(`document.activeElement?.dataset.act === "zone"`)
	b.do(chromedp.Focus("[name=zone]"), chromedp.KeyEvent("nights"))
	b.accessible("zone")
	b.shoot("zone")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".zones li"))
	if list := names(); len(list) != 1 || !strings.Contains(list[0], "22:00-07:00") {
		t.Error(list)
	}
	b.says("every day 22:00-07:00")

	m := open(t, look{"zh-CN", 360, 740, true})
	m.visit("/devices", ".zones li")
	m.settled()
	m.do(chromedp.ScrollIntoView(".zones li .plain"), chromedp.Click(".zones li .plain"), chromedp.WaitVisible(".toast button"))
	if list := names(); len(list) != 0 {
		t.Error(list)
	}
	m.do(chromedp.Click(".toast button"), chromedp.WaitVisible(".zones li"))
	m.unfolded("zone")
	m.do(chromedp.SetValue("[name=days]", ""), chromedp.WaitVisible("[name=place]"), chromedp.SendKeys("[name=zone]", "诊所"), chromedp.SendKeys("[name=place]", "clinic"))
	m.fits("zone")
	m.do(chromedp.ScrollIntoView(".zones form .button"), chromedp.Click(".zones form .button"), chromedp.WaitVisible(".zones li:nth-child(2)"))
	if list := names(); len(list) != 2 || !strings.Contains(list[1], "clinic") {
		t.Error(list)
	}
	for _, name := range []string{"nights", "诊所"} {
		if _, err := c.RemoveZone(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

// Another relay gets a copy of everything, becomes the first, and is removed.
func TestRelays(t *testing.T) {
	dir := t.TempDir()
	first, stopFirst, err := serveRelay(filepath.Join(dir, "first"))
	if err != nil {
		t.Fatal(err)
	}
	url, stopSecond, err := serveRelay(filepath.Join(dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	stop, err := begin(home, "--set", "sync.relay="+first)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{stop, stopSecond, stopFirst} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/devices", ".relays li")
	b.do(chromedp.Focus("[name=relay]"), chromedp.KeyEvent(url), chromedp.KeyEvent(kb.Enter))
	b.do(chromedp.WaitVisible(".relays li:nth-child(2)"))
	b.accessible("relays")
	b.do(chromedp.ScrollIntoView(".relays"))
	b.shoot("relays")
	b.until(`!!document.querySelector(".relays li:nth-child(2) .button") && !document.querySelector(".relays .dot-off") && !document.querySelector(".relays progress")`)
	b.press(".relays li:nth-child(2) .button")
	b.until(`document.querySelector(".relays li:first-child")?.innerText.includes(` + quoted(url) + `)`)
	b.do(chromedp.ScrollIntoView(".relays li:nth-child(2) .plain"), chromedp.Click(".relays li:nth-child(2) .plain"), chromedp.WaitVisible("dialog"), chromedp.Click("dialog .danger"))
	b.until(`document.querySelectorAll(".relays li").length === 1`)
	c, err := client(home)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if list, err := c.Relays(t.Context()); err != nil || len(list) != 1 || list[0].URL != url {
		t.Errorf("%+v, %v", list, err)
	}
}

// An app is added with a key that is shown once, sees what it may, appears in its log, and is
// revoked.
func TestAddApp(t *testing.T) {
	c := api(t)
	b := open(t, plain)
	b.palette("add an app")
	b.until(`document.activeElement?.dataset.act === "app"`)
	b.do(chromedp.Focus("[name=app]"), chromedp.KeyEvent("butler"))
	b.accessible("let-in")
	b.shoot("let-in")
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .once"), chromedp.WaitVisible("dialog .qr"))
	key := js[string](b, `document.querySelector("dialog .once").innerText`)
	if !strings.HasPrefix(key, serve.KeyPrefix) {
		t.Fatal(key)
	}
	b.accessible("key")
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	if strings.Contains(js[string](b, "document.documentElement.innerHTML"), key) {
		t.Error("the key is still on the page")
	}
	list, err := c.Apps(t.Context())
	at := slices.IndexFunc(list, func(a serve.App) bool { return a.Name == "butler" })
	if err != nil || at < 0 || !slices.Equal(list[at].Can, []serve.Right{serve.RightRead}) || list[at].Ends.Sub(list[at].Added).Round(24*time.Hour) != 90*24*time.Hour || slices.Contains(list[at].Types, "vault") {
		t.Fatalf("%+v, %v", list, err)
	}
	// Rights that a page may not give are refused.
	for _, more := range []string{`{}`, `{ends: "2126-01-01T00:00:00Z"}`, `{ends: soon, delegate: 1}`, `{ends: soon, hook: "https://example.org"}`, `{ends: soon, can: ["buy"]}`, `{ends: soon, can: ["read", "share"]}`, `{ends: soon, can: ["vault"]}`, `{ends: soon, sensitivity: "private"}`} {
		const soon = `const soon = new Date(Date.now() + 864e5).toISOString();`
		if got := js[int](b, `(() => {`+soon+` return fetch("/v1/apps", {method: "POST", headers: {"Content-Type": "application/json", "Locket-Console": localStorage["locket.key"]}, body: JSON.stringify({name: "thief", can: ["read"], types: ["core"], ...`+more+`})}).then(r => r.status) })()`); got != 403 {
			t.Errorf("%s: %d", more, got)
		}
	}
	used, err := appClient(t, key)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := used.Search(t.Context(), serve.SearchRequest{Query: "when is the dentist"}); err != nil || len(res.Hits) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	m := open(t, look{"zh-CN", 360, 740, false})
	m.visit("/sharing", `.looks[aria-label*=butler]`)
	m.settled()
	m.fits("let-in")
	m.do(chromedp.ScrollIntoView(`.looks[aria-label*=butler]`), chromedp.Click(`.looks[aria-label*=butler]`), chromedp.WaitVisible("dialog .rows li"))
	m.says("搜索")
	m.accessible("log")
	m.shoot("app-log")
	m.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	m.do(chromedp.ScrollIntoView(`.out .danger[aria-label*=butler]`), chromedp.Click(`.out .danger[aria-label*=butler]`), chromedp.WaitVisible("dialog .danger"), chromedp.Click("dialog .danger"))
	m.do(chromedp.WaitNotPresent(`.looks[aria-label*=butler]`))
	if _, err := used.Search(t.Context(), serve.SearchRequest{Query: "when is the dentist"}); err == nil {
		t.Error("its key opens still")
	}
}

// An app that shared something is revoked: the page says that the share can still be read, and
// revokes it, too, if the wearer chooses that.
func TestRevokeAppThatShares(t *testing.T) {
	c := api(t)
	_, key := reader(t)
	shares := func() {
		t.Helper()
		n, err := c.AddApp(t.Context(), serve.AppRequest{Name: "club", Can: []serve.Right{serve.RightRead, serve.RightShare}, Types: []string{"semantic"}})
		if err != nil {
			t.Fatal(err)
		}
		app, err := appClient(t, string(n.Key))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := app.CreateShare(t.Context(), serve.ShareRequest{Types: []memory.Type{memory.Semantic}, To: []string{"Ann=" + key}, Title: "garden"}); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (n int) {
		t.Helper()
		list, err := c.Shares(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.App == "club" && !s.Revoking && s.Revoked.IsZero() {
				n++
			}
		}
		return n
	}
	const club, garden = `.out .danger[aria-label="Revoke: club"]`, `.out .danger[aria-label="Revoke: garden"]`
	shares()
	b := open(t, plain)
	b.visit("/sharing", club)
	b.says("shared by club")
	b.press(club)
	b.says("What it shared can still be read: 1 share.")
	b.accessible("end an app")
	b.shoot("end-app")
	b.do(chromedp.Click("dialog .danger"), chromedp.WaitNotPresent(club))
	b.do(chromedp.WaitVisible(garden))
	if read() != 1 {
		t.Error("a share ended that the wearer left")
	}
	shares()
	b.visit("/sharing", club)
	b.press(club)
	b.do(chromedp.WaitVisible("dialog [name=shares]"), chromedp.Click("dialog [name=shares]"), chromedp.Click("dialog .danger"), chromedp.WaitNotPresent(club), chromedp.WaitNotPresent(garden))
	if n := read(); n != 0 {
		t.Errorf("%d shares of it are still read", n)
	}
}

// A worker is added by its key, with a space of its own, and revoked again.
func TestAddWorker(t *testing.T) {
	c := api(t)
	key, err := worker.InviteKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, plain)
	b.visit("/sharing", ".letin")
	b.unfolded("worker")
	b.do(chromedp.SetValue("[name=workerkey]", "nonsense"), chromedp.SendKeys("[name=worker]", "studio"), chromedp.ScrollIntoView("[name=how]"), chromedp.Click(".letin details:nth-of-type(2) .button"), chromedp.WaitVisible(".toast"))
	b.do(chromedp.SetValue("[name=workerkey]", key))
	b.shoot("let-worker-in")
	b.press(".letin details:nth-of-type(2) .button")
	b.do(chromedp.WaitVisible("dialog .once"))
	list, err := c.Grants(t.Context())
	if err != nil || len(list) == 0 || list[0].Name != "studio" || !list[0].Feed || !strings.Contains(js[string](b, `document.querySelector("dialog .once").innerText`), list[0].Welcome) {
		t.Fatalf("%+v, %v", list, err)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	b.press(`.looks[aria-label*=studio]`)
	b.do(chromedp.WaitVisible("dialog"))
	b.says("This is what the worker itself reports")
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	b.press(`.out .danger[aria-label*=studio]`)
	b.do(chromedp.WaitVisible("dialog .danger"), chromedp.Click("dialog .danger"))
	b.do(chromedp.WaitNotPresent(`.looks[aria-label*=studio]`))
	if list, err := c.Grants(t.Context()); err != nil || list[0].Removed.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
}
