package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// askedZone is the time zone of the wearer's days, as the node said at a time.
type askedZone struct {
	zone *time.Location
	at   time.Time
}

// zones keeps the last answer for an hour, because over a socket each question counts as a request of the app.
type zones struct{ last atomic.Pointer[askedZone] }

// zone returns the time zone of the wearer's days, in which dates are read and shown. Without an
// answer of the node, it is that of this machine.
func (t *server) zone(ctx context.Context) *time.Location {
	if z := t.zones.last.Load(); z != nil && time.Since(z.at) < time.Hour {
		return z.zone
	}
	me, err := t.of(ctx).Uncounted().Self(ctx)
	zone := memory.ZoneOr(me.Zone, time.Local)
	if err == nil && (me.Owner || me.App != nil && slices.Contains(me.App.Can, serve.RightRead)) { // the node answers no other app
		t.zones.last.Store(&askedZone{zone, time.Now()})
	}
	return zone
}

// readTime parses a date, which begins in zone, or a time.
func readTime(name, text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil && t.Year() > 1 { // the zero time would mean none
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: want a date such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z", name)
}
