package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The Memories page counts current memories only, and shows no count beside other lists. The
// Devices page counts all memories on the disk, and says so.
func TestCountsNameWhatTheyCount(t *testing.T) {
	c := api(t)
	status, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tiers, err := c.Tiers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := 0
	for _, n := range status.Memories {
		now += n
	}
	if now == 0 || tiers.Hot <= now {
		t.Fatalf("%d memories of how things are, %d of all", now, tiers.Hot)
	}
	const tab = `document.querySelector(".tabs a .count")?.innerText ?? ""`
	b := open(t, plain)
	b.visit("/memories", ".rows li")
	if got := js[string](b, tab); got != fmt.Sprint(now) {
		t.Errorf("the page of memories counts %s, want %d", got, now)
	}
	b.visit("/memories?state=superseded", ".chips .chip[aria-pressed=true]")
	if got := js[string](b, tab); got != "" {
		t.Errorf("beside how things were stands %s, which counts how they are", got)
	}
	b.visit("/devices", ".room dd")
	b.says(fmt.Sprintf("%d memories are stored here in full, including past and archived ones", tiers.Hot))
	b.do(chromedp.ScrollIntoView(".room"))
	b.shoot("counts")
	if got := js[string](b, `document.querySelector(".room dl").innerText`); !strings.Contains(got, "including past and archived") {
		t.Error(got)
	}
}
