package carry

import (
	"errors"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/node/intake/wire"
)

// LC3 makes messages of frames of LC3, which the node does not take: they are decoded here, each
// recording by a decoder of its own. The zero value is ready. End must be called in the end.
type LC3 struct {
	sound Sound
	dec   *lc3.Decoder // nil: there is no recording
	heard time.Time    // when its last frame came
	told  bool         // that the decoder is missing
}

// Add takes a frame, and gives the messages that are full. An error is told once for as long as
// it lasts; the frame is lost with it.
func (s *LC3) Add(frame []byte, at time.Time) ([]*wire.Audio, error) {
	s.heard = at
	if s.dec == nil {
		d, err := lc3.Start()
		if err != nil {
			if s.told {
				return nil, nil
			}
			s.told = true
			return nil, err
		}
		s.dec, s.told, s.sound.Codec, s.sound.Rate = d, false, "pcm16", lc3.Rate
	}
	if err := s.dec.Push(frame, at); err != nil {
		if errors.Is(err, lc3.ErrEnded) {
			s.dec = nil
		}
		return nil, err
	}
	return s.add(s.dec.Take())
}

func (s *LC3) add(pieces []lc3.Piece) (out []*wire.Audio, err error) {
	for _, p := range pieces {
		m, e := s.sound.Add(p.PCM, time.Duration(len(p.PCM)/2)*time.Second/lc3.Rate, p.At)
		if err = errors.Join(err, e); m != nil {
			out = append(out, m)
		}
	}
	return out, err
}

// Idle reports whether a recording that has begun is over at a time.
func (s *LC3) Idle(now time.Time) bool { return s.dec != nil && now.Sub(s.heard) > pause }

// End ends the recording, and gives what is left of it.
func (s *LC3) End() ([]*wire.Audio, error) {
	var out []*wire.Audio
	var err error
	if s.dec != nil {
		var rest []lc3.Piece
		rest, err = s.dec.Flush()
		s.dec = nil
		var e error
		out, e = s.add(rest)
		err = errors.Join(err, e)
	}
	if m := s.sound.Take(true); m != nil {
		out = append(out, m)
	}
	return out, err
}
