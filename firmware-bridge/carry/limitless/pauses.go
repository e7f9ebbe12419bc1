package limitless

import (
	"slices"
	"time"
)

// The pendant can't be told to stop recording: while the wearer pauses, it records to its flash. So
// the bridge remembers the pauses, and publishes no page of them.

// maxPauses limits the pauses that are remembered. The oldest are forgotten first: their pages were
// fetched long ago.
const maxPauses = 256

// slack is the allowed difference between the pendant's clock, which is set on each connection, and
// this machine's.
const slack = 2 * time.Second

// span is one pause. It continues while To is zero.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
}

// part is stored across restarts.
type part struct {
	Boot   uint64 `json:"boot"` // boot under which pages are published
	Pauses []span `json:"pauses,omitempty"`
}

// going reports whether a pause continues, as far as is known.
func (p *part) going() bool {
	n := len(p.Pauses)
	return n > 0 && p.Pauses[n-1].To.IsZero()
}

// pause notes that a pause begins or ends, and reports whether that is new.
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

// later returns the later of t and before. A pause that the node meanwhile began and ended again
// thus does not end before it began.
func later(t, before time.Time) time.Time {
	if t.Before(before) {
		return before
	}
	return t
}

// paused reports whether any part of a page was recorded in a pause.
func (p *part) paused(at time.Time, lasts time.Duration) bool {
	if at.IsZero() {
		return false
	}
	return slices.ContainsFunc(p.Pauses, func(s span) bool {
		return at.Add(lasts+slack).After(s.From) && (s.To.IsZero() || at.Add(-slack).Before(s.To))
	})
}
