// Package audio holds recordings of speech, 16 kHz, one channel, 16 bit, for
// tests and measurements; LICENSE.md says where they are from.
package audio

import "embed"

// Files are the recordings.
//
//go:embed *.wav
var Files embed.FS
