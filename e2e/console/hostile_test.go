package console

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/node/serve"
)

// hostile is a text that would run as script, become markup, or reverse the rest of the page.
const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>` + "\u202E\u2066\u200F"

// harmless checks that no text ran as script, became markup, affects text outside its element,
// or widened the page, and that the page is still usable.
func (b *tab) harmless(name string) {
	b.t.Helper()
	b.fits(name)
	if js[bool](b, `"broken" in window || !!document.querySelector("main script, main img[src=x], main a[href^=javascript], dialog script")`) {
		b.t.Errorf("%s: a text was run or became markup", name)
	}
	if got := js[string](b, `(() => { const w = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT); while (w.nextNode()) if (/[\u202a-\u202e\u2066-\u2069\u200f]/.test(w.currentNode.data) && !w.currentNode.parentElement.closest("bdi, textarea")) return w.currentNode.parentElement.outerHTML.slice(0, 200); return "" })()`); got != "" {
		b.t.Errorf("%s: a mark of direction reaches beyond its text: %s", name, got)
	}
	b.do(openPalette, chromedp.Evaluate(`document.querySelector("dialog[open]").close()`, nil))
}

// Each page shows any name in an answer of the node as text: of a device, a plugin, an engine, a
// person, an app, a place, a label.
func TestHostileNames(t *testing.T) {
	names := []string{"name", "text", "title", "speaker", "detail", "advice", "description", "excerpt", "by", "from", "label", "device", "model", "place", "value", "old", "new", "actor",
		"wearer", "words", "details", "subject", "attribute", "object", "predicate", "category", "aliases", "error", "trouble", "url", "platform", "reason", "why", "into_text", "said", "version", "broker", "query", "note"}
	for i, bad := range []string{hostile, strings.Repeat("W", 30000)} {
		b := open(t, look{"en-GB", 360, 740, false})
		b.spoil(bad, names)
		for _, p := range pages(t) {
			if p.name == "unknown" {
				continue
			}
			b.visit(p.path, "main h1, main .empty, main .panel, main form")
			b.until(`!document.querySelector(".waiting")`)
			b.harmless(p.name)
			b.shoot(fmt.Sprintf("hostile-%d-%s", i, p.name))
		}
	}
}

// spoil appends a hostile text to the names in each answer of the node.
func (b *tab) spoil(bad string, names []string) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`{
			const bad = ` + quoted(bad) + `, names = new Set(` + quoted(strings.Join(names, ",")) + `.split(",")), ask = fetch;
			const put = (v, k) => Array.isArray(v) ? v.map(x => put(x, k)) : v && typeof v === "object" ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, put(x, k)])) : typeof v === "string" && names.has(k) ? v + bad : v;
			window.fetch = async (url, o) => {
				const r = await ask(url, o);
				if (!r.headers.get("Content-Type")?.includes("json")) return r;
				return new Response(JSON.stringify(put(await r.json(), "")), {status: r.status, headers: r.headers});
			};
		}`).Do(ctx)
		return err
	}))
}

// Input from outside is treated as text or refused: a note, a photo's EXIF, a wearable's name,
// and a text of 1 MB.
func TestHostileImports(t *testing.T) {
	c := api(t)
	large := strings.Repeat("Quagga ", 1<<20/7)
	infer := false
	for _, n := range []int{1 << 20, 300 << 10} { // the first exceeds the limit of a request, the second that of a text
		if _, err := c.Add(t.Context(), serve.AddRequest{Text: large[:n/7*7], Infer: &infer}); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("a text of %d bytes: %v", n, err)
		}
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("notes/quagga.md", []byte("# Quagga "+hostile+"\n\nThe quagga ate. "+hostile+"\n\n[here](javascript:window.broken=1)\n\n"+large[:400<<10]))
	if _, err := command(home, "import", "--from", "notes", filepath.Join(dir, "notes")); err != nil {
		t.Fatal(err)
	}
	picture := image.NewGray(image.Rect(0, 0, 320, 240))
	for i := range picture.Pix {
		picture.Pix[i] = byte(i%320/40*30 ^ i/320/30*25) // a chessboard, so that it counts as a new scene
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, picture, nil); err != nil {
		t.Fatal(err)
	}
	write("evil.jpg", withExif(photo.Bytes(), hostile))
	write("evil.jsonl", []byte(`{"kind":"day","date":"2026-09-24","zone":"Asia/Shanghai","wearer":"Mei"}
{"at":"2026-09-24T10:37:03+08:00","kind":"photo","device":"glasses","file":"evil.jpg"}
`))
	if _, err := command(home, "replay", filepath.Join(dir, "evil.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddDevice(t.Context(), "evil "+hostile); err == nil {
		t.Error("a wearable has markup as its name")
	}

	b := open(t, look{"en-GB", 360, 740, true})
	b.visit("/memories/resource", ".gallery li")
	b.harmless("gallery")
	note := js[string](b, `[...document.querySelectorAll(".gallery a")].find(a => a.innerText.includes("Quagga"))?.pathname ?? ""`)
	if note == "" {
		t.Fatal("the note is not among photos and papers")
	}
	b.visit(note, ".memory-head")
	b.harmless("note")
	b.shoot("hostile-note")
	b.visit("/day/2026-09-24", ".photo img, .photo-none")
	b.harmless("photo")
	b.shoot("hostile-photo")
	b.visit("/ask?q=quagga", ".answer")
	b.harmless("answer")
	b.visit("/ask?q=x&filter=speaker+%3D+"+strings.Repeat("W", 3000), ".chip.part")
	b.harmless("filter")
}

// withExif puts an image description into a JPEG: TIFF 6.0, tag 270, in an APP1 segment.
func withExif(jpeg []byte, text string) []byte {
	tiff := []byte{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x0E, 0x01, 2, 0}
	tiff = binary.LittleEndian.AppendUint32(tiff, uint32(len(text)+1))
	tiff = binary.LittleEndian.AppendUint32(tiff, 26)
	tiff = append(append(tiff, 0, 0, 0, 0), text+"\x00"...)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, jpeg[:2]...)
	out = append(out, 0xFF, 0xE1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(segment)+2))
	return append(append(out, segment...), jpeg[2:]...)
}
