package console

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/serve"
)

// ofAThing are the operations that change one thing: they are offered where that thing is
// shown, not in the palette.
var ofAThing = []string{
	"addEngine", "addToCommunity", "answerCommunity", "answerConsent", "askCommunity", "applyDream", "decideDispute", "endSubscription", "forgetInterests", "forgetVoice", "inviteToCommunity", "leaveCommunity", "leaveGiven", "mergeEntities", "moveOrders", "moveRelay", "orderOffer", "readForeign", "pairConfirm", "payOutSales", "pinMemory", "removeDevice", "removeEngine",
	"removeFromCommunity", "removeRelay", "removeZone", "reportOffer", "revert", "revokeApp", "revokeGrant", "revokeShare", "setCommunityRules", "settleSale", "splitEntities", "subscribe", "tellInterests", "tryPlugin", "undecideEntities",
	"undoDream", "unlock", "unpinMemory", "unsettle", "updateMemory", "updateShare", "withdrawListing",
}

// forPrograms are the operations that no page uses: a page uses another one for the same, or
// they are only for programs.
var forPrograms = []string{
	"askVault", "batchMemories", "compareHeads", "context", "deleteMemories", "deleteMemory", "diffPolicy", "drawQR", "eraseMemories", "openConsole", "planPlugin", "previewCommunity", "previewListing", "previewShare", "purchase",
	"readKey", "replayPlugin", "search", "tendGrants", "tryEngines",
}

// byCommand are the operations that so far only a command offers: docs/console.md lists them.
var byCommand = []string{
	"installPlugin", "recoverVault", "removeMember", "removePlugin", "removeWay", "rotate", "setWay", "traceCopy", "unpinPlugin",
}

// Every operation of the API that changes something is in the palette, is offered beside its
// thing, or is listed above; and the page calls each operation that it claims to offer.
func TestPaletteHasAll(t *testing.T) {
	b := open(t, plain)
	b.do(openPalette)
	does := js[[]string](b, `[...document.querySelectorAll(".palette-list li")].map(l => l.dataset.does ?? "")`)
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".palette-field"))
	b.do(chromedp.Click(".recording button"), chromedp.WaitVisible(".recording.paused"), openPalette)
	does = append(does, js[[]string](b, `[...document.querySelectorAll(".palette-list li")].map(l => l.dataset.does ?? "")`)...)
	if _, err := api(t).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../node/console/web/src/*.ts*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	known := map[string]bool{}
	for _, e := range serve.Endpoints() {
		known[e.ID] = true
		if e.Method == "GET" {
			continue
		}
		inPalette, there := slices.Contains(does, e.ID), slices.Contains(ofAThing, e.ID)
		elsewhere := slices.Contains(forPrograms, e.ID)
		none := slices.Contains(byCommand, e.ID)
		if !inPalette && !there && !elsewhere && !none {
			t.Errorf("%s %s (%s) is in the palette nowhere: which action does it?", e.Method, e.Path, e.ID)
		}
		if none && inPalette {
			t.Errorf("%s is in the palette, and in byCommand", e.ID)
		}
		if (inPalette || there) && !asked(e.Path).MatchString(source.String()) {
			t.Errorf("no page asks for %s %s", e.Method, e.Path)
		}
	}
	for _, list := range [][]string{does, ofAThing, forPrograms, byCommand} {
		for _, id := range list {
			if id != "" && !known[id] {
				t.Errorf("%s is no operation", id)
			}
		}
	}
}

// asked matches an API path in the page's source: "/v1/x/" + id, or
// `/v1/x/${id}/${pinned ? "y" : "z"}`.
func asked(path string) *regexp.Regexp {
	const value = "\\$\\{[^/]*"
	var b strings.Builder
	b.WriteString("[\"`]/v1")
	for i, part := range strings.Split(strings.TrimPrefix(path, "/v1/"), "/") {
		switch {
		case strings.HasPrefix(part, "{"):
			b.WriteString("/(" + value + "|\")")
		case i == 0:
			b.WriteString("/" + regexp.QuoteMeta(part))
		default:
			b.WriteString("/(" + regexp.QuoteMeta(part) + "|" + value + ")")
		}
	}
	return regexp.MustCompile(b.String())
}

// The palette's actions work by keyboard: it adds a text and undoes that, forgets, pauses, and
// leads to actions that need more input.
func TestPaletteByKeyboard(t *testing.T) {
	c := api(t)
	b := open(t, plain)
	has := func(text string) bool {
		t.Helper()
		res, err := c.Search(t.Context(), serve.SearchRequest{Query: text, Only: serve.OnlyMemories})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(res.Hits, func(h serve.Hit) bool { return strings.Contains(h.Text, "heron") })
	}
	// The last entry but one remembers the typed text; the last asks it.
	b.do(openPalette, chromedp.KeyEvent("My locker at the bath is number 4711, by the heron."), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".toast button"))
	b.says("Remembered:")
	if !has("locker bath heron") {
		t.Error("what was typed is not found in memory")
	}
	b.do(chromedp.Focus(".toast button"), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(".toast button"))
	b.until(`fetch("/v1/search", {method: "POST", headers: {"Content-Type": "application/json", "Locket-Console": localStorage["locket.key"]}, body: JSON.stringify({query: "locker bath heron", only: "memories"})}).then(r => r.json()).then(r => !r.hits.some(h => h.text.includes("heron")))`)

	b.palette("forget the last 10 minutes")
	b.do(chromedp.WaitVisible("dialog .forget-part"), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))
	b.palette("pause for 10")
	b.do(chromedp.WaitVisible(".recording.paused"))
	b.palette("resume")
	b.do(chromedp.WaitVisible(".recording:not(.paused)"))
	b.palette("share something")
	b.do(chromedp.WaitVisible(".sharer"))
	b.palette("add a word")
	b.until(`document.activeElement?.name === "never"`)
	b.palette("add a wearable")
	b.until(`document.activeElement?.name === "wearable"`)
	b.palette("see what it would do")
	b.do(chromedp.WaitVisible(".dream-steps li, .tidy .notice.good"))
	b.palette("health check")
	b.until(`[...document.querySelectorAll(".panel")].at(-1).querySelector(".notice")`)

	folder := t.TempDir()
	b.palette("back up")
	b.do(chromedp.WaitVisible("dialog [name=folder]"))
	b.accessible("backup")
	b.shoot("backup")
	b.do(chromedp.KeyEvent(folder), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("dialog .notice.good"))
	if list, err := os.ReadDir(folder); err != nil || len(list) == 0 {
		t.Errorf("nothing lies in the folder: %v", err)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent("dialog"))

	home, c := ownHome(t) // the other tests' home stays unlocked
	own := openAt(t, plain, linkOf(t, home).URL)
	own.palette("lock locket")
	own.do(chromedp.WaitVisible(".door"))
	s, err := c.Status(t.Context())
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for err != nil && wait.For(ctx, 50*time.Millisecond) { // its socket is created again
		s, err = c.Status(t.Context())
	}
	if err != nil || !s.Locked {
		t.Errorf("it is not locked: %v", err)
	}
}
