package speech

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/engine"
)

// Rate is the sample rate for engines, in samples a second.
const Rate = 16000

// MaxWAV is the largest accepted recording, in bytes: an hour.
const MaxWAV = 3600*Rate*2 + 4096

// pcm returns the samples of a WAV file, unconverted: little-endian 16 bit, one channel, 16 kHz.
// Other formats are refused, because the node makes none.
func pcm(name string, wav []byte) ([]byte, error) {
	refuse := func(format string, args ...any) ([]byte, error) {
		return nil, engine.Faultf(name, engine.Refused, "the recording: %s", fmt.Sprintf(format, args...))
	}
	if len(wav) > MaxWAV {
		return refuse("%d bytes, at most %d", len(wav), MaxWAV)
	}
	if len(wav) < 12 || string(wav[:4]) != "RIFF" || string(wav[8:12]) != "WAVE" {
		return refuse("not a WAV file")
	}
	known := false
	for at := 12; at+8 <= len(wav); {
		id, size := string(wav[at:at+4]), int64(binary.LittleEndian.Uint32(wav[at+4:]))
		body := wav[at+8:]
		switch {
		case id == "fmt " && size >= 16 && len(body) >= 16:
			format, channels := binary.LittleEndian.Uint16(body), binary.LittleEndian.Uint16(body[2:])
			rate, bits := binary.LittleEndian.Uint32(body[4:]), binary.LittleEndian.Uint16(body[14:])
			if (format != 1 && format != 0xFFFE) || channels != 1 || rate != Rate || bits != 16 {
				return refuse("format %d, %d channels, %d Hz, %d bit: want PCM, 1, %d, 16", format, channels, rate, bits, Rate)
			}
			known = true
		case id == "data" && known:
			n := min(size, int64(len(body))) // a header that was written before the sound may claim more
			return body[:n&^1], nil
		}
		if next := int64(at) + 8 + size + size&1; next > int64(len(wav)) {
			break
		} else {
			at = int(next)
		}
	}
	return refuse("no sound in it")
}

// Length returns the duration of a WAV file's sound, 0 if it can't be read.
func Length(wav []byte) time.Duration {
	b, err := pcm("", wav)
	if err != nil {
		return 0
	}
	return time.Duration(len(b)/2) * time.Second / Rate
}

// plainWAV makes a WAV file of samples, with the header of 44 bytes that simple programs assume.
func plainWAV(samples []byte) []byte {
	b := make([]byte, 0, 44+len(samples))
	le := binary.LittleEndian
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, uint32(36+len(samples)))
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = le.AppendUint32(b, Rate)
	b = le.AppendUint32(b, 2*Rate)
	b = append(b, "\x02\x00\x10\x00data"...)
	b = le.AppendUint32(b, uint32(len(samples)))
	return append(b, samples...)
}
