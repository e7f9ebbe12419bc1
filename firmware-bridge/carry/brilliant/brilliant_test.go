package brilliant_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// The app is put on the glasses once, and what they hear, see and feel reaches the node.
func TestSimulated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		halo bool
		turn string
	}{{"Frame", false, "270"}, {"Halo", true, ""}} {
		n := carrytest.NewNode(t)
		g := brilliant.NewGlasses(carry.Play{Amount: 40, Reboot: 1})
		g.Halo = c.halo
		b := n.Bridge(t, carrytest.StatePath(t), brilliant.Family, g)
		rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
		if err != nil || rep.Frames != 80 || rep.Photos != 2 || rep.Presses != 2 || rep.Spoilt != 0 || rep.LostPhotos != 0 || rep.Connections != 2 || rep.Waiting != 0 {
			t.Errorf("%s: %+v, %v", c.name, rep, err)
		}
		if len(g.Bad) > 0 {
			t.Errorf("written: %v", g.Bad)
		}
		if app := b.Notes("app"); len(app) != 1 {
			t.Errorf("the app was put there %d times", len(app))
		}
		sound := 0
		for _, e := range n.Disk.OfKind(memory.KindAudio) {
			if sound += len(e.Data); e.Codec != "pcm16" || e.Rate != 8000 {
				t.Errorf("%s at %d Hz", e.Codec, e.Rate)
			}
		}
		if sound != 80*240 {
			t.Errorf("%d bytes of sound", sound)
		}
		for _, e := range n.Disk.OfKind(memory.KindPhoto) {
			if !bytes.Equal(e.Data, g.Photo) || e.Metadata[wire.MetaOrientation] != c.turn {
				t.Errorf("%d bytes, turned by %q", len(e.Data), e.Metadata[wire.MetaOrientation])
			}
		}
		names := map[string]int{}
		for _, e := range n.Disk.OfKind(memory.KindSensor) {
			names[e.Name]++
		}
		if names["accelerometer"] != 2 || names["compass"] != 2 || names["battery"] == 0 {
			t.Errorf("%v", names)
		}
	}
}

// Over a link that loses a fifth of the packets and reorders them, the app is still put on the
// glasses, and lost parts of a photo are reported.
func TestBadLink(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := brilliant.NewGlasses(carry.Play{Amount: 40})
	b := n.Bridge(t, carrytest.StatePath(t), brilliant.Family, &link.Faulty{Dialer: g, Loss: .2, Reorder: true, Rand: rand.New(rand.NewPCG(5, 6))})
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Frames == 0 || rep.Frames > 80 || rep.Photos != 0 || rep.LostPhotos == 0 || len(g.Bad) > 0 {
		t.Errorf("%+v, %v, %v", rep, g.Bad, err)
	}
	gaps := n.Disk.OfKind(memory.KindGap)
	if len(gaps) == 0 || !strings.Contains(gaps[0].Reason, "photo dropped") {
		t.Errorf("%+v", gaps)
	}
}

// After a tap the node answers, and the display shows it in lines that fit; while the wearer
// pauses nothing is heard.
func TestAnswer(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := brilliant.NewGlasses(carry.Play{Amount: 4})
	shown := make(chan string, 1)
	g.Asks, g.OnShown = true, func(text string) { shown <- text }
	b := n.Bridge(t, carrytest.StatePath(t), brilliant.Family, g)
	stop := b.Start(t)
	n.Disk.Until(t, "a tap", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindButton)) == 1 })
	if !n.In.CanAnswer("pin") {
		t.Fatal("the node does not know that the glasses can show an answer")
	}
	if err := n.In.Say("pin", "Your dentist appointment is on Tuesday at four. "+strings.Repeat("And so on. ", 40)); err != nil {
		t.Fatal(err)
	}
	got := <-shown
	lines := strings.Split(got, "\n")
	if len(lines) != 6 || lines[0] != "Your dentist appointment is" || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	for _, l := range lines {
		if len([]rune(l)) > 28 {
			t.Errorf("%q is too long", l)
		}
	}
	stop()
}

func TestPause(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := brilliant.NewGlasses(carry.Play{Amount: 4})
	b := n.Bridge(t, carrytest.StatePath(t), brilliant.Family, g)
	n.In.SetPaused(true)
	muted := b.NoteWith("the node says resume")
	stop := b.Start(t)
	n.Disk.Until(t, "muted", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindStatus)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaState] == "muted"
	})
	if got := len(n.Disk.OfKind(memory.KindAudio)); got != 0 {
		t.Errorf("%d pieces of sound in a pause", got)
	}
	n.In.SetPaused(false)
	carrytest.Await(t, muted)
	n.Disk.Until(t, "sound", func() bool { return len(carrytest.OfKind(n.Disk.Events, memory.KindAudio)) > 0 })
	stop()
}
