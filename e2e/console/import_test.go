package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/node/serve"
)

// An import is shown before it is done: a file by mouse, a folder by keyboard, an export of
// another home. Importing again changes nothing.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mem0 := write("mem0.json", `{"results": [{"id": "1", "memory": "Loves quinces `+"<b>so</b> \\u202e"+`", "created_at": "2026-01-02T03:04:05Z"}, {"id": "2", "memory": "Has a canoe", "created_at": "2026-02-02T03:04:05Z"}, {"id": "3", "memory": " "}]}`)
	write("notes/canoe.md", "# Canoe\n\nThe paddle hangs in the shed.\n")
	home, c := ownHome(t)
	memories := func() int {
		t.Helper()
		l, err := c.List(t.Context(), serve.ListQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Memories)
	}
	b := openAt(t, plain, linkOf(t, home).URL)
	b.palette("import")
	b.until(`document.activeElement?.name === "file"`)
	b.press(".import form .button") // with nothing chosen
	b.says("Choose a file or name a folder.")
	b.do(chromedp.SetUploadFiles("[name=file]", []string{mem0}), chromedp.Click(".import form .button"), chromedp.WaitVisible(".plan .rows li"))
	b.says("2 texts from Mem0")
	b.says("1 is left out")
	b.harmless("import")
	b.accessible("import")
	b.do(chromedp.ScrollIntoView("[data-act=take]"))
	b.shoot("import")
	if n := memories(); n != 0 {
		t.Errorf("%d memories before anything was taken in", n)
	}
	b.press("[data-act=take]")
	b.says("2 added; 0 already there.")
	b.shoot("imported")
	if n := memories(); n != 2 {
		t.Errorf("%d memories", n)
	}
	b.press(".import form .button")
	b.until(`document.querySelector("[data-act=take]")`)
	b.press("[data-act=take]")
	b.says("0 added; 2 already there.")
	b.says("Nothing has changed.")

	b.visit("/import", "[name=folder]")
	b.do(chromedp.Focus("[name=folder]"), chromedp.KeyEvent(filepath.Join(dir, "nothing")), chromedp.KeyEvent(kb.Enter))
	b.says("Choose the format of the folder.")
	b.do(chromedp.SetValue("[name=from]", "notes"), chromedp.Focus("[name=folder]"), chromedp.KeyEvent(kb.Enter))
	b.says("no such file")
	b.visit("/import", "[name=folder]")
	b.do(chromedp.SetValue("[name=from]", "notes"), chromedp.Focus("[name=folder]"), chromedp.KeyEvent("notes"), chromedp.KeyEvent(kb.Enter))
	b.says("want a full path")
	b.visit("/import", "[name=folder]")
	b.do(chromedp.Focus("[name=folder]"), chromedp.KeyEvent(filepath.Join(dir, "notes")), chromedp.SetValue("[name=from]", "notes"), chromedp.Focus("[name=folder]"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".plan .rows li"))
	b.says("1 text from Markdown notes")
	b.press("[data-act=take]")
	b.says("1 added; 0 already there.")

	ics := write("my.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:Dentist\nDTSTART:20261017T141500Z\nDESCRIPTION:The door code is 4471#\nEND:VEVENT\nEND:VCALENDAR\n")
	b.visit("/import", "[name=file]")
	b.do(chromedp.SetUploadFiles("[name=file]", []string{ics}), chromedp.Click(".import form .button"), chromedp.WaitVisible(".plan .rows li"))
	b.says("1 text from Calendar (.ics)")
	b.press("[data-act=take]")
	b.says("1 added; 0 already there.") // without its notes, which hold a secret

	// A secret from another system's vault is named, but never shown.
	mirix := write("mirix.json", `{"memories": {"episodic": {"items": []}, "semantic": {"items": [{"id": "s1", "summary": "The kettle is blue"}]}, "knowledge_vault": {"items": [{"id": "v1", "caption": "office Wi-Fi", "secret_value": "tulip-42-harbor"}]}}}`)
	b.visit("/import", "[name=file]")
	b.do(chromedp.SetUploadFiles("[name=file]", []string{mirix}), chromedp.Click(".import form .button"), chromedp.WaitVisible(".plan .rows li"))
	b.says("2 texts from MIRIX")
	b.says("1 is kept as it is")
	b.says("1 goes to the vault")
	b.says("office Wi-Fi: goes to the vault")
	hidden := func() {
		t.Helper()
		if strings.Contains(js[string](b, "document.documentElement.outerHTML"), "tulip") {
			t.Error("the page has the secret")
		}
	}
	hidden()
	b.press("[data-act=take]")
	b.says("2 added; 0 already there.")
	hidden()

	before := memories()
	export := filepath.Join(dir, "export.jsonl")
	if _, err := command(home, "export", "-o", export); err != nil {
		t.Fatal(err)
	}
	b.visit("/import", "[name=folder]")
	b.do(chromedp.SetUploadFiles("[name=file]", []string{export}), chromedp.Click(".import form .button"), chromedp.WaitVisible("[data-act=take]"))
	b.says("A Locket export")
	b.do(chromedp.Click("[data-act=take]"))
	b.says("0 added;")
	if n := memories(); n != before {
		t.Errorf("%d memories after the home's own export, %d before", n, before)
	}

	for _, l := range []look{{"zh-CN", 360, 740, true}, {"en-GB", 360, 740, false}, {"zh-CN", 1440, 1000, true}} {
		phone := openAt(t, l, linkOf(t, home).URL)
		phone.visit("/import", "[name=file]")
		phone.do(chromedp.SetUploadFiles("[name=file]", []string{mem0}), chromedp.Click(".import form .button"), chromedp.WaitVisible(".plan .rows li"))
		phone.fits("import")
		phone.accessible("import")
		phone.shoot("import-" + l.String())
	}
}
