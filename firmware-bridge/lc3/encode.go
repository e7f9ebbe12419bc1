package lc3

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
)

// Silence makes one frame of size bytes, at least 20, which is 10 ms of silence. liblc3 encodes
// samples that are all 0 to the same bytes. It is for simulated devices.
func Silence(size int) []byte {
	return append(make([]byte, size-8, size), 0x0e, 0x09, 0x3e, 0x52, 0x83, 0x40, 0, 1)
}

// Encode encodes samples of 16 bits, little-endian, one channel, at Rate, into frames of size
// bytes, with liblc3's program elc3. It is for simulated devices.
func Encode(ctx context.Context, pcm []byte, size int) ([][]byte, error) {
	le := binary.LittleEndian
	n := uint32(len(pcm))
	wav := le.AppendUint32([]byte("RIFF"), 36+n)
	wav = le.AppendUint32(append(wav, "WAVEfmt "...), 16)
	wav = le.AppendUint16(le.AppendUint16(wav, 1), 1) // PCM, one channel
	wav = le.AppendUint32(le.AppendUint32(wav, Rate), 2*Rate)
	wav = le.AppendUint16(le.AppendUint16(wav, 2), 16)
	wav = append(le.AppendUint32(append(wav, "data"...), n), pcm...)
	c := exec.CommandContext(ctx, "elc3", "-b", strconv.Itoa(size*8*int(1e9/Lasts.Nanoseconds())))
	var out, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(wav), &out, &said
	switch err := c.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("lc3: the program elc3 is missing; install Debian's liblc3-tools, or google/liblc3")
	case err != nil:
		return nil, fmt.Errorf("lc3: elc3: %w: %.200q", err, said.String())
	}
	b := out.Bytes()
	if len(b) < 4 || len(b) < int(le.Uint16(b[2:])) {
		return nil, fmt.Errorf("lc3: elc3 wrote %d bytes, which are not a header", len(b))
	}
	var frames [][]byte
	for b = b[le.Uint16(b[2:]):]; len(b) > 0; {
		if len(b) < 2 || len(b) < 2+int(le.Uint16(b)) {
			return nil, fmt.Errorf("lc3: elc3 wrote half a frame")
		}
		end := 2 + int(le.Uint16(b))
		frames, b = append(frames, b[2:end]), b[end:]
	}
	return frames, nil
}
