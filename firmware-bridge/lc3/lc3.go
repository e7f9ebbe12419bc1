// Package lc3 decodes LC3, the codec of Bluetooth LE Audio that some wearables send: frames of 10
// ms at 16 kHz, one channel. It follows the Bluetooth SIG's Low Complexity Communication Codec,
// version 1.0. Comments give the specification's names of the tables; the numbers were read from
// google/liblc3 (Apache-2.0, commit ce2e41fa). Other frame lengths and rates, which no supported
// device sends, are left out.
//
// A frame goes through these steps, each in its own file: the bits are read from both ends (bits),
// the quantised spectrum is decoded (spectrum), filtered over the frequencies (tns), given its
// envelope (sns), transformed to samples (mdct), and passed through a filter at the voice's pitch
// (ltpf).
package lc3

import (
	"errors"
	"time"
)

// ErrFrame: a frame does not have a valid length.
var ErrFrame = errors.New("lc3: want a frame of 20 to 400 bytes")

const (
	// Rate is in samples a second.
	Rate = 16000
	// Lasts is the duration of a frame.
	Lasts = 10 * time.Millisecond
	// Delay is the codec's delay in samples. They are left out at the beginning of a recording.
	Delay = 40

	frameSamples = Rate / 100
	minBytes     = 20
	maxBytes     = 400
)
