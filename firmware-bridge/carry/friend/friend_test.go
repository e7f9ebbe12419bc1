package friend_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/friend"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A Friend's LC3 is decoded, and sounds as it was spoken, as far as 24 kbit/s allow.
func TestSpeech(t *testing.T) {
	b, err := os.ReadFile("../../frame/friend/testdata/notifications.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Packets []string }
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile("../../lc3/testdata/jfk-3s-16k.pcm")
	if err != nil {
		t.Fatal(err)
	}
	var capture strings.Builder
	capture.WriteString(`{"t":1773489600000,"op":"connect","device":"Friend","mtu":247}` + "\n")
	line := func(i int, hex string) {
		capture.WriteString(`{"t":` + strconv.FormatInt(1773489600000+30*int64(i), 10) + `,"char":"01000000-1111-1111-1111-111111111111","hex":"` + hex + `"}` + "\n")
	}
	for i, p := range v.Packets {
		line(i, p)
	}
	line(len(v.Packets), v.Packets[0][:2*20]) // a piece of a frame
	n := carrytest.NewNode(t)
	_, rep := carrytest.Play(t, n, friend.Family, []byte(capture.String()))
	if rep.Frames != 60 || rep.Spoilt != 1 {
		t.Errorf("%+v", rep)
	}
	var pcm []byte
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		if pcm = append(pcm, e.Data...); e.Codec != "pcm16" || e.Rate != 16000 {
			t.Errorf("%s at %d", e.Codec, e.Rate)
		}
	}
	if want := 2 * (60*160 - 40); len(pcm) != want {
		t.Fatalf("%d bytes of %d", len(pcm), want)
	}
	var d, w float64
	for i := 0; i < len(pcm); i += 2 {
		x, y := float64(int16(binary.LittleEndian.Uint16(pcm[i:]))), float64(int16(binary.LittleEndian.Uint16(said[i:])))
		d, w = d+(x-y)*(x-y), w+y*y
	}
	if far := math.Sqrt(d / w); far > .6 {
		t.Errorf("%.2f from what was said", far)
	} else {
		t.Logf("%.2f from what was said", far)
	}
}

// A day's sound is heard over connections that end in the middle. Losses on a bad link can't be
// detected.
func TestSimulated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		loss        float64
		least, most int
	}{{0, 180, 180}, {.3, 60, 165}} {
		n := carrytest.NewNode(t)
		b := n.Bridge(t, carrytest.StatePath(t), friend.Family,
			&link.Faulty{Dialer: friend.Family.Simulate(carry.Play{Amount: 20, Reboot: 2}), Loss: c.loss, Reorder: c.loss > 0, Rand: rand.New(rand.NewPCG(1, 2))})
		rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
		if err != nil || rep.Frames < c.least || rep.Frames > c.most || rep.Connections != 3 || rep.Spoilt+rep.Waiting+rep.Dropped != 0 {
			t.Errorf("loss %g: %+v, %v", c.loss, rep, err)
		}
		sound, lasts := 0, 0
		for _, e := range n.Disk.OfKind(memory.KindAudio) {
			if sound += len(e.Data); e.Last {
				lasts++
			}
		}
		if want := 2 * (160*rep.Frames - 3*40); sound != want || lasts != 3 { // a decoder drops its own delay
			t.Errorf("loss %g: %d bytes of %d, %d recordings", c.loss, sound, want, lasts)
		}
	}
}

// While the wearer pauses, sound is thrown away. The node announces the pause after the hello, so
// the first connection may be too early for it.
func TestPause(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	n.In.SetPaused(true)
	heard := func(frames int) carry.Scene {
		return carry.Scene{Event: memory.Event{Kind: memory.KindAudio}, Frames: slices.Repeat([][]byte{make([]byte, 30)}, frames)}
	}
	d := &second{Dialer: friend.Family.Simulate(carry.Play{Reboot: 1, Day: []carry.Scene{heard(3), heard(60)}})}
	b := n.Bridge(t, carrytest.StatePath(t), friend.Family, d)
	d.paused = b.Cfg.Client.Paused
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Notifications != 21 || rep.Frames > 3 || rep.Connections != 2 {
		t.Errorf("%+v, %v", rep, err)
	}
	last := ""
	for _, e := range n.Disk.OfKind(memory.KindStatus) {
		if s := e.Metadata[wire.MetaState]; s != "offline" && s != "online" {
			last = s
		}
	}
	if last != "muted" {
		t.Errorf("it says that it is %s", last)
	}
}

// second is a Dialer that makes its second connection once there is a pause.
type second struct {
	link.Dialer
	paused func() bool
	n      int
}

func (d *second) Connect(ctx context.Context) (link.Device, error) {
	for d.n++; d.n == 2 && !d.paused() && wait.For(ctx, time.Millisecond); { // the client has no event for this
	}
	return d.Dialer.Connect(ctx)
}
