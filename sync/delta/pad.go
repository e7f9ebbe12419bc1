package delta

import (
	"bytes"
	"fmt"
	"math/bits"
)

// FORMAT of a padded plaintext
//
//	u8     format, 1
//	bytes  one frame of zstd
//	u8     0x80
//	zeros  up to the length that Padmé gives for what stands before them, and
//	       at least to 256 bytes in all

const (
	format   = 1
	padMark  = 0x80
	padFloor = 256
)

// padme gives the length to which n is padded: at most 12 % more, and few
// lengths, so that one tells O(log log n) bits (Nikitin et al., "Reducing
// Metadata Leakage from Encrypted Files and Communication with PURBs", 2019).
func padme(n int) int {
	if n <= padFloor {
		return padFloor
	}
	e := bits.Len(uint(n)) - 1
	s := bits.Len(uint(e))
	mask := 1<<(e-s) - 1
	return (n + mask) &^ mask
}

func pad(frame []byte) []byte {
	n := len(frame) + 2
	out := make([]byte, padme(n))
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
	if len(t) < 2 || t[len(t)-1] != padMark || padme(len(t)) != len(b) {
		return nil, fmt.Errorf("%w: padding", ErrForm)
	}
	return t[1 : len(t)-1], nil
}
