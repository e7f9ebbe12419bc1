package console

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/node/serve"
)

// joins starts another device with the code that the page shows, until both show the words. It
// succeeds once the page has confirmed that they are the same.
func joins(t *testing.T, b *tab) (home string, join *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	b.visit("/devices", ".plugins details")
	b.do(chromedp.Evaluate(`document.querySelector(".panel > .actions .button .icon").closest("button").click()`, nil), chromedp.WaitVisible(".pair-line"), chromedp.WaitVisible("dialog .qr"))
	b.accessible("pair")
	b.shoot("pair")
	line := strings.Fields(js[string](b, `document.querySelector(".pair-line").innerText`))
	want := []string{"locket", "pair", "--join", "", "--relay", relayAt}
	if len(line) != len(want) || line[5] != relayAt {
		t.Fatalf("the page says to type %q", line)
	}
	home = filepath.Join(t.TempDir(), "new")
	join = exec.Command(locket, append([]string{"--home", home, "--set", "disk.reserve=64MB", "--json"}, append(line[1:], "--key-file")...)...)
	out = new(bytes.Buffer)
	join.Stdin, join.Stdout, join.Stderr = strings.NewReader("y\n"), out, out
	if err := join.Start(); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".pair-words"))
	return home, join, out
}

// A second device joins by the code that the page shows, once both show the same words.
func TestPair(t *testing.T) {
	b := open(t, plain)
	fresh, join, out := joins(t, b)
	words := js[[]string](b, `[...document.querySelectorAll(".pair-words li")].map(w => w.innerText)`)
	b.do(chromedp.Evaluate(`document.querySelector("dialog footer .solid").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .notice.good"))
	if err := join.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if text := out.String(); len(words) != 5 || !strings.Contains(text, `"`+strings.Join(words, `","`)+`"`) {
		t.Errorf("the page shows %q, and the new device\n%s", words, text)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	if list, err := api(t).Members(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	b.until(`[...document.querySelectorAll(".rows .badge")].some(x => x.innerText === "this one") && document.querySelectorAll(".panel .rows li").length >= 2`)
	other := `[...document.querySelectorAll(".members .rows li")].find(l => !l.querySelector(".badge"))?.innerText ?? ""`
	this := `document.querySelector(".members .badge").closest("li").innerText`
	b.until(`(` + other + `).includes("It is not known what this device has") && (` + this + `).includes("here in full")`)
	// It reports what it has, by another way than the relay.
	said, err := command(fresh, "--json", "devices", "compare")
	if err != nil {
		t.Fatal(err)
	}
	var heads serve.Heads
	said = said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:] // before it stands how far the opening is
	if err := json.Unmarshal([]byte(said), &heads); err != nil {
		t.Fatal(said, err)
	}
	if _, err := api(t).CompareHeads(t.Context(), heads.Heads); err != nil {
		t.Fatal(err)
	}
	b.visit("/devices", ".members .rows li")
	b.until(`/On .* it reported that it has|On .* it had [\d,]+ of the [\d,]+ changes/.test(` + other + `)`)
	b.do(chromedp.Evaluate(`document.querySelector(".members").scrollIntoView()`, nil))
	b.accessible("members")
	b.shoot("members")
	for _, l := range []look{{"zh-CN", 360, 740, true}} {
		b := openAt(t, l, link(t).URL)
		b.visit("/devices", ".members .rows li")
		b.settled()
		b.do(chromedp.Evaluate(`document.querySelector(".members").scrollIntoView()`, nil))
		b.fits("members")
		b.within("members", ".panel")
		b.shoot("members-" + l.String())
	}
}

// If only a passphrase opens the keys, the page asks for it before it adds a device.
func TestPairByPassphrase(t *testing.T) {
	dir := t.TempDir()
	own, file := filepath.Join(dir, "home"), filepath.Join(dir, "passphrase")
	if err := os.WriteFile(file, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(own, "init", "--passphrase-file", file, "--no-check", "--wearer", "Mei", "--zone", "Asia/Shanghai"); err != nil {
		t.Fatal(err)
	}
	c := ofHome(t, own, "--set", "sync.relay="+relayAt)
	if err := os.Remove(file); err != nil { // it opened the keys at the start
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, own).URL)
	_, join, out := joins(t, b)
	b.do(chromedp.Click("dialog footer .solid"), chromedp.WaitVisible("dialog [name=passphrase]"))
	b.accessible("pair-passphrase")
	b.shoot("pair-passphrase")
	b.do(chromedp.Focus("dialog [name=passphrase]"), chromedp.KeyEvent("correct house battery"), chromedp.KeyEvent(kb.Enter))
	b.says("Wrong passphrase.")
	if list, err := c.Members(t.Context()); err != nil || len(list) != 1 {
		t.Fatalf("after a wrong passphrase: %+v, %v", list, err)
	}
	b.do(chromedp.KeyEvent("correct horse battery"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .notice.good"))
	if err := join.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if list, err := c.Members(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// The page describes a plugin, which is turned off and on again; it searches for engines, and
// runs the health check.
func TestPluginsAndEngines(t *testing.T) {
	b := open(t, plain)
	b.visit("/devices", ".plugins details")
	howto := func() string {
		t.Helper()
		list, err := api(t).Plugins(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(p serve.Plugin) bool { return p.ID == "howto" })
		return list[i].State
	}
	b.do(chromedp.Evaluate(`document.querySelector('[aria-label="Turn off: How-to reader"]').closest("details").open = true`, nil))
	b.says("It sees: what is said")
	facts := `[...document.querySelectorAll(".plugins details")].find(d => d.innerText.includes("Facts reader"))`
	b.do(chromedp.Evaluate(facts+`.open = true; `+facts+`.querySelector("[name=try]").focus()`, nil), chromedp.KeyEvent("My sister lives in Lindau <b>."), chromedp.KeyEvent(kb.Enter))
	b.until(facts + `.querySelector(".try-result li")?.innerText.includes("Lindau")`)
	b.says("Nothing was stored")
	b.shoot("try")
	b.accessible("plugins")
	b.do(chromedp.Click(`[aria-label="Turn off: How-to reader"]`), chromedp.WaitReady(`[aria-label="Turn on: How-to reader"]`))
	if s := howto(); s != serve.PluginOff {
		t.Errorf("it is %s", s)
	}
	b.do(chromedp.Click(".toast button"), chromedp.WaitReady(`[aria-label="Turn off: How-to reader"]`))
	if s := howto(); s != serve.PluginRuns {
		t.Errorf("it is %s", s)
	}
	b.do(chromedp.Click(`[aria-label^="Find on this machine: Eyes"]`))
	b.until(`[...document.querySelectorAll(".engine-kind")][1].querySelector("p.muted, .rows li")`)
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".button")].find(x => x.innerText === "Check now").click()`, nil))
	b.until(`[...document.querySelectorAll(".panel")].at(-1).querySelector(".notice")`)
}

// Ears that hear the sample wrong are used only after the person has read what they heard.
func TestMisheardSample(t *testing.T) {
	ears := speechtest.Whisper(t)
	ears.Says(func([]byte) string { return "la la la" })
	home, c := ownHome(t)
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/devices", ".engine-kind")
	// The search looks at ports that other programs here may have.
	b.do(chromedp.Evaluate(`{
		const asked = window.fetch;
		window.fetch = (url, ...rest) => String(url).includes("/v1/engines/found")
			? Promise.resolve(new Response('{"engines": [{"kind": "ears", "name": "whisper.cpp", "address": "`+ears.URL+`"}]}', {headers: {"Content-Type": "application/json"}}))
			: asked(url, ...rest);
	}`, nil))
	b.do(chromedp.Click(`[aria-label^="Find on this machine: Ears"]`), chromedp.Click(`[aria-label^="Use: whisper.cpp"]`), chromedp.WaitVisible(`[aria-label^="Use anyway: whisper.cpp"]`))
	b.says(`heard "la la la", but the sample says "and so my fellow Americans"`)
	b.shoot("misheard")
	b.accessible("misheard")
	if all, err := c.Engines(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	b.do(chromedp.Focus(`[aria-label^="Use anyway: whisper.cpp"]`), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector("[data-does=removeEngine]")`)
	if all, err := c.Engines(t.Context()); err != nil || len(all) != 1 || all[0].Sample == nil || all[0].Sample.Said == "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// Names are merged and split in place, each with undo, and possible duplicates wait on the
// Review page.
func TestJoinNames(t *testing.T) {
	c := api(t)
	decided := func(want ...string) {
		t.Helper()
		a, err := c.Entities(t.Context())
		var got []string
		for _, d := range a.Decisions {
			got = append(got, strings.Join([]string{d.A, map[bool]string{true: "=", false: "/"}[d.Same], d.B}, ""))
		}
		if err != nil || !slices.Equal(got, want) {
			b, _ := json.Marshal(a) // for a person
			t.Errorf("decided is %q, want %q, %v: %s", got, want, err, b)
		}
	}
	b := open(t, plain)
	b.visit("/graph?at=Ola", ".names-of summary")
	b.do(chromedp.Click(".names-of summary"), chromedp.WaitVisible("[name=alias]"), chromedp.SendKeys("[name=alias]", "Aleksandra <i>"), chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector(".names-of .chip")?.innerText.includes("Aleksandra <i>")`)
	b.accessible("names")
	decided("Ola=Aleksandra <i>")
	b.do(chromedp.Click(".toast button"))
	b.until(`!document.querySelector(".names-of .chip")`)
	decided()

	res, err := c.Add(t.Context(), serve.AddRequest{Text: "My cousin works at Lumen.", Speaker: "Mei", At: at(t, "2026-09-23T10:00:00+08:00")})
	if err != nil || len(res.Changes) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	defer func() { // other tests ask where somebody works
		if _, err := c.Delete(t.Context(), res.Changes[0].Memory.String()); err != nil {
			t.Error(err)
		}
	}()
	b.visit("/review", ".names .conflict")
	b.says("Lumen and Lumen Analytics")
	b.accessible("names to review")
	b.do(chromedp.Evaluate(`document.querySelector(".names .conflict .button").focus()`, nil), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".names .rows button"))
	decided("Lumen=Lumen Analytics")
	b.do(chromedp.Click(".names .rows button"), chromedp.WaitNotPresent(".names .rows button"))
	decided()
}
