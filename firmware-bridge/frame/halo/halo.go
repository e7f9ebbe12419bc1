// Package halo cuts the sound of Brilliant Labs' Halo into LC3 frames. Everything else that the
// glasses send is read by package brilliant. It does no input or output.
//
// The microphone, with encoder 'lc3', bitrate 32,000 and duration 1000 (10 ms), makes a stream of
// frames of 40 bytes (bitrate × ms / 8000). The app reads it in pieces of 240 bytes, or fewer if
// there are not so many yet (brilliantlabsAR/halo-firmware, tests/test_microphone_lc3.py), so a
// piece may begin and end inside a frame. Pieces have neither numbers nor lengths. If a piece of
// 240 bytes is lost, six frames are missing, and nothing shows it; if a piece of another size is
// lost, everything after it is spoilt until the microphone is turned off.
package halo

import (
	"errors"
	"fmt"
)

const (
	FrameSize = 40  // bytes
	Piece     = 240 // bytes, at most
	Rate      = 16000
)

var (
	// ErrFormat: the bytes are not what the app sends. The errors below wrap it.
	ErrFormat = errors.New("halo")
	// ErrLength: a piece is empty, or longer than the app reads.
	ErrLength = fmt.Errorf("%w: want a piece of 1 to %d bytes", ErrFormat, Piece)
	// ErrCut: the sound ended inside a frame.
	ErrCut = fmt.Errorf("%w: the last frame is cut short", ErrFormat)
)

// Stream is the sound since the microphone was turned on. The zero value is ready.
type Stream struct{ rest []byte }

// Push takes a piece, and returns the complete frames. After ErrLength, the next piece is taken as
// the beginning of a frame.
func (s *Stream) Push(piece []byte) (frames [][]byte, err error) {
	if len(piece) == 0 || len(piece) > Piece {
		s.rest = nil
		return nil, fmt.Errorf("%w, not of %d", ErrLength, len(piece))
	}
	b := append(s.rest, piece...)
	for ; len(b) >= FrameSize; b = b[FrameSize:] {
		frames = append(frames, b[:FrameSize:FrameSize])
	}
	s.rest = append([]byte(nil), b...)
	return frames, nil
}

// End ends the sound. It returns ErrCut if part of a frame is left, which is dropped.
func (s *Stream) End() error {
	n := len(s.rest)
	s.rest = nil
	if n > 0 {
		return fmt.Errorf("%w: %d bytes", ErrCut, n)
	}
	return nil
}
