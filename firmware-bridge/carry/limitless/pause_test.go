package limitless_test

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// What the pendant recorded in a pause is fetched, so that it is deleted there, and published
// nowhere.
func TestPause(t *testing.T) {
	n := carrytest.NewNode(t)
	n.In.SetPaused(true)
	state := carrytest.StatePath(t)
	empty := limitless.NewPendant(carry.Play{Amount: 1})
	b := n.Bridge(t, state, limitless.Family, empty)
	stop := b.Start(t)
	n.Disk.Until(t, "muted", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaState] == "muted"
	})
	n.In.SetPaused(false)
	n.Disk.Until(t, "recording", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return list[len(list)-1].Metadata[wire.MetaState] == "recording"
	})
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	// Its pages are of the last minute, which is when the pause was.
	p := limitless.NewPendant(carry.Play{Amount: 60})
	pages := p.Pages()
	_, rep := run(t, n, state, p)
	if rep.Records != 60 || rep.Paused == 0 || rep.Paused > 58 {
		t.Errorf("%+v", rep)
	}
	once(t, n, pages[:40])
	if got := len(n.Disk.OfKind(memory.KindAudio)); got+rep.Paused != 54 {
		t.Errorf("%d pages at the node, %d in the pause", got, rep.Paused)
	}
}

// A pause that ended while the pendant was away ended at that time, and not when the pendant came
// back. What it recorded in between does not belong to the pause.
func TestPauseEndsWhileAway(t *testing.T) {
	n := carrytest.NewNode(t)
	n.In.SetPaused(true)
	state := carrytest.StatePath(t)
	b := n.Bridge(t, state, limitless.Family, limitless.NewPendant(carry.Play{Amount: 1}))
	stop := b.Start(t)
	n.Disk.Until(t, "muted", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaState] == "muted"
	})
	stop()
	n.In.SetPaused(false)
	for ctx := carrytest.Deadline(t); b.Cfg.Client.Paused(); {
		if ctx.Err() != nil {
			t.Fatal("no resume")
		}
		runtime.Gosched()
	}
	resumed := time.Now()
	b.Cfg.Dialer = limitless.NewPendant(carry.Play{Amount: 1})
	b.Cfg.Options.Storage = true
	if _, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Limitless struct {
			Pauses []struct{ From, To time.Time }
		}
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if p := kept.Limitless.Pauses; len(p) != 1 || p[0].To.IsZero() || p[0].To.After(resumed) {
		t.Errorf("%+v, resumed at %s", p, resumed)
	}
}

// A pause that the wearer ended while the bridge did not run ended at that time. What the pendant
// recorded since is fetched.
func TestPauseEndsWhileDown(t *testing.T) {
	n := carrytest.NewNode(t)
	began := time.Now().Add(-10 * time.Minute)
	n.Pause(true, began)
	state := carrytest.StatePath(t)
	b := n.Bridge(t, state, limitless.Family, limitless.NewPendant(carry.Play{Amount: 1}))
	stop := b.Start(t)
	n.Disk.Until(t, "muted", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaState] == "muted"
	})
	stop()
	if err := b.Cfg.Client.Close(); err != nil {
		t.Fatal(err)
	}
	p := limitless.NewPendant(carry.Play{Amount: 60}) // pages of the last minute
	pages := p.Pages()
	n.Pause(false, pages[30].At)
	_, rep := run(t, n, state, p)
	if rep.Records != 60 || rep.Paused == 0 {
		t.Errorf("%+v", rep)
	}
	once(t, n, pages[34:])
	if got := len(n.Disk.OfKind(memory.KindAudio)); got+rep.Paused != 54 || got > 30 {
		t.Errorf("%d pages at the node, %d in the pause", got, rep.Paused)
	}
}

// If the bridge did not run during a pause, it never heard of it. What the pendant recorded then is
// thrown away by the node. It is not asked for again, and the pages behind it come.
func TestPauseWhileTheBridgeIsDown(t *testing.T) {
	n := carrytest.NewNode(t)
	p := limitless.NewPendant(carry.Play{Amount: 60, ClockOff: -time.Hour})
	pages := p.Pages()
	n.WasPaused = func(at time.Time) bool { return at.Before(pages[30].At.Truncate(time.Millisecond)) }
	_, rep := run(t, n, carrytest.StatePath(t), p)
	if rep.Records != 60 || rep.Paused == 0 || len(p.Pages()) != 0 {
		t.Errorf("%+v, %d pages are left", rep, len(p.Pages()))
	}
	once(t, n, pages[30:])
	if got := len(n.Disk.OfKind(memory.KindAudio)); got+rep.Paused != 54 {
		t.Errorf("%d pages at the node, %d of the pause", got, rep.Paused)
	}
}
