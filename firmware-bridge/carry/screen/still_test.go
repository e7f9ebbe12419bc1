package screen

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

// A desktop is taken once it did not change between two looks. A title that changes all the time
// delays pictures for a limited time only, and is not published itself.
func TestWaitsForAStillScreen(t *testing.T) {
	var s still
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	at := func(after time.Duration, turn, titled uint64, title string, x int, stands, named bool) {
		t.Helper()
		now = now.Add(after)
		d := link.Desktop{Front: &link.Window{App: "editor", Title: title, X: x, Width: 9, Height: 9}, Turn: turn, Titled: titled}
		if gotStands, gotNamed := s.look(d, now); gotStands != stands || gotNamed != named {
			t.Errorf("%s, turn %d, %q: %v and %v, want %v and %v", now.Format(time.TimeOnly), turn, title, gotStands, gotNamed, stands, named)
		}
	}
	at(0, 1, 1, "a", 0, false, false)
	at(settle, 1, 1, "a", 0, true, true)
	at(every, 3, 1, "a", 0, false, false) // a window was there and is gone
	at(settle, 3, 1, "a", 0, true, true)
	at(every, 3, 3, "a", 0, false, false) // a tab, too, was there and is gone
	at(settle, 3, 3, "a", 0, true, true)
	at(every, 3, 3, "b", 0, false, false)
	at(settle, 3, 3, "b", 0, true, true)
	at(every, 3, 3, "b", 1, false, false) // it moved
	at(settle, 3, 3, "b", 1, true, true)
	s = still{} // something private was seen
	at(settle, 3, 3, "b", 1, false, false)
	at(settle, 3, 3, "b", 1, true, true)
	for i := range uint64(patience / settle) {
		at(settle, 3, 4+i, fmt.Sprint(i), 1, false, false)
	}
	at(settle, 3, 99, "spins", 1, true, false)
	at(every, 3, 100, "spins", 1, true, false)
	at(every, 4, 101, "spins", 1, false, false) // a window change still counts
	at(settle, 4, 102, "spins on", 1, false, false)
	at(settle, 4, 102, "spins on", 1, true, true)
}

// A title is published when it changes. It is repeated after a minute at the earliest, unless it
// belongs to a picture, and at most six titles are published a minute.
func TestTitlesAreRateLimited(t *testing.T) {
	var list titles
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	said := func(title string, pictured, want bool) {
		t.Helper()
		if got := list.news(title, pictured, now); got != want {
			t.Errorf("%s %q: %v", now.Format(time.TimeOnly), title, got)
		}
	}
	said("", false, false)
	said("a", false, true)
	said("a", true, false)
	said("b", false, true)
	said("a", false, false)
	said("a", true, true)
	said("", true, false)
	now = now.Add(titleAgain)
	said("a", false, true)
	n := 0
	for i := range 2400 { // an hour of looks
		now = now.Add(every)
		if list.news(fmt.Sprint(i), i%2 == 0, now) {
			n++
		}
	}
	if n == 0 || n > 60*maxTitles {
		t.Errorf("%d titles in an hour", n)
	}
}
