// Package halo is the session of Brilliant Labs' Halo, whose microphone sends LC3 at 16 kHz. Apart
// from that, these glasses speak the protocol of a Frame, which package brilliant implements.
package halo

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	glasses "github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/halo"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// Family is Halo's entry in the list of families.
var Family = carry.Family{
	Name: "halo", Short: "Carry Brilliant Labs' Halo over Bluetooth",
	Long: `Connects to the glasses over Bluetooth (BlueZ), puts Locket's app on them where it is not
there yet, starts it, and publishes sound, photos, taps, motion and battery to the broker as
the wearable --name. The sound is LC3, which is decoded here.
An answer of the node is shown on the display for 15 s. The bridge never erases anything on
the glasses; another app that runs is stopped.`,
	Carrier: carry.Bluetooth, Service: glasses.Service, NamePrefix: "Halo", Accepts: carry.WithPhotos, ShowsAnswers: true, Begin: begin, Simulate: func(p carry.Play) link.Dialer { return NewGlasses(p) },
	SceneKinds: brilliant.Family.SceneKinds, SceneCodec: carry.Codec{Name: "lc3", Rate: frame.Rate, Frame: lc3.Lasts, Bytes: frame.FrameSize},
}

var errFrame = errors.New("halo: these glasses are a Frame: use locket-bridge brilliant")

func begin(ctx context.Context, c *carry.Conn) (carry.Session, error) {
	// IsHalo reads a characteristic of the glasses, which a capture may lack.
	if !c.Lossless && !brilliant.IsHalo(ctx, c.Dev) {
		return nil, errFrame
	}
	return brilliant.Begin(ctx, c, true, &ear{})
}

// ear decodes LC3.
type ear struct {
	stream frame.Stream
	sound  carry.LC3
}

func (*ear) Listen() byte { return 2 }

func (e *ear) Hear(ctx context.Context, c *carry.Conn, piece []byte) error {
	frames, err := e.stream.Push(piece)
	if err != nil {
		c.NoteDamaged(err.Error())
	}
	return e.sound.Hear(ctx, c, frames)
}

func (e *ear) Idle(now time.Time) bool { return e.sound.Idle(now) }

func (e *ear) EndRecording(ctx context.Context, c *carry.Conn, off bool) error {
	if off {
		if err := e.stream.End(); err != nil {
			c.NoteDamaged(err.Error())
		}
	}
	return e.sound.EndRecording(ctx, c)
}

// NewGlasses makes a simulated Halo, which hears Amount pieces of 60 ms of silence, or the sound of
// a day.
func NewGlasses(p carry.Play) *brilliant.Glasses {
	g := brilliant.NewGlasses(p)
	g.Halo = true
	g.SoundPiece = func(int) (b []byte) {
		for len(b) < frame.Piece {
			b = append(b, lc3.Silence(frame.FrameSize)...)
		}
		return b
	}
	return g
}
