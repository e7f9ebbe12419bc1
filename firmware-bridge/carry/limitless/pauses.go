package limitless

import (
	"slices"
	"time"
)

// The pendant can't be told to stop recording: while the wearer pauses it goes on in its
// flash. So the bridge remembers when there was a pause, and takes no page of it.

// maxPauses bounds what is remembered. Older pauses are forgotten first: their pages
// were fetched long ago.
const maxPauses = 256

// slack is by how much the pendant's clock may differ from this machine's. It is set on
// each connection.
const slack = 2 * time.Second

// span is one pause; a To of zero is one that goes on.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
}

// part is what must outlive the process.
type part struct {
	Boot   uint64 `json:"boot"` // under which pages are published
	Pauses []span `json:"pauses,omitempty"`
}

// going reports whether a pause goes on, as far as is known.
func (p *part) going() bool {
	n := len(p.Pauses)
	return n > 0 && p.Pauses[n-1].To.IsZero()
}

// pause notes that a pause begins or ends, and reports whether that is news.
func (p *part) pause(on bool, now time.Time) bool {
	n := len(p.Pauses)
	if p.going() == on {
		return false
	}
	if !on {
		p.Pauses[n-1].To = later(now, p.Pauses[n-1].From)
		return true
	}
	if p.Pauses = append(p.Pauses, span{From: now}); n+1 > maxPauses {
		p.Pauses = p.Pauses[1:]
	}
	return true
}

// later is t, or the time before it where that is later: a pause that the node began and
// ended anew meanwhile ends after it began.
func later(t, before time.Time) time.Time {
	if t.Before(before) {
		return before
	}
	return t
}

// paused reports whether any of a page was recorded in a pause.
func (p *part) paused(at time.Time, lasts time.Duration) bool {
	if at.IsZero() {
		return false
	}
	return slices.ContainsFunc(p.Pauses, func(s span) bool {
		return at.Add(lasts+slack).After(s.From) && (s.To.IsZero() || at.Add(-slack).Before(s.To))
	})
}
