// Package sound decodes the audio that wearables send into the form that
// plugins hear: one channel of signed 16 bit samples, 16,000 a second.
package sound

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pion/opus"
	"github.com/pion/opus/pkg/oggreader"
)

// Rate is the output rate, in samples a second.
const Rate = 16000

// ErrFormat: the bytes are not valid for their codec.
var ErrFormat = errors.New("sound format")

// A Decoder decodes one stream, in order. It is not safe for concurrent use.
type Decoder struct {
	opus *opus.Decoder
	pcm  []int16 // reused for Opus
	re   *resampler
	from int // the input rate of re
}

// maxOpusFrame is 120 ms at 48 kHz, the longest packet (RFC 6716, 2.1.4).
const maxOpusFrame = 5760

// Decode returns the samples of one message. codec is one of
// node/intake/wire's: pcm16, pcm8, ulaw, opus; rate is the source's, 0 for
// 16,000. An Opus message is one packet.
func (d *Decoder) Decode(codec string, rate int, data []byte) ([]int16, error) {
	rate = cmp.Or(rate, Rate)
	switch codec {
	case "pcm16":
		if len(data)%2 != 0 {
			return nil, fmt.Errorf("%w: pcm16 of %d bytes: half a sample", ErrFormat, len(data))
		}
		pcm := make([]int16, len(data)/2)
		for i := range pcm {
			pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
		}
		return d.resample(pcm, rate), nil
	case "pcm8":
		pcm := make([]int16, len(data))
		for i, b := range data {
			pcm[i] = int16(int8(b)) << 8
		}
		return d.resample(pcm, rate), nil
	case "ulaw":
		pcm := make([]int16, len(data))
		for i, b := range data {
			pcm[i] = ulaw(b)
		}
		return d.resample(pcm, rate), nil
	case "opus":
		return d.opusPacket(data)
	}
	return nil, fmt.Errorf("%w: codec %q is not known", ErrFormat, codec)
}

func (d *Decoder) opusPacket(packet []byte) (out []int16, err error) {
	// The Opus decoder is young. A panic in it must not end the node.
	defer func() {
		if p := recover(); p != nil {
			d.opus, out, err = nil, nil, fmt.Errorf("%w: opus packet of %d bytes: %v", ErrFormat, len(packet), p)
		}
	}()
	if len(packet) == 0 {
		return nil, fmt.Errorf("%w: opus packet of 0 bytes", ErrFormat)
	}
	if d.opus == nil {
		// 48 kHz and our own resampling, because pion's 16 kHz output differs
		// in phase.
		dec, err := opus.NewDecoderWithOutput(48000, 1)
		if err != nil {
			return nil, fmt.Errorf("start opus decoder: %w", err)
		}
		d.opus, d.pcm = &dec, make([]int16, maxOpusFrame)
	}
	n, err := d.opus.DecodeToInt16(packet, d.pcm)
	if err != nil {
		return nil, fmt.Errorf("%w: opus packet of %d bytes: %v", ErrFormat, len(packet), err)
	}
	return d.resample(d.pcm[:n], 48000), nil
}

// Ogg returns the samples of an Ogg Opus file. It stops after the packet that
// exceeds most samples, because a packet of one byte may be 80 ms of silence. A
// file that was cut off has the samples of its complete packets.
func (d *Decoder) Ogg(file []byte, most int) ([]int16, error) {
	r, _, err := oggreader.NewWith(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%w: ogg: %v", ErrFormat, err)
	}
	var pcm []int16
	for len(pcm) <= most {
		b, _, err := r.ParseNextPacket()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return pcm, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: ogg: %v", ErrFormat, err)
		}
		if bytes.HasPrefix(b, []byte("OpusHead")) || bytes.HasPrefix(b, []byte("OpusTags")) || len(b) == 0 {
			continue
		}
		got, err := d.opusPacket(b)
		if err != nil {
			return nil, err
		}
		pcm = append(pcm, got...)
	}
	return pcm, nil
}

func (d *Decoder) resample(pcm []int16, rate int) []int16 {
	if rate == Rate {
		return append([]int16(nil), pcm...)
	}
	if d.re == nil || d.from != rate {
		d.re, d.from = newResampler(rate, Rate), rate
	}
	return d.re.next(pcm)
}

// ulaw expands one byte of G.711 µ-law.
func ulaw(b byte) int16 {
	b = ^b
	v := (int(b&0x0f)<<3 + 0x84) << ((b & 0x70) >> 4)
	if b&0x80 != 0 {
		return int16(0x84 - v)
	}
	return int16(v - 0x84)
}

// WAV reads a RIFF file of linear PCM, 8 or 16 bit, and returns its first
// channel at 16 kHz.
func WAV(file []byte) ([]int16, error) {
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return nil, fmt.Errorf("%w: not a WAV file", ErrFormat)
	}
	var channels, rate, bits int
	for at := 12; at+8 <= len(file); {
		id, body := string(file[at:at+4]), file[at+8:]
		// A recorder that was switched off, or wrote to a pipe, has not written the true size, which
		// may then exceed the range of int on 32-bit machines.
		size := int(min(int64(binary.LittleEndian.Uint32(file[at+4:])), int64(len(body))))
		switch id {
		case "fmt ":
			if size < 16 {
				return nil, fmt.Errorf("%w: WAV: fmt chunk of %d bytes", ErrFormat, size)
			}
			if tag := binary.LittleEndian.Uint16(body); tag != 1 && tag != 0xfffe {
				return nil, fmt.Errorf("%w: WAV: format %d is not PCM", ErrFormat, tag)
			}
			channels, rate, bits = int(binary.LittleEndian.Uint16(body[2:])), int(binary.LittleEndian.Uint32(body[4:])), int(binary.LittleEndian.Uint16(body[14:]))
		case "data":
			if channels < 1 || channels > 16 || rate < 4000 || rate > 192000 || bits != 8 && bits != 16 {
				return nil, fmt.Errorf("%w: WAV: %d channels of %d bit at %d Hz", ErrFormat, channels, bits, rate)
			}
			frame := channels * bits / 8
			pcm := make([]int16, size/frame)
			for i := range pcm {
				if bits == 8 {
					pcm[i] = int16(int(body[i*frame])-128) << 8
				} else {
					pcm[i] = int16(binary.LittleEndian.Uint16(body[i*frame:]))
				}
			}
			return new(Decoder).resample(pcm, rate), nil
		}
		at += 8 + size + size&1
	}
	return nil, fmt.Errorf("%w: WAV: no data chunk", ErrFormat)
}

// ToWAV wraps samples of 16 kHz as a WAV file.
func ToWAV(pcm []int16) []byte {
	b := make([]byte, 0, 44+2*len(pcm))
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+2*len(pcm)))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint32(b, Rate)
	b = binary.LittleEndian.AppendUint32(b, 2*Rate)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*len(pcm)))
	return AppendPCM(b, pcm)
}

// AppendPCM appends samples as little-endian bytes.
func AppendPCM(b []byte, pcm []int16) []byte {
	b = slices.Grow(b, 2*len(pcm))
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}
