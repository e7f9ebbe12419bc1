package delta

import (
	"bytes"
	"fmt"

	"github.com/locket-dev/locket/crypto/length"
)

// FORMAT of a padded plaintext:
//
//	u8     format, 1
//	bytes  one frame of zstd
//	u8     0x80
//	zeros  up to the length that Padmé gives for the bytes before them, and
//	       at least to 256 bytes in all

const (
	format   = 1
	padMark  = 0x80
	padFloor = length.Least
)

func pad(frame []byte) []byte {
	n := len(frame) + 2
	out := make([]byte, length.Padded(int64(n)))
	out[0] = format
	copy(out[1:], frame)
	out[n-1] = padMark
	return out
}

func unpad(b []byte) ([]byte, error) {
	if len(b) < padFloor || b[0] != format {
		return nil, fmt.Errorf("%w: format or length", ErrForm)
	}
	t := bytes.TrimRight(b, "\x00")
	if len(t) < 2 || t[len(t)-1] != padMark || length.Padded(int64(len(t))) != int64(len(b)) {
		return nil, fmt.Errorf("%w: padding", ErrForm)
	}
	return t[1 : len(t)-1], nil
}
