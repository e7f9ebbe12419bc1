package carry

import (
	"context"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/node/intake/wire"
)

// LC3 makes messages of frames of LC3, which the node does not take: they are decoded here, each
// recording by a decoder of its own. The zero value is ready.
type LC3 struct {
	sound Sound
	dec   *lc3.Decoder // nil: there is no recording
	heard time.Time    // when its last frame came
}

// Add takes a frame, and gives a message where one is full. An error is of this frame alone.
func (s *LC3) Add(frame []byte, at time.Time) (*wire.Audio, error) {
	s.heard = at
	if s.dec == nil {
		s.dec, s.sound.Codec, s.sound.Rate = &lc3.Decoder{}, "pcm16", lc3.Rate
	}
	pcm, err := s.dec.Decode(frame)
	if err != nil {
		return nil, err
	}
	return s.sound.Add(pcm, time.Duration(len(pcm)/2)*time.Second/lc3.Rate, at)
}

// Hear decodes frames that came one after the other, the last of which had been heard at c.Now, and publishes
// the messages that are full. What can't be decoded is told as spoilt.
func (s *LC3) Hear(ctx context.Context, c *Conn, frames [][]byte) error {
	for i, f := range frames {
		m, err := s.Add(f, c.Now.Add(time.Duration(i-len(frames))*lc3.Lasts))
		if err != nil {
			c.Spoilt(err.Error())
			return nil
		}
		if m != nil {
			if err := c.Live(ctx, m); err != nil {
				return err
			}
		}
		c.Report.Frames++
		c.Report.Sound += lc3.Lasts
	}
	return nil
}

// Over ends the recording, and publishes what is left of it.
func (s *LC3) Over(ctx context.Context, c *Conn) error {
	s.dec = nil
	return s.sound.Over(ctx, c)
}

// Idle reports whether a recording that has begun is over at a time.
func (s *LC3) Idle(now time.Time) bool { return s.dec != nil && now.Sub(s.heard) > pause }

// End ends the recording, and gives what is left of it, or nil.
func (s *LC3) End() *wire.Audio {
	s.dec = nil
	return s.sound.Take(true)
}
