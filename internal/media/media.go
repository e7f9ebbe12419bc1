// Package media reads the file formats of wearables' recordings and photos, as far as is needed to
// send them on: WAV into samples, Ogg Opus into packets, PNG and JPEG into their size. It decodes
// nothing else.
//
// Every reader takes the whole file as bytes and trusts none of its lengths. Errors wrap
// [ErrFormat] and name the byte offset of the fault.
package media

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // registers the decoder that Picture asks for
	_ "image/png"
)

// ErrFormat: the bytes are not in the expected format, or in a variant that is
// not supported.
var ErrFormat = errors.New("unreadable file")

// Format is the format of a file, according to its first bytes.
type Format string

// The formats, with the name of an event's codec if an event holds the file unchanged.
const (
	WAV     Format = "wav"
	OggOpus Format = "ogg"
	PNG     Format = "png"
	JPEG    Format = "jpeg"
	Unknown Format = ""
)

// Sniff returns the format by the file's signature; names are ignored.
func Sniff(b []byte) Format {
	switch {
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WAVE":
		return WAV
	case bytes.HasPrefix(b, []byte("OggS")):
		return OggOpus
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(b, []byte{0xff, 0xd8, 0xff}):
		return JPEG
	}
	return Unknown
}

// Picture returns a PNG's or JPEG's width and height in pixels, from its
// header.
func Picture(b []byte) (width, height int, err error) {
	f := Sniff(b)
	if f != PNG && f != JPEG {
		return 0, 0, fmt.Errorf("%w: picture: offset 0: neither PNG nor JPEG", ErrFormat)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s: header: %v", ErrFormat, f, err)
	}
	return c.Width, c.Height, nil
}
