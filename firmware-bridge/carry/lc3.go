package carry

import (
	"context"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/node/intake/wire"
)

// LC3 makes messages of LC3 frames. The node does not take LC3, so the frames are decoded here,
// each recording by its own decoder. The zero value is ready.
type LC3 struct {
	sound Sound
	dec   *lc3.Decoder // nil: there is no recording
	heard time.Time    // when its last frame came
}

// Add takes a frame, and returns a message once one is full. An error concerns this frame alone.
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

// Hear decodes consecutive frames, the last of which had been heard at c.Now, and publishes the
// messages that are full. Frames that can't be decoded are reported as spoilt.
func (s *LC3) Hear(ctx context.Context, c *Conn, frames [][]byte) error {
	for i, f := range frames {
		m, err := s.Add(f, c.Now.Add(time.Duration(i-len(frames))*lc3.Lasts))
		if err != nil {
			c.NoteDamaged(err.Error())
			return nil
		}
		if m != nil {
			if err := c.PublishLive(ctx, m); err != nil {
				return err
			}
		}
		c.Report.Frames++
		c.Report.Sound += lc3.Lasts
	}
	return nil
}

// EndRecording ends the recording, and publishes the rest of it.
func (s *LC3) EndRecording(ctx context.Context, c *Conn) error {
	s.dec = nil
	return s.sound.EndRecording(ctx, c)
}

// Idle reports whether a recording that has begun is over at the given time.
func (s *LC3) Idle(now time.Time) bool { return s.dec != nil && now.Sub(s.heard) > pause }

// End ends the recording, and returns the rest of it, or nil.
func (s *LC3) End() *wire.Audio {
	s.dec = nil
	return s.sound.Take(true)
}
