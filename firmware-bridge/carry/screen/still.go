package screen

import (
	"slices"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
)

const (
	// settle is how long a desktop must not change before a shot: Sway shows a new layout up to 200
	// ms late, others use animations.
	settle = 500 * time.Millisecond
	// patience is how long a title that changes at every look may delay pictures.
	patience = 10 * time.Second
	// An app's title may count, or show a spinner. It is not published at each look.
	titleAgain = time.Minute // until the same title is published again without a picture
	maxTitles  = 6           // titles that are published within titleAgain
)

// still knows whether a desktop has stayed the same. The zero value has seen nothing yet.
type still struct {
	places       []place
	title        string
	turn, titled uint64    // as in [link.Desktop]
	restless     time.Time // since when the title has changed at every look; zero: it has not
}

// look compares a desktop with the one at the look before. If it stands, a picture may be taken. If
// it is named, its title may be published, because the title did not change either.
func (s *still) look(d link.Desktop, now time.Time) (stands, named bool) {
	was := *s
	*s = still{places: places(d), title: d.Front.Title, turn: d.Turn, titled: d.Titled}
	if s.turn != was.turn || !slices.Equal(s.places, was.places) {
		return false, false
	}
	if s.title == was.title && s.titled == was.titled {
		return true, true
	}
	// Another tab may have been there, which may still be in the pixels.
	if s.restless = was.restless; s.restless.IsZero() {
		s.restless = now
	}
	return now.Sub(s.restless) >= patience, false
}

// place says which program's window is where.
type place struct {
	app, where string
}

// places returns the windows of a desktop, the one in front first.
func places(d link.Desktop) (list []place) {
	for _, w := range append([]link.Window{*d.Front}, d.Above...) {
		list = append(list, place{w.App, w.Shot()})
	}
	return list
}

// titles are the titles that were published.
type titles struct {
	last string // the last one, or "" for a window without a title
	said []saying
}

type saying struct {
	title string
	at    time.Time
}

// news reports whether a title is to be published now, and then counts it as published. With a
// picture, it may be a title that was published just before.
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
