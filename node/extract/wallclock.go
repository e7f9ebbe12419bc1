package extract

import (
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// Local is a Plugin that may give times as the wearer's clock shows them.
type Local interface {
	Plugin
	// Local reports whether the times of its candidates are wall clock: the event's
	// offset is taken off them, also on days on which the zone has another.
	Local() bool
}

// instants makes instants of the times of a plugin's candidates, if they are wall clock.
// The event was at that time, in that zone.
func instants(pl Plugin, cands []abi.Candidate, at time.Time, zone *time.Location) {
	l, ok := pl.(Local)
	if !ok || !l.Local() {
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

// instant is when a clock in the zone shows what it would show at ms if the zone had the
// offset of the time at always. A time that the clock shows twice is the one with that offset,
// or else the first; one that it leaps over is as long after the leap as it is past its
// beginning.
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
