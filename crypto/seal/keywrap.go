package seal

import (
	"crypto/aes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
)

// wrapBlock is half a block of AES, in which key wrap counts.
const wrapBlock = 8

// wrapSeed is RFC 3394's initial value.
var wrapSeed = [wrapBlock]byte{0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6}

var errUnwrap = errors.New("key wrap: another key, or changed")

// wrapKey is AES key wrap, RFC 3394 section 2.2.1: 8 bytes more than key,
// whose length is a multiple of 8 and at least 16.
func wrapKey(kek, key []byte) ([]byte, error) {
	if len(key) < 2*wrapBlock || len(key)%wrapBlock != 0 {
		return nil, fmt.Errorf("key wrap: key of %d bytes", len(key))
	}
	c, err := aes.NewCipher(kek)
	if err != nil {
		return nil, fmt.Errorf("key wrap: %w", err)
	}
	n := len(key) / wrapBlock
	out := make([]byte, wrapBlock+len(key))
	copy(out[wrapBlock:], key)
	var b [aes.BlockSize]byte
	copy(b[:wrapBlock], wrapSeed[:])
	for t := uint64(1); t <= uint64(6*n); t++ {
		r := out[wrapBlock*((t-1)%uint64(n)+1):][:wrapBlock]
		copy(b[wrapBlock:], r)
		c.Encrypt(b[:], b[:])
		copy(r, b[wrapBlock:])
		binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])^t)
	}
	copy(out, b[:wrapBlock])
	return out, nil
}

// unwrapKey is the inverse of wrapKey, section 2.2.2.
func unwrapKey(kek, wrapped []byte) ([]byte, error) {
	if len(wrapped) < 3*wrapBlock || len(wrapped)%wrapBlock != 0 {
		return nil, errUnwrap
	}
	c, err := aes.NewCipher(kek)
	if err != nil {
		return nil, fmt.Errorf("key wrap: %w", err)
	}
	n := len(wrapped)/wrapBlock - 1
	key := append([]byte(nil), wrapped[wrapBlock:]...)
	var b [aes.BlockSize]byte
	copy(b[:wrapBlock], wrapped)
	for t := uint64(6 * n); t >= 1; t-- {
		r := key[wrapBlock*((t-1)%uint64(n)):][:wrapBlock]
		binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])^t)
		copy(b[wrapBlock:], r)
		c.Decrypt(b[:], b[:])
		copy(r, b[wrapBlock:])
	}
	if subtle.ConstantTimeCompare(b[:wrapBlock], wrapSeed[:]) != 1 {
		clear(key)
		return nil, errUnwrap
	}
	return key, nil
}
