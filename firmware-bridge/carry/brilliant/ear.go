package brilliant

import (
	"context"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
)

// Ear is how glasses hear. Its methods are for the session's goroutine.
type Ear interface {
	// Listen is what the app is told with [frame.Listen]: 1 or more.
	Listen() byte
	// Hear publishes what a piece of sound makes full.
	Hear(ctx context.Context, c *carry.Conn, piece []byte) error
	// Idle reports whether sound that has begun is over at a time.
	Idle(now time.Time) bool
	// Over publishes what is left, where there is something. off: the microphone is, so that
	// what comes next is another sound.
	Over(ctx context.Context, c *carry.Conn, off bool) error
}

const rate = 8000 // of samples, 16 bits

// samples are heard as they are.
type samples struct{ sound carry.Sound }

func (*samples) Listen() byte { return 1 }

func (e *samples) Hear(ctx context.Context, c *carry.Conn, pcm []byte) error {
	lasts := time.Duration(len(pcm)/2) * time.Second / rate
	m, err := e.sound.Add(pcm, lasts, c.Now)
	if err != nil {
		c.Spoilt(frame.ErrHalf.Error())
		return nil
	}
	c.Report.Frames++
	c.Report.Sound += lasts
	if m == nil {
		return nil
	}
	return c.Live(ctx, m)
}

func (e *samples) Idle(now time.Time) bool { return e.sound.Idle(now) }

func (e *samples) Over(ctx context.Context, c *carry.Conn, _ bool) error {
	return e.sound.Over(ctx, c)
}
