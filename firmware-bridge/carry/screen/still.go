package screen

import (
	"slices"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

const (
	// settle is how long a desktop stands still before a shot: Sway shows a new layout up to 200 ms late, others slide.
	settle = 500 * time.Millisecond
	// patience is how long a title that changes at every look holds up pictures.
	patience = 10 * time.Second
	// An app's title may count, or spin: it is no news at each look.
	titleAgain = time.Minute // until the same title is published alone once more
	maxTitles  = 6           // that are published within titleAgain
)

// still knows whether a desktop has stood still. The zero value has seen nothing yet.
type still struct {
	places       []place
	title        string
	turn, titled uint64    // as in [link.Desktop]
	restless     time.Time // since when the title has changed at every look; zero: it has not
}

// look compares a desktop with the one of the look before. A picture may be taken where it stands. Its title may be
// published where it is named, which is that the title stood, too.
func (s *still) look(d link.Desktop, now time.Time) (stands, named bool) {
	was := *s
	*s = still{places: places(d), title: d.Front.Title, turn: d.Turn, titled: d.Titled}
	if s.turn != was.turn || !slices.Equal(s.places, was.places) {
		return false, false
	}
	if s.title == was.title && s.titled == was.titled {
		return true, true
	}
	// Maybe another tab was there, which may still be in the pixels.
	if s.restless = was.restless; s.restless.IsZero() {
		s.restless = now
	}
	return now.Sub(s.restless) >= patience, false
}

// place is which program's window is where.
type place struct {
	app, where string
}

// places are those of a desktop's windows, the one in front first.
func places(d link.Desktop) (list []place) {
	for _, w := range append([]link.Window{*d.Front}, d.Above...) {
		list = append(list, place{w.App, w.Shot()})
	}
	return list
}

// titles are those that were published.
type titles struct {
	last string // or "" of a window without one
	said []saying
}

type saying struct {
	title string
	at    time.Time
}

// news reports whether a title is to be published now, and then counts it as published. With a picture it may be one
// of a moment ago.
func (t *titles) news(title string, pictured bool, now time.Time) bool {
	if title == "" || title == t.last {
		t.last = title
		return false
	}
	t.said = slices.DeleteFunc(t.said, func(s saying) bool { return now.Sub(s.at) >= titleAgain })
	if len(t.said) >= maxTitles || !pictured && slices.ContainsFunc(t.said, func(s saying) bool { return s.title == title }) {
		return false
	}
	t.last, t.said = title, append(t.said, saying{title, now})
	return true
}
