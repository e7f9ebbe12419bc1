package extract

import (
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// LocalTimePlugin is a Plugin that may give times as the wearer's clock shows them.
type LocalTimePlugin interface {
	Plugin
	// UsesLocalTime reports whether the times of its candidates are wall clock: the event's offset is
	// subtracted from them, even on days on which the zone has another offset.
	UsesLocalTime() bool
}

// instants converts the times of a plugin's candidates to instants, if they are wall clock. at
// and zone are those of the event.
func instants(pl Plugin, cands []abi.Candidate, at time.Time, zone *time.Location) {
	l, ok := pl.(LocalTimePlugin)
	if !ok || !l.UsesLocalTime() {
		return
	}
	for i := range cands {
		c := &cands[i]
		for _, ms := range [...]*int64{&c.TrueFrom, &c.TrueTo, &c.Expires, &c.Started, &c.Ended} {
			if *ms != 0 {
				*ms = instant(*ms, at, zone)
			}
		}
	}
}

// instant returns the instant at which a clock in the zone shows what it would show at ms if
// the zone always had its offset at the time at. If the clock shows that time twice, the
// result is the one with that offset, or else the first. If the clock skips that time, the
// result is as long after the skip as the time is past the beginning of the skip.
func instant(ms int64, at time.Time, zone *time.Location) int64 {
	offset := func(ms int64) int64 {
		_, s := time.UnixMilli(ms).In(zone).Zone()
		return int64(s) * 1000
	}
	own := offset(at.UnixMilli())
	if offset(ms) == own {
		return ms
	}
	const day = 24 * 60 * 60 * 1000
	wall := ms + own
	before := offset(wall - day)
	if after := offset(wall + day); offset(wall-before) != before && offset(wall-after) == after {
		return wall - after
	}
	return wall - before
}
