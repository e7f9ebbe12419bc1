package wire

import (
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A wall time from a device is believed if it is not before earliest and at most
// maxAhead after its receipt (docs/mqtt.md). Real-time clocks that lost their power start at 1970,
// 2000 or 2010 (GPS weeks roll over to 1980 and 1999): all before 2015.
var earliest = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

const maxAhead = 24 * time.Hour

// Believed reports whether a wall time from a device may be right.
func Believed(at, received time.Time) bool {
	return !at.Before(earliest) && !at.After(received.Add(maxAhead))
}

// Limits of what Clocks keeps.
const (
	maxClockDevices = 1024
	maxClockBoots   = 8 // of one device, the latest
)

// Clocks knows, for each boot of each device, the wall time at which its uptime was 0. A message
// with a believable wall time and an uptime tells it exactly. Otherwise it is the smallest value
// so far of receipt time minus uptime, which is too late by the time of the fastest delivery. The
// zero value is ready to use and safe for concurrent use. Nothing is stored: a device says hello
// on every connection, and tells it again.
type Clocks struct {
	mu      sync.Mutex
	devices map[string][]bootClock // latest boot last
}

type bootClock struct {
	boot  uint64
	zero  time.Time // wall time of uptime 0
	exact bool      // told by the device
}

// place sets the event's At and Clock.
func (c *Clocks) place(e *memory.Event, h *Header) {
	believed := Believed(h.At, e.Received)
	if !h.At.IsZero() && !believed {
		note(e, MetaDeviceAt, h.At.Format(time.RFC3339Nano))
	}
	var zero time.Time
	if h.Up > 0 && c != nil {
		zero = c.learn(e, h, believed)
	}
	switch {
	case believed:
		e.At, e.Clock = h.At, memory.ClockWall
	case !zero.IsZero():
		e.At, e.Clock = zero.Add(h.Up), memory.ClockUptime
	default:
		e.At, e.Clock = e.Received, memory.ClockNone
	}
}

func (c *Clocks) learn(e *memory.Event, h *Header, exact bool) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.boot(e.ID.Device, h.Boot)
	if b == nil {
		return time.Time{}
	}
	switch zero := e.Received.Add(-h.Up); {
	case exact:
		b.zero, b.exact = h.At.Add(-h.Up), true
	case !b.exact && (b.zero.IsZero() || zero.Before(b.zero)):
		b.zero = zero
	}
	return b.zero
}

// boot finds or makes the entry of a boot. If a device has too many, the oldest is forgotten; if
// there are too many devices, the result is nil.
func (c *Clocks) boot(device string, boot uint64) *bootClock {
	list, known := c.devices[device]
	for i := range list {
		if list[i].boot == boot {
			return &list[i]
		}
	}
	if !known && len(c.devices) >= maxClockDevices {
		return nil
	}
	if c.devices == nil {
		c.devices = map[string][]bootClock{}
	}
	if len(list) == maxClockBoots {
		list = append(list[:0], list[1:]...)
	}
	list = append(list, bootClock{boot: boot})
	c.devices[device] = list
	return &list[len(list)-1]
}
