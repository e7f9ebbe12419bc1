package media

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Sound is one channel of samples.
type Sound struct {
	Rate int    // samples a second
	PCM  []byte // little-endian signed 16 bit
}

// Duration returns the duration of the sound.
func (s Sound) Duration() time.Duration {
	if s.Rate == 0 {
		return 0
	}
	return time.Duration(len(s.PCM)/2) * time.Second / time.Duration(s.Rate)
}

// The limits of a rate, which Opus and every known wearable observe.
const (
	minRate = 8000
	maxRate = 48000
)

// ReadWAV reads a RIFF/WAVE file of uncompressed 16-bit samples, one or two channels; two are mixed
// into one by their mean. The rate is unchanged.
//
//	0  "RIFF", u32 size of the rest, "WAVE"
//	12  chunks: four characters, u32 size, the bytes, one byte of padding after an odd size
//	    "fmt ": u16 format (1: PCM), u16 channels, u32 rate, u32 bytes a second, u16 block, u16 bits
//	    "data": the samples, channels interleaved
//
// All numbers are little-endian. A truncated data chunk is an error, so that a recording that lost
// its end is not taken for a complete one.
func ReadWAV(b []byte) (Sound, error) {
	if Sniff(b) != WAV {
		return Sound{}, fmt.Errorf("%w: wav: offset 0: no RIFF/WAVE header", ErrFormat)
	}
	var rate, channels int
	for at := 12; at+8 <= len(b); {
		name := string(b[at : at+4])
		size := int64(binary.LittleEndian.Uint32(b[at+4:]))
		body := b[at+8:]
		if size > int64(len(body)) {
			return Sound{}, fmt.Errorf("%w: wav: offset %d: chunk %q says %d bytes, %d are left", ErrFormat, at, name, size, len(body))
		}
		body = body[:size]
		switch name {
		case "fmt ":
			if len(body) < 16 {
				return Sound{}, fmt.Errorf("%w: wav: offset %d: format chunk of %d bytes, want 16", ErrFormat, at, len(body))
			}
			format, bits := binary.LittleEndian.Uint16(body), binary.LittleEndian.Uint16(body[14:])
			channels = int(binary.LittleEndian.Uint16(body[2:]))
			rate = int(binary.LittleEndian.Uint32(body[4:]))
			if format != 1 || bits != 16 || channels < 1 || channels > 2 || rate < minRate || rate > maxRate {
				return Sound{}, fmt.Errorf("%w: wav: offset %d: format %d, %d bits, %d channels, %d Hz: want PCM of 16 bits, 1 or 2 channels, %d to %d Hz, such as ffmpeg -i IN -ac 1 -ar 16000 OUT.wav makes",
					ErrFormat, at, format, bits, channels, rate, minRate, maxRate)
			}
		case "data":
			if rate == 0 {
				return Sound{}, fmt.Errorf("%w: wav: offset %d: samples before their format", ErrFormat, at)
			}
			if len(body)%(2*channels) != 0 {
				return Sound{}, fmt.Errorf("%w: wav: offset %d: %d bytes are not a whole number of samples", ErrFormat, at, len(body))
			}
			if len(body) == 0 {
				return Sound{}, fmt.Errorf("%w: wav: offset %d: no samples", ErrFormat, at)
			}
			return Sound{Rate: rate, PCM: mono(body, channels)}, nil
		}
		at += 8 + int(size) + int(size&1)
	}
	return Sound{}, fmt.Errorf("%w: wav: offset %d: no samples", ErrFormat, len(b))
}

func mono(b []byte, channels int) []byte {
	if channels == 1 {
		return b
	}
	out := make([]byte, len(b)/2)
	for i := 0; i < len(b); i += 4 {
		l, r := int16(binary.LittleEndian.Uint16(b[i:])), int16(binary.LittleEndian.Uint16(b[i+2:]))
		binary.LittleEndian.PutUint16(out[i/2:], uint16(int16((int32(l)+int32(r))/2)))
	}
	return out
}
