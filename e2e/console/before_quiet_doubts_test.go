package console

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// unsure imports texts into a home as memories with low confidence.
func unsure(t *testing.T, home string, texts ...string) {
	t.Helper()
	other, c := ownHome(t)
	infer := false
	for _, text := range texts {
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: text, Infer: &infer}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := command(other, "export")
	if err != nil {
		t.Fatal(err)
	}
	all = regexp.MustCompile(`"confidence":1\b`).ReplaceAllString(all, `"confidence":0.4`)
	takeIn(t, home, all)
}

// takeIn imports another home's export, without its signature.
func takeIn(t *testing.T, home, export string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "export.jsonl")
	export = regexp.MustCompile(`(?m)^\{"kind":"signature".*\n`).ReplaceAllString(export, "")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, home, "import", file, "--unsigned")
}

// Uncertain memories wait on the Review page: they are confirmed or archived by keyboard, and
// both are undone.
func TestDoubts(t *testing.T) {
	home, c := ownHome(t)
	unsure(t, home, "The brass lamp is <b>in</b> Graz.", "The canoe may be in Ulm.", "The kayak may be in Linz.")
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", ".doubt")
	b.until(`document.querySelectorAll(".doubt").length === 3`)
	b.says("The brass lamp is <b>in</b> Graz.")
	b.settled()
	b.accessible("doubts")
	b.shoot("doubts")
	looks(t, home, "doubts", "/review", ".doubt", nil)
	is := func(text string) memory.Memory {
		t.Helper()
		list, err := c.List(t.Context(), serve.ListQuery{State: serve.AnyState})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Memories {
			if strings.Contains(m.Text, text) {
				return m
			}
		}
		t.Fatalf("nothing of %q in %+v", text, list)
		return memory.Memory{}
	}
	first := js[string](b, `document.querySelector(".doubt-text").innerText.trim()`)
	b.do(chromedp.KeyEvent("j"))
	b.until(`document.activeElement.matches(".doubt")`)
	b.do(chromedp.KeyEvent("y"))
	b.until(`document.querySelectorAll(".doubt").length === 2`)
	if m := is(first); !m.Pinned {
		t.Errorf("%+v", m)
	}
	b.do(chromedp.KeyEvent("u"))
	b.until(`document.querySelectorAll(".doubt").length === 3`)
	if m := is(first); m.Pinned {
		t.Errorf("%+v", m)
	}
	b.until(`document.activeElement === document.querySelectorAll(".doubt")[1]`) // the focus moved there when the first was confirmed
	second := js[string](b, `document.activeElement.querySelector(".doubt-text").innerText.trim()`)
	b.do(chromedp.KeyEvent("n"))
	b.until(`document.querySelectorAll(".doubt").length === 2`)
	if m := is(second); m.State != memory.Archived {
		t.Errorf("%+v", m)
	}
	b.settled()
	b.do(chromedp.Click(".toast:last-child button"))
	b.until(`document.querySelectorAll(".doubt").length === 3`)
	if m := is(second); m.State != memory.Active {
		t.Errorf("%+v", m)
	}
	b.settled()
	b.do(chromedp.Click(".doubt .button"))
	b.until(`document.querySelectorAll(".doubt").length === 2`)
}

// One step of a plan is left out, and the others are applied.
func TestLeaveOutStep(t *testing.T) {
	home, c := ownHome(t)
	for i, place := range []string{"three", "four", "five"} {
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: fmt.Sprintf("My van is parked on level %s.", place), Speaker: "Mei", At: at(t, fmt.Sprintf("2026-08-%02dT10:00:00+08:00", 10+i))}); err != nil {
			t.Fatal(err)
		}
	}
	for day := range 2 {
		for i := range 7 { // a day with this many memories is summarised
			if _, err := c.Add(t.Context(), serve.AddRequest{Text: fmt.Sprintf("My friend Quill%d lives in Town%d.", 7*day+i, 7*day+i), Speaker: "Mei", At: at(t, fmt.Sprintf("2026-08-%02dT10:0%d:00+08:00", 20+day, i))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/review", "[data-act=tidy]")
	b.press("[data-act=tidy]")
	b.do(chromedp.WaitVisible(".dream-steps li"))
	b.settled()
	n := js[int](b, `document.querySelectorAll(".dream-steps li").length`)
	if n < 2 {
		t.Fatalf("a plan of %d steps", n)
	}
	left := js[string](b, `document.querySelector(".dream-steps a").innerText`)
	b.do(chromedp.Focus(".dream-steps li:first-child input"), chromedp.KeyEvent(" "))
	b.until(fmt.Sprintf(`document.querySelector(".tidy .button.solid").innerText.includes("%d")`, n-1))
	b.accessible("a plan with a step left out")
	b.shoot("plan-left")
	b.press(".tidy .button.solid")
	b.says("Done:")
	list, err := c.Dreams(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	steps, err := c.DreamSteps(t.Context(), list[0].ID)
	if err != nil || len(steps) != n-1 {
		t.Errorf("%d steps of %d were done: %+v, %v", len(steps), n, steps, err)
	}
	for _, s := range steps {
		if s.Text == left {
			t.Errorf("what was left out was done: %+v", s)
		}
	}
	plan, err := c.PlanDream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Steps {
		if s.Text == left {
			t.Errorf("what was left out is planned again: %+v", s)
		}
	}
}

// A line of "About you" is corrected in place, and that is undone.
func TestCorrectInPlace(t *testing.T) {
	home, c := ownHome(t)
	res, err := c.Add(t.Context(), serve.AddRequest{Text: "My name is Mei Lin.", Speaker: "Mei", At: at(t, "2026-08-10T10:00:00+08:00")})
	if err != nil {
		t.Fatal(err)
	}
	no := false
	added, err := c.Add(t.Context(), serve.AddRequest{Text: "I like short answers.", Infer: &no, Type: memory.Core, Fields: memory.Fields{Core: &memory.CoreFields{Block: "persona", Limit: memory.CoreLimit}}})
	if err != nil || len(added.Changes) != 1 {
		t.Fatalf("%+v, %+v, %v", res, added, err)
	}
	id := added.Changes[0].Memory.String()
	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/memories/core", ".block-line")
	b.settled()
	b.shoot("core")
	looks(t, home, "core", "/memories/core", ".block-line", nil)
	b.press(`.block-line button[aria-label*="short answers"]`)
	b.do(chromedp.WaitVisible("form.edit textarea"))
	b.accessible("core in place")
	b.do(chromedp.Evaluate(`document.querySelector("form.edit textarea").select()`, nil), chromedp.SendKeys("form.edit textarea", "I like long answers."), chromedp.KeyEvent(kb.Tab))
	b.press("form.edit .button.solid")
	b.says("Corrected.")
	b.do(chromedp.WaitVisible(`.block-line button[aria-label*="long answers"]`))
	if m, err := c.Get(t.Context(), id); err != nil || m.Text != "I like long answers." {
		t.Errorf("%+v, %v", m, err)
	}
	b.press(".toast button")
	b.do(chromedp.WaitVisible(`.block-line button[aria-label*="short answers"]`))
}

// The instructions for a language model are edited on the page, and that is undone; the whole
// memory is saved as a file, which another home imports.
func TestInstructAndTakeOut(t *testing.T) {
	home, c := ownHome(t)
	infer := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "The green canoe is in Ulm.", Infer: &infer}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetInstructions(t.Context(), "Keep what I cook."); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.palette("language model should keep")
	b.do(chromedp.WaitVisible("[name=instructions]"))
	b.until(`document.querySelector("[name=instructions]").value === "Keep what I cook."`)
	b.do(chromedp.Evaluate(`document.querySelector("[name=instructions]").select()`, nil), chromedp.SendKeys("[name=instructions]", "Leave out <i>work</i>."))
	b.settled()
	b.accessible("instructions")
	b.shoot("instructions")
	b.press(".instructions .button")
	b.says("Saved.")
	if text, err := c.Instructions(t.Context()); err != nil || text != "Leave out <i>work</i>." {
		t.Errorf("%q, %v", text, err)
	}
	b.press(".toast button")
	b.until(`document.querySelector("[name=instructions]").value === "Keep what I cook."`)
	if text, err := c.Instructions(t.Context()); err != nil || text != "Keep what I cook." {
		t.Errorf("%q, %v", text, err)
	}

	dir := b.downloads()
	b.palette("export everything")
	b.until(`document.activeElement?.dataset.act === "export"`)
	b.settled()
	b.shoot("export")
	b.press("[data-act=export-do]")
	b.says("Saved:")
	export, err := os.ReadFile(saved(t, filepath.Join(dir, "locket-*.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	other, got := ownHome(t)
	takeIn(t, other, string(export))
	list, err := got.List(t.Context(), serve.ListQuery{})
	if err != nil || len(list.Memories) != 1 || list.Memories[0].Text != "The green canoe is in Ulm." {
		t.Errorf("%+v, %v", list, err)
	}
}
