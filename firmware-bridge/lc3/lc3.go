// Package lc3 decodes LC3, the codec of Bluetooth LE Audio that some wearables send: frames of 10 ms at 16 kHz, one
// channel. It follows the Bluetooth SIG's Low Complexity Communication Codec, version 1.0, and has its names of tables
// in the comments; their numbers were read from google/liblc3 (Apache-2.0, commit ce2e41fa). Other frames and rates,
// which no device of ours sends, are left out.
//
// A frame goes through these steps, each in its file: the bits are read from both ends (bits), the quantised spectrum
// is decoded (spectrum), filtered over the frequencies (tns), given its envelope (sns) and made samples (mdct), which a
// filter of the voice's pitch goes over (ltpf).
package lc3

import (
	"errors"
	"time"
)

// ErrFrame: a frame is not as long as a frame of LC3 may be.
var ErrFrame = errors.New("lc3: want a frame of 20 to 400 bytes")

const (
	// Rate is the samples of a second.
	Rate = 16000
	// Lasts is for how long a frame sounds.
	Lasts = 10 * time.Millisecond
	// Delay is how many samples the codec is late. They are left out at the beginning of a recording.
	Delay = 40

	frameSamples = Rate / 100
	minBytes     = 20
	maxBytes     = 400
)
