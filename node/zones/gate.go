package zones

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Reasons for dropping an event.
const (
	ByTime  = "private time"
	ByPlace = "private place"
)

// Assumptions of a gate.
const (
	// DefaultAge is how long after a fix outside a place the wearer is assumed to
	// be outside. Phones report about every quarter of an hour.
	DefaultAge = 15 * time.Minute
	// hold is how long after the last fix inside a place the wearer is assumed to
	// be there, because there are no fixes indoors.
	hold = 12 * time.Hour
	// A device that is silent for silence counts as away. For catchUp after its
	// return, an event without its own time may be from while it was away; longest
	// limits how far back that may be.
	silence = time.Minute
	catchUp = 10 * time.Minute
	longest = 24 * time.Hour
	// How many fixes are kept, and the maximum inaccuracy of a useful one, in
	// metres.
	maxFixes    = 4096
	maxAccuracy = 1000
	maxDevices  = 1024
)

// Config is a gate's configuration. The zero value works.
type Config struct {
	Zone          *time.Location // for events without a zone; nil: UTC
	Age           time.Duration  // how long a fix outside a place is valid; 0: DefaultAge
	AssumeEntered bool           // if it is unknown whether a place was entered, assume that it was
}

// Gate checks events against zones. It is safe for concurrent use. Where the wearer
// was is only kept in memory.
type Gate struct {
	cfg     Config
	mu      sync.Mutex
	zones   []Zone
	fixes   []fix // by time
	devices map[string]*device
}

type fix struct {
	at    time.Time
	place memory.Place
}

// device is what is known about the times of a device's events.
type device struct {
	boot  uint64 // its boot at its last hello
	hello bool
	last  time.Time // when its last event was received
	away  time.Time // when it was last heard before it was away
	back  time.Time // when it came back
}

// New makes a Gate. The zones must be checked already.
func New(cfg Config, zones []Zone) *Gate {
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	cfg.Age = cmp.Or(cfg.Age, DefaultAge)
	return &Gate{cfg: cfg, zones: slices.Clone(zones), devices: map[string]*device{}}
}

// Set replaces the zones.
func (g *Gate) Set(zones []Zone) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.zones = slices.Clone(zones)
}

// CheckEvent learns from an event, and must be called in the order of arrival. It returns
// the reason why the event must be dropped, or nothing if it may be taken. moved is
// true for a new fix. The caller must let events about the device itself through.
func (g *Gate) CheckEvent(ev *memory.Event) (reason string, moved bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.recordEvent(ev)
	if ev.Kind == memory.KindLocation && ev.Place != nil {
		moved = g.locate(ev)
	}
	if len(g.zones) == 0 {
		return "", moved
	}
	from, to := d.span(ev)
	loc := memory.ZoneOr(ev.Zone, g.cfg.Zone)
	for t := to; ; t = t.Add(-time.Minute) {
		if t.Before(from) {
			t = from
		}
		if z := g.in(t, loc); z != nil {
			if z.placed() {
				return ByPlace, moved
			}
			return ByTime, moved
		}
		if !t.After(from) {
			return "", moved
		}
	}
}

// recordEvent records that a device sent something.
func (g *Gate) recordEvent(ev *memory.Event) *device {
	d := g.devices[ev.ID.Device]
	if d == nil {
		d = &device{away: ev.Received.Add(-longest), back: ev.Received}
		if len(g.devices) < maxDevices {
			g.devices[ev.ID.Device] = d
		}
	} else if ev.Received.Sub(d.last) > silence {
		d.away, d.back = d.last, ev.Received
		if ev.Received.Sub(d.away) > longest {
			d.away = ev.Received.Add(-longest)
		}
	}
	d.last = ev.Received
	if ev.Kind == memory.KindHello {
		d.boot, d.hello = ev.ID.Boot, true
	}
	return d
}

// span returns when an event may have happened. A wall time is trusted, and so is
// an uptime from the boot in which the device last said hello, which gives the
// exact time. Anything else that arrives while the device catches up may be from
// any time while it was away.
func (d *device) span(ev *memory.Event) (from, to time.Time) {
	switch {
	case ev.Clock == memory.ClockWall, ev.Clock == memory.ClockUptime && d.hello && ev.ID.Boot == d.boot:
		return ev.At, ev.At
	case ev.Received.Sub(d.back) > catchUp, !d.away.Before(ev.At):
		return ev.At, ev.At
	}
	return d.away, ev.At
}

// locate stores a fix if it is useful.
func (g *Gate) locate(ev *memory.Event) bool {
	if ev.Place.Accuracy > maxAccuracy {
		return false
	}
	f := fix{ev.At, *ev.Place}
	i, _ := slices.BinarySearchFunc(g.fixes, f.at, func(f fix, at time.Time) int { return f.at.Compare(at) })
	for i < len(g.fixes) && g.fixes[i].at.Equal(f.at) {
		if g.fixes[i].place == f.place {
			return false
		}
		i++
	}
	g.fixes = slices.Insert(g.fixes, i, f)
	if len(g.fixes) > maxFixes {
		g.fixes = slices.Delete(g.fixes, 0, len(g.fixes)-maxFixes)
	}
	return true
}

// in returns the zone in which a time is, or nil.
func (g *Gate) in(t time.Time, loc *time.Location) *Zone {
	for i := range g.zones {
		z := &g.zones[i]
		if z.Window != "" && !z.window.holds(t.In(loc)) {
			continue
		}
		if !z.placed() || g.entered(z, t) {
			return z
		}
	}
	return nil
}

// entered reports whether the wearer was in the zone's place at a time, according
// to the last fix before it.
func (g *Gate) entered(z *Zone, t time.Time) bool {
	i, _ := slices.BinarySearchFunc(g.fixes, t, func(f fix, t time.Time) int {
		if f.at.After(t) {
			return 1
		}
		return -1
	})
	for i--; i >= 0 && t.Sub(g.fixes[i].at) <= hold; i-- {
		f := &g.fixes[i]
		switch {
		case z.Place != "" && f.place.Name == "":
			continue // a fix without a place's name says nothing about the name
		case z.covers(&f.place):
			return true
		case t.Sub(f.at) <= g.cfg.Age:
			return false
		}
		return g.cfg.AssumeEntered
	}
	return g.cfg.AssumeEntered
}

// Active returns the names of the zones in which the wearer is at a time.
func (g *Gate) Active(now time.Time) (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.zones {
		z := &g.zones[i]
		if (z.Window == "" || z.window.holds(now.In(g.cfg.Zone))) && (!z.placed() || g.entered(z, now)) {
			names = append(names, z.Name)
		}
	}
	return names
}
