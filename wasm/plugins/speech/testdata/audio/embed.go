// Package audio holds recordings of speech, 16 kHz, one channel, 16 bit, for tests and
// measurements; LICENSE.md names their sources.
package audio

import "embed"

// Files are the recordings.
//
//go:embed *.wav
var Files embed.FS
