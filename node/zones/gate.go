package zones

import (
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Reasons for which an event is dropped.
const (
	ByTime  = "private time"
	ByPlace = "private place"
)

// Of what a gate believes.
const (
	// DefaultAge is how long after a fix outside of a place nothing else is
	// taken to be so: a quarter of an hour is about how often phones report.
	DefaultAge = 15 * time.Minute
	// hold is how long a place is taken not to have been left since the last
	// fix in it: there are no fixes indoors.
	hold = 12 * time.Hour
	// silence is how long a device says nothing before it counts as away, and
	// catchUp how long after its return what has no time of its own may be from
	// while it was; longest is how far back that goes.
	silence = time.Minute
	catchUp = 10 * time.Minute
	longest = 24 * time.Hour
	// Fixes that are kept, and how inexact one may be to be of use, in metres.
	maxFixes    = 4096
	maxAccuracy = 1000
	maxDevices  = 1024
)

// Config of a gate. The zero value works.
type Config struct {
	Zone    *time.Location // where an event does not say; nil: UTC
	Age     time.Duration  // how long a fix says that a place was not entered; 0: DefaultAge
	Careful bool           // where it isn't known whether a place was entered, it counts as entered
}

// Gate holds events to zones. It is safe for concurrent use. What it knows of
// where the wearer was is in memory only.
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

// device is what is known of when one's events are from.
type device struct {
	boot  uint64 // that it was in when it said hello last
	hello bool
	last  time.Time // of receipt
	away  time.Time // when it was last heard before it came back
	back  time.Time // when it came back
}

// New makes a gate. Zones are checked already.
func New(cfg Config, zones []Zone) *Gate {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if cfg.Age == 0 {
		cfg.Age = DefaultAge
	}
	return &Gate{cfg: cfg, zones: slices.Clone(zones), devices: map[string]*device{}}
}

// Set replaces the zones.
func (g *Gate) Set(zones []Zone) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.zones = slices.Clone(zones)
}

// Drop learns from an event, in the order of arrival, and gives the reason for
// which it may not be taken; empty: it may. moved is true of a fix that was
// new. Events that tell of the device and not of the wearer are the caller's
// to let through.
func (g *Gate) Drop(ev *memory.Event) (reason string, moved bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.heard(ev)
	if ev.Kind == memory.KindLocation && ev.Place != nil {
		moved = g.locate(ev)
	}
	if len(g.zones) == 0 {
		return "", moved
	}
	from, to := d.span(ev)
	loc := g.cfg.Zone
	if ev.Zone != "" {
		if l, err := time.LoadLocation(ev.Zone); err == nil {
			loc = l
		}
	}
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

// heard notes when a device speaks.
func (g *Gate) heard(ev *memory.Event) *device {
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

// span is when an event may have happened. A wall time is believed; so is an
// uptime of the boot in which the device said hello, by which it is placed
// exactly. Anything else that comes while the device catches up may be from
// whenever it was away.
func (d *device) span(ev *memory.Event) (from, to time.Time) {
	switch {
	case ev.Clock == memory.ClockWall, ev.Clock == memory.ClockUptime && d.hello && ev.ID.Boot == d.boot:
		return ev.At, ev.At
	case ev.Received.Sub(d.back) > catchUp, !d.away.Before(ev.At):
		return ev.At, ev.At
	}
	return d.away, ev.At
}

// locate keeps a fix that can be used.
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

// in gives the zone that a time is in, or nil.
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

// entered reports whether the wearer was in the zone's place at a time, by the
// last fix before it.
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
			continue // it does not say what the place is called
		case z.covers(&f.place):
			return true
		case t.Sub(f.at) <= g.cfg.Age:
			return false
		}
		return g.cfg.Careful
	}
	return g.cfg.Careful
}

// Active gives the names of the zones in which the wearer is at a time.
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

// Any reports whether there are zones.
func (g *Gate) Any() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.zones) > 0
}
