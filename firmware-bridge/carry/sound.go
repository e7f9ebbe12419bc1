package carry

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	piece = time.Second            // duration of the sound in one message
	pause = 2 * time.Second        // without a frame for this long, the recording is over
	drift = 200 * time.Millisecond // how much later than its place in the message a frame may come
)

// Sound makes messages of frames. The latest message is held back until the next frame comes, so
// that the last message of a recording can be marked as such.
type Sound struct {
	Codec string // as in docs/mqtt.md: pcm16, ulaw, opus
	Rate  int    // samples a second
	data  []byte
	lasts time.Duration // duration of data
	at    time.Time     // when its first frame came
	heard time.Time     // when its last frame came
	index uint64
}

// Add takes a frame of the given duration, and returns a message once one is full.
func (s *Sound) Add(frame []byte, lasts time.Duration, at time.Time) (*wire.Audio, error) {
	var m *wire.Audio
	if len(s.data) > 0 && (s.lasts >= piece || at.Sub(s.at.Add(s.lasts)) > drift) {
		m = s.Take(false)
	}
	data, err := AppendFrame(s.Codec, s.data, frame)
	if err != nil {
		return m, err
	}
	if len(s.data) == 0 {
		s.at = at
	}
	s.data, s.heard = data, at
	s.lasts += lasts
	return m, nil
}

// AppendFrame adds a frame of a codec to a message's data.
func AppendFrame(codec string, data, frame []byte) ([]byte, error) {
	switch {
	case codec == "opus":
		return wire.AppendPacket(data, frame)
	case codec == "pcm16" && len(frame)%2 != 0:
		return data, fmt.Errorf("a PCM frame of %d bytes has half a sample", len(frame))
	}
	return append(data, frame...), nil
}

// Idle reports whether a recording that has begun is over at the given time.
func (s *Sound) Idle(now time.Time) bool { return len(s.data) > 0 && now.Sub(s.heard) > pause }

// EndRecording ends the recording, and publishes the rest of it.
func (s *Sound) EndRecording(ctx context.Context, c *Conn) error {
	if m := s.Take(true); m != nil {
		return c.PublishLive(ctx, m)
	}
	return nil
}

// Take returns the sound gathered so far; nil if there is none.
func (s *Sound) Take(last bool) *wire.Audio {
	if len(s.data) == 0 {
		return nil
	}
	m := &wire.Audio{
		Header: wire.Header{At: s.at},
		Codec:  s.Codec, Rate: s.Rate, Data: s.data, Last: last, Index: s.index,
	}
	s.data, s.lasts = nil, 0
	s.index++
	if last {
		s.index = 0
	}
	return m
}
