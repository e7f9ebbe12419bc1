package memory

import (
	"cmp"
	"sync"
	"time"
)

// MaxAhead is how far another member's clock may be ahead of ours for ours to
// follow it. An assertion with a later clock is also accepted, but our clock
// does not follow it.
const MaxAhead = 5 * time.Minute

// Clock is a hybrid logical clock reading (Kulkarni et al., 2014): wall time in
// milliseconds since 1970 and a counter for what happens within one. It is used
// only for ordering. A wrong clock can put assertions in a wrong order, but it
// can't lose or block any.
type Clock struct {
	Wall    int64  `json:"wall"` // ms since 1970-01-01 UTC
	Logical uint32 `json:"logical"`
}

// Compare orders readings.
func (c Clock) Compare(o Clock) int {
	return cmp.Or(cmp.Compare(c.Wall, o.Wall), cmp.Compare(c.Logical, o.Logical))
}

// Time is the wall part.
func (c Clock) Time() time.Time { return time.UnixMilli(c.Wall).UTC() }

// Ticker makes readings that only grow. It is safe for concurrent use.
type Ticker struct {
	Now  func() time.Time // nil: time.Now
	mu   sync.Mutex
	last Clock
}

// Tick returns the next reading.
func (t *Ticker) Tick() Clock {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = t.next(t.last)
	return t.last
}

// Observe moves the clock past a reading that came from outside, unless that
// reading is more than [MaxAhead] in the future.
func (t *Ticker) Observe(c Clock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Wall <= t.now().Add(MaxAhead).UnixMilli() && t.last.Compare(c) < 0 {
		t.last = c
	}
}

func (t *Ticker) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

func (t *Ticker) next(last Clock) Clock {
	wall := t.now().UnixMilli()
	if wall > last.Wall {
		return Clock{Wall: wall}
	}
	return Clock{Wall: last.Wall, Logical: last.Logical + 1}
}

// Dot identifies one assertion: the member, and the number among the member's
// assertions. Seq is not 0. It grows while a store is open, and continues at
// another place when the store is opened again. So a store and its restored
// backup never use the same dot.
type Dot struct {
	Member MemberID `json:"member"`
	Seq    uint64   `json:"seq"`
}

// Compare orders dots by member, then sequence.
func (d Dot) Compare(o Dot) int {
	return cmp.Or(d.Member.Compare(o.Member), cmp.Compare(d.Seq, o.Seq))
}

// ClockQuality says how far an event's time can be trusted.
type ClockQuality string

const (
	ClockWall   ClockQuality = "wall"   // the device knew the time of day
	ClockUptime ClockQuality = "uptime" // counted from the device's boot; placed on the wall clock by the node
	ClockNone   ClockQuality = "none"   // no time at all: the time of receipt is used
)
