package brilliant

import (
	"context"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
)

// Ear reads the glasses' sound. Its methods are for the session's goroutine.
type Ear interface {
	// Listen is the argument of [frame.Listen] that the app is sent: 1 or more.
	Listen() byte
	// Hear adds a piece of sound, and publishes a message once one is full.
	Hear(ctx context.Context, c *carry.Conn, piece []byte) error
	// Idle reports whether sound that has begun is over at the given time.
	Idle(now time.Time) bool
	// EndRecording publishes the rest, if there is any. off: the microphone is off, so later sound is a new
	// recording.
	EndRecording(ctx context.Context, c *carry.Conn, off bool) error
}

const rate = 8000 // samples a second, 16 bits each

// samples takes the sound as it is, in samples.
type samples struct{ sound carry.Sound }

func (*samples) Listen() byte { return 1 }

func (e *samples) Hear(ctx context.Context, c *carry.Conn, pcm []byte) error {
	lasts := time.Duration(len(pcm)/2) * time.Second / rate
	m, err := e.sound.Add(pcm, lasts, c.Now)
	if err != nil {
		c.NoteDamaged(frame.ErrHalf.Error())
		return nil
	}
	c.Report.Frames++
	c.Report.Sound += lasts
	if m == nil {
		return nil
	}
	return c.PublishLive(ctx, m)
}

func (e *samples) Idle(now time.Time) bool { return e.sound.Idle(now) }

func (e *samples) EndRecording(ctx context.Context, c *carry.Conn, _ bool) error {
	return e.sound.EndRecording(ctx, c)
}
