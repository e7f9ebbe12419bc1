package console

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// pages are all pages, each with a selector that matches once it is loaded.
func pages(t *testing.T) []struct{ name, path, until string } {
	c := api(t)
	search := func(q string) string {
		res, err := c.Search(t.Context(), serve.SearchRequest{Query: q, Only: serve.OnlyMemories})
		if err != nil || len(res.Hits) == 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		return res.Hits[0].ID.String()
	}
	list, err := c.List(t.Context(), serve.ListQuery{Type: memory.Procedural})
	if err != nil || len(list.Memories) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	return []struct{ name, path, until string }{
		{"today", "/day/" + theDay, ".row.said"},
		{"empty", "/day/2026-09-13", ".empty"},
		{"week", "/week/" + theDay, ".week-day .ribbon"},
		{"year", "/year/2026", ".month-day.shade-4"},
		{"graph", "/graph", ".node text"},
		{"name", "/graph?at=Priya", ".graph-panel .quote"},
		{"ask", "/ask", ".ask-begin"},
		{"answer", "/ask?q=when+is+the+dentist", ".answer-text"},
		{"unknown", "/ask?q=quantum+chromodynamics", ".answer.unknown"},
		{"memories", "/memories", ".rows li"},
		{"facts", "/memories/semantic", ".tree summary"},
		{"gallery", "/memories/resource", ".gallery li"},
		{"guides", "/memories/procedural", ".steps li"},
		{"vault", "/memories/vault", ".secrets li"},
		{"memory", "/memory/" + search("when is the dentist"), ".memory-head"},
		{"guide", "/memory/" + list.Memories[0].ID.String(), ".steps li"},
		{"review", "/review", ".notice.good"},
		{"sharing", "/sharing", ".policy"},
		{"import", "/import", "[name=folder]"},
		{"market", "/market", ".orders"},
		{"communities", "/communities", "[name=as]"},
		{"sell", "/market/sell", ".sharer"},
		{"consents", "/consents", ".notice.good"},
		{"devices", "/devices", ".tiles"},
	}
}

// Each page in both languages, on a phone and a desktop, dark and light: nothing overflows,
// there is no serious accessibility problem, and no other host is contacted. Half of the pages
// are opened dark and turn light, the others the other way round.
func TestPages(t *testing.T) {
	all := pages(t)
	for _, l := range []look{{lang: "en-GB", width: 1440, height: 1000}, {lang: "zh-CN", width: 1440, height: 1000}, {lang: "en-GB", width: 360, height: 740}, {lang: "zh-CN", width: 360, height: 740}} {
		t.Run(fmt.Sprintf("%s-%d", l.lang, l.width), func(t *testing.T) {
			b := open(t, l)
			for i, p := range all {
				first := i%2 == 0
				b.do(media(first))
				b.visit(p.path, p.until)
				for _, l.dark = range []bool{first, !first} {
					b.do(media(l.dark))
					b.settled()
					b.fits(p.name)
					if l.width == 360 {
						b.within(p.name, ".panel")
					}
					b.shoot(p.name + "-" + l.String())
					b.accessible(p.name + "-" + l.String())
				}
			}
		})
	}
}

// An address that names nothing says so, and offers a way on. A week that does not exist is this week.
func TestUnknownAddress(t *testing.T) {
	b := open(t, plain)
	for path, says := range map[string]string{
		"/day/2026-13-45": "Page not found", "/memory/zzzzzz": "This memory is no longer here",
	} {
		b.visit(path, "main .empty a, main .empty button")
		b.says(says)
	}
	title := func(path string) string {
		b.visit(path, "main h1")
		return js[string](b, `document.querySelector("main h1").innerText`)
	}
	zone, err := time.LoadLocation("Asia/Shanghai") // of the home
	if err != nil {
		t.Fatal(err)
	}
	if got, want := title("/week/2026-13-45"), title("/week/"+time.Now().In(zone).Format(time.DateOnly)); got != want || got == title("/week/"+theDay) {
		t.Errorf("a week that does not exist is %q, this week is %q", got, want)
	}
}

// On a phone, the card of a memory or recording in a day has space between its edge and its
// text.
func TestCardsHavePadding(t *testing.T) {
	b := open(t, look{"en-GB", 360, 740, false})
	b.visit("/day/"+theDay, ".row.said")
	b.settled()
	if room := js[[]float64](b, `[...document.querySelectorAll(".memory-row .card, .sound-card")].map(e => parseFloat(getComputedStyle(e).paddingLeft))`); len(room) == 0 || slices.Min(room) < 8 {
		t.Errorf("%v pixels", room)
	}
}
