// Package halo cuts the sound of Brilliant Labs' Halo into frames of LC3. All else that the glasses say is as
// package brilliant has it. It does no input or output.
//
// The microphone, told encoder 'lc3', bitrate 32,000 and duration 1000 (10 ms), gives a stream of frames of
// 40 bytes (bitrate × ms / 8000). The app reads it in pieces of 240 bytes, fewer where there are not so many yet
// (brilliantlabsAR/halo-firmware, tests/test_microphone_lc3.py), so a piece may begin and end within a frame.
// Pieces have neither numbers nor lengths: one of 240 bytes that is lost is six frames that nobody misses; one
// of another size spoils what follows until the microphone is turned off.
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
	// ErrFormat: the bytes are not what the app sends. It is the parent of those below.
	ErrFormat = errors.New("halo")
	// ErrLength: a piece is empty, or longer than the app reads.
	ErrLength = fmt.Errorf("%w: want a piece of 1 to %d bytes", ErrFormat, Piece)
	// ErrCut: the sound ended within a frame.
	ErrCut = fmt.Errorf("%w: the last frame is cut short", ErrFormat)
)

// Stream is the sound from when the microphone is turned on. The zero value is ready.
type Stream struct{ rest []byte }

// Push takes a piece, and gives the frames that are whole. After ErrLength the next piece is taken for the
// beginning of a frame.
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

// End is for when the sound is over: ErrCut where half a frame is left, which is lost.
func (s *Stream) End() error {
	n := len(s.rest)
	s.rest = nil
	if n > 0 {
		return fmt.Errorf("%w: %d bytes", ErrCut, n)
	}
	return nil
}
