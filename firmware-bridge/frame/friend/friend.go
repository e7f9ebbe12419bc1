// Package friend reads and writes the messages of a Friend pendant over Bluetooth Low Energy: bytes
// in, frames out. It does no input or output.
//
// A notification (BasedHardware/omi, friend_pendant_connection.dart) consists of LC3 frames, and a
// footer whose meaning is not known:
//
//	0      30 bytes   a frame: 10 ms at 16 kHz
//	…                 commonly three of them
//	n − 5  5 bytes    footer
//
// It has neither a number nor a length, so losses can't be detected.
package friend

import (
	"errors"
	"fmt"
)

// Service is the UUID that a pendant advertises, and SoundChar notifies.
const (
	Service   = "1a3fd0e7-b1f3-ac9e-2e49-b647b2c4f8da"
	SoundChar = "01000000-1111-1111-1111-111111111111"
)

const (
	FrameSize = 30 // bytes
	Frames    = 3  // commonly in a notification
	footer    = 5  // bytes
)

var (
	// ErrFormat: the bytes are not what a pendant sends. The errors below wrap it.
	ErrFormat = errors.New("friend")
	// ErrShort: there is not even one frame and a footer.
	ErrShort = fmt.Errorf("%w: want a frame of %d bytes and %d more", ErrFormat, FrameSize, footer)
	// ErrCut: the last frame is incomplete.
	ErrCut = fmt.Errorf("%w: the last frame is cut short", ErrFormat)
)

// Parse returns the frames of a notification. With ErrCut it returns those before the last.
func Parse(b []byte) (frames [][]byte, err error) {
	n := len(b) - footer
	if n < FrameSize {
		return nil, fmt.Errorf("%w, not %d bytes", ErrShort, len(b))
	}
	for at := 0; at+FrameSize <= n; at += FrameSize {
		frames = append(frames, b[at:at+FrameSize:at+FrameSize])
	}
	if n%FrameSize != 0 {
		err = fmt.Errorf("%w: %d bytes", ErrCut, len(b))
	}
	return frames, err
}

// Notification lays frames out as a pendant does; the footer is zeros.
func Notification(frames ...[]byte) []byte {
	var b []byte
	for _, f := range frames {
		b = append(b, f...)
	}
	return append(b, make([]byte, footer)...)
}
