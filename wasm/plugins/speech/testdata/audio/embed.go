// Package audio holds recordings of speech, 16 kHz, one channel, 16 bit, for tests and
// measurements; LICENSE.md names their sources.
package audio

import "embed"

// Files are the recordings.
//
//go:embed *.wav
var Files embed.FS

//go:embed jfk.wav
var speech string

// Speech returns jfk.wav, eleven seconds from which the fixed day's sound was made.
func Speech() []byte { return []byte(speech) }
