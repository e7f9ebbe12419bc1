package halo_test

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/halo"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/testing/lc3test"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// The node gets what liblc3 decodes; photos are not turned, and taps are counted.
func TestSpeech(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	frames, golden := lc3test.Speech(t, "../../lc3/testdata", "32k")
	frames = frames[:300] // the last one is of silence
	photo := carry.Scene{Event: memory.Event{Kind: memory.KindPhoto, Data: halo.NewGlasses(carry.Play{}).Photo}}
	g := halo.NewGlasses(carry.Play{Day: []carry.Scene{{Event: memory.Event{Kind: memory.KindAudio}, Frames: frames}, photo, {Event: memory.Event{Kind: memory.KindButton}}}})
	b := n.Bridge(t, carrytest.StatePath(t), halo.Family, g)
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Frames != len(frames) || rep.Presses != 1 || rep.Photos != 1 || rep.Spoilt+rep.Lost+rep.Waiting != 0 || len(g.Bad) > 0 {
		t.Fatalf("%+v, %v, %v", rep, g.Bad, err)
	}
	var pcm []byte
	lasts := 0
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		if pcm = append(pcm, e.Data...); e.Codec != "pcm16" || e.Rate != 16000 {
			t.Errorf("%s at %d", e.Codec, e.Rate)
		}
		if e.Last {
			lasts++
		}
	}
	if want := 2 * (len(frames)*160 - 40); len(pcm) != want || lasts != 1 {
		t.Fatalf("%d bytes of %d, %d recordings", len(pcm), want, lasts)
	}
	var d, w float64
	for i := 0; i < len(pcm); i += 2 {
		x, y := float64(int16(binary.LittleEndian.Uint16(pcm[i:]))), float64(int16(binary.LittleEndian.Uint16(golden[i:])))
		d, w = d+(x-y)*(x-y), w+y*y
	}
	if far := math.Sqrt(d / w); far > .01 {
		t.Errorf("%.4f from what liblc3 decodes", far)
	}
	if app := b.Notes("connected"); len(app) != 1 || !strings.Contains(app[0], "Halo") {
		t.Errorf("%q", app)
	}
}

// A bad link loses pieces, each of six frames, and a photo. A Frame is told apart from a Halo.
func TestSimulated(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	g := halo.NewGlasses(carry.Play{Amount: 40, Reboot: 1})
	b := n.Bridge(t, carrytest.StatePath(t), halo.Family, &link.Faulty{Dialer: g, Loss: .2, Reorder: true, Rand: rand.New(rand.NewPCG(5, 6))})
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Frames == 0 || rep.Frames%6 != 0 || rep.Frames >= 480 || rep.LostPhotos == 0 || rep.Connections < 2 || len(g.Bad) > 0 {
		t.Errorf("%+v, %v, %v", rep, g.Bad, err)
	}
	for _, e := range n.Disk.OfKind(memory.KindPhoto) {
		if e.Metadata[wire.MetaOrientation] != "" {
			t.Error("a photo is turned")
		}
	}
}

func TestFrame(t *testing.T) {
	t.Parallel()
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), halo.Family, &once{Dialer: brilliant.NewGlasses(carry.Play{Amount: 4})})
	_, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if told := strings.Join(b.Notes("disconnected"), ""); err != nil || !strings.Contains(told, "these glasses are a Frame: use locket-bridge brilliant") {
		t.Errorf("%q, %v", told, err)
	}
}

// once is a Dialer with one connection.
type once struct {
	link.Dialer
	done bool
}

func (d *once) Connect(ctx context.Context) (link.Device, error) {
	if d.done {
		return nil, io.EOF
	}
	d.done = true
	return d.Dialer.Connect(ctx)
}
