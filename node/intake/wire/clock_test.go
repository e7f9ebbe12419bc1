package wire

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func at(c *Clocks, device string, h Header, received time.Time) memory.Event {
	return Event(device, &Words{Header: h, Text: "x"}, received, c)
}

func TestWallClock(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    time.Time
		clock memory.ClockQuality
	}{
		{"now", noon, memory.ClockWall},
		{"a year ago", noon.AddDate(-1, 0, 0), memory.ClockWall},
		{"the first believed", earliest, memory.ClockWall},
		{"before it", earliest.Add(-time.Millisecond), memory.ClockNone},
		{"1970", time.UnixMilli(5).UTC(), memory.ClockNone},
		{"a day ahead", noon.Add(maxAhead), memory.ClockWall},
		{"more", noon.Add(maxAhead + time.Millisecond), memory.ClockNone},
		{"none", time.Time{}, memory.ClockNone},
	} {
		e := at(&Clocks{}, "pin", Header{At: c.at}, noon)
		want := c.at
		if c.clock == memory.ClockNone {
			want = noon
		}
		if e.Clock != c.clock || !e.At.Equal(want) || !e.Received.Equal(noon) {
			t.Errorf("%s: %s at %s", c.name, e.Clock, e.At)
		}
		noted := e.Metadata[MetaDeviceAt] != ""
		if noted != (c.clock == memory.ClockNone && !c.at.IsZero()) {
			t.Errorf("%s: noted %v", c.name, e.Metadata)
		}
	}
}

// The time of an uptime follows from the fastest delivery so far, or from what
// the device says.
func TestUptime(t *testing.T) {
	var c Clocks
	boot := noon.Add(-time.Hour)
	up := func(d time.Duration) Header { return Header{Boot: 1, Up: d} }
	for i, step := range []struct {
		h        Header
		received time.Time
		want     time.Time
	}{
		{up(time.Minute), boot.Add(time.Minute + 5*time.Second), boot.Add(time.Minute + 5*time.Second)},        // 5 s late
		{up(2 * time.Minute), boot.Add(2*time.Minute + time.Second), boot.Add(2*time.Minute + time.Second)},    // 1 s late
		{up(3 * time.Minute), boot.Add(10 * time.Minute), boot.Add(3*time.Minute + time.Second)},               // from storage
		{up(4 * time.Minute), boot.Add(time.Hour), boot.Add(4*time.Minute + time.Second)},                      // the same
		{Header{Boot: 2, Up: time.Minute}, noon, noon},                                                         // another boot
		{Header{Boot: 1, Up: 5 * time.Minute, At: boot.Add(5 * time.Minute)}, noon, boot.Add(5 * time.Minute)}, // told
		{up(6 * time.Minute), boot.Add(6 * time.Minute).Add(-time.Hour), boot.Add(6 * time.Minute)},            // what was told overrides what was seen
	} {
		e := at(&c, "pin", step.h, step.received)
		clock := memory.ClockUptime
		if !step.h.At.IsZero() {
			clock = memory.ClockWall
		}
		if !e.At.Equal(step.want) || e.Clock != clock || e.Uptime != step.h.Up {
			t.Errorf("step %d: %s at %s, want %s", i, e.Clock, e.At, step.want)
		}
	}
	if e := at(&c, "other", up(time.Minute), noon); !e.At.Equal(noon) {
		t.Errorf("another device's clock was used: %s", e.At)
	}
	if e := at(nil, "pin", up(time.Minute), noon); e.Clock != memory.ClockNone || !e.At.Equal(noon) {
		t.Errorf("without clocks: %s at %s", e.Clock, e.At)
	}
	// A wall time that is not believed has no effect.
	if e := at(&c, "pin", Header{Boot: 3, Up: time.Minute, At: earliest.AddDate(-10, 0, 0)}, noon); e.Clock != memory.ClockUptime || !e.At.Equal(noon) {
		t.Errorf("unbelieved: %s at %s", e.Clock, e.At)
	}
}

func TestClocksAreBounded(t *testing.T) {
	var c Clocks
	for i := range 3 * maxClockDevices {
		for boot := range uint64(2 * maxClockBoots) {
			at(&c, fmt.Sprint("d", i), Header{Boot: boot, Up: time.Second}, noon)
		}
	}
	if len(c.devices) > maxClockDevices {
		t.Errorf("%d devices", len(c.devices))
	}
	for _, l := range c.devices {
		if len(l) > maxClockBoots || l[len(l)-1].boot != 2*maxClockBoots-1 {
			t.Fatalf("boots %v", l)
		}
	}
}

func TestRFC3339(t *testing.T) {
	m, _, err := Decode(memory.KindText, []byte(`{"seq":1,"boot":1,"at":"2026-03-14T13:00:00.25+01:00","text":"x"}`))
	if err != nil || !m.Head().At.Equal(noon) {
		t.Errorf("%v, %v", m, err)
	}
}
