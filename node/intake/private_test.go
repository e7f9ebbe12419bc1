package intake_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/zones"
)

// In a private place everything is acknowledged and dropped, and devices are
// told. They still send locations, by which the zone ends. What was stored there
// is dropped when it arrives later.
func TestPrivatePlace(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		home := zones.Zone{Name: "home", Lat: 10, Lon: 10, Radius: 100}
		if err := home.Check(); err != nil {
			t.Fatal(err)
		}
		gate := zones.New(zones.Config{}, []zones.Zone{home})
		var n *node
		n = start(intake.Config{Private: gate, OnMoved: func() { n.in.SetPrivate(len(gate.Active(time.Now())) > 0) }})
		cmds := make(chan *wire.Cmd, 64)
		c := n.wear(t, wear.Config{OnCmd: func(c *wire.Cmd) { cmds <- c }})
		await := func(cmd, why string) {
			t.Helper()
			for {
				select {
				case got := <-cmds:
					if got.Cmd == cmd && got.Why == why {
						return
					}
				case <-deadline(t).Done():
					t.Fatalf("no %s came", cmd)
				}
			}
		}
		await(wire.CmdResume, "")
		if err := say(t, c, "on the way").Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
		place := func(lat float64) error {
			r, err := c.Publish(deadline(t), &wire.Location{Header: wire.Header{At: time.Now()}, Place: memory.Place{Lat: lat, Lon: 10}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Wait(deadline(t))
		}
		if err := place(10); !errors.Is(err, wear.ErrPaused) {
			t.Errorf("coming home: %v", err)
		}
		await(wire.CmdPause, wire.WhyPrivate)
		inside := time.Now()
		if err := say(t, c, "not recorded at all").Wait(deadline(t)); !errors.Is(err, wear.ErrPaused) {
			t.Errorf("the device knows: %v", err)
		}
		raw := n.raw(t, "glasses", true)
		raw.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"said at home"}`)
		if a := raw.ack(t); a.Dropped != wire.DroppedPrivate || a.Seqs[0] != 1 || a.Error != "" {
			t.Errorf("acknowledged as %+v", a)
		}
		raw.publish(t, memory.KindText, `{"seq":2,"boot":1,"text":"said at home", broken`)
		if a := raw.ack(t); a.Error == "" {
			t.Errorf("broken: %+v", a)
		}
		if err := place(20); err != nil {
			t.Errorf("leaving: %v", err)
		}
		await(wire.CmdResume, "")
		if err := say(t, c, "outside").Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
		raw.publish(t, memory.KindText, fmt.Sprintf(`{"seq":3,"boot":1,"at":%d,"text":"stored at home"}`, inside.UnixMilli()))
		if a := raw.ack(t); a.Dropped != wire.DroppedPrivate {
			t.Errorf("stored at home: %+v", a)
		}
		for _, e := range n.disk.of(memory.KindText) {
			if e.Text != "on the way" && e.Text != "outside" {
				t.Errorf("on disk: %q", e.Text)
			}
		}
		if got := n.disk.of(memory.KindLocation); len(got) != 1 || got[0].Place.Lat != 20 {
			t.Errorf("locations on disk: %v", got)
		}
		for _, r := range n.shelf.all() {
			if len(r.Payload) > 0 {
				t.Errorf("kept of what was refused in the zone: %q", r.Payload)
			}
		}
		if s := n.in.Stats(); s.Private[zones.ByPlace] != 3 || s.Paused != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// What a device that did not know of a pause stored during it is dropped when it
// arrives later. What it stored before and after is taken, and so is what is
// late only because of its slow clock.
func TestStoredInPause(t *testing.T) {
	now := time.Now()
	began, ended := now.Add(-2*time.Hour), now.Add(-30*time.Second)
	n := embedded(t, intake.Config{WasPaused: func(at time.Time) bool { return !at.Before(began) && at.Before(ended) }})
	r := n.raw(t, "pin", true)
	for seq, c := range []struct {
		at   time.Time
		kind memory.Kind
		drop string
	}{
		{began.Add(-time.Second), memory.KindText, ""},
		{began.Add(time.Second), memory.KindText, wire.DroppedThen},
		{ended.Add(-10 * time.Minute), memory.KindText, wire.DroppedThen},
		{ended.Add(-time.Second), memory.KindText, ""},
		{time.Time{}, memory.KindText, ""},
		{began.Add(time.Second), memory.KindGap, ""},
	} {
		at, rest := "", `"text":"x"`
		if !c.at.IsZero() {
			at = fmt.Sprintf(`"at":%d,`, c.at.UnixMilli())
		}
		if c.kind == memory.KindGap {
			rest = `"from":100,"to":101,"reason":"reset"`
		}
		r.publish(t, c.kind, fmt.Sprintf(`{"seq":%d,"boot":1,%s%s}`, seq, at, rest))
		if a := r.ack(t); a.Dropped != c.drop || a.Error != "" {
			t.Errorf("%d: %+v", seq, a)
		}
	}
	if got := len(n.disk.of(memory.KindText)); got != 3 {
		t.Errorf("%d of them are on disk", got)
	}
}
