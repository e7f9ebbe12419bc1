package seal

import (
	"crypto/rand"
	"fmt"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// FORMAT of a sealed value, version 1
//
//	offset  size  field
//	0       1     version: 1
//	1       24    nonce, random
//	25      n     ciphertext of n bytes of plaintext, XChaCha20
//	25+n    16    tag, Poly1305
//
// The AEAD's associated data is the version byte and then the caller's.
// XChaCha20-Poly1305 as in draft-irtf-cfrg-xchacha-03: with random nonces of
// 192 bits one key may seal 2^80 values before a repetition has a chance of
// one in 2^32.

const valueVersion = 1

// Overhead is how many bytes a sealed value has more than its plaintext.
const Overhead = 1 + chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead

// Seal appends the sealed plaintext, bound to ad, to dst. The plaintext must
// not overlap the spare capacity of dst. It panics on a zeroed key.
func (k *Key) Seal(dst, plaintext, ad []byte) []byte {
	var nonce [chacha20poly1305.NonceSizeX]byte
	rand.Read(nonce[:])
	return k.sealWith(nonce[:], dst, plaintext, ad)
}

func (k *Key) sealWith(nonce, dst, plaintext, ad []byte) []byte {
	aead, err := chacha20poly1305.NewX(k.use())
	if err != nil { // only for a key of another length
		panic("seal: " + err.Error())
	}
	dst = slices.Grow(dst, Overhead+len(plaintext))
	dst = append(dst, valueVersion)
	dst = append(dst, nonce...)
	return aead.Seal(dst, nonce, plaintext, valueAD(ad))
}

// Open appends the plaintext of sealed to dst. It returns [ErrOpen] if any byte
// of sealed or ad was changed, and [ErrZeroed] after Zero.
func (k *Key) Open(dst, sealed, ad []byte) ([]byte, error) {
	if !k.alive() {
		return nil, ErrZeroed
	}
	if len(sealed) < Overhead {
		return nil, fmt.Errorf("%w: %d bytes, at least %d", ErrOpen, len(sealed), Overhead)
	}
	if sealed[0] != valueVersion {
		return nil, fmt.Errorf("%w: version %d is not known", ErrOpen, sealed[0])
	}
	aead, err := chacha20poly1305.NewX(k.use())
	if err != nil {
		panic("seal: " + err.Error())
	}
	nonce, body := sealed[1:1+chacha20poly1305.NonceSizeX], sealed[1+chacha20poly1305.NonceSizeX:]
	out, err := aead.Open(dst, nonce, body, valueAD(ad))
	if err != nil {
		return nil, fmt.Errorf("%w: wrong key, or changed", ErrOpen)
	}
	return out, nil
}

func valueAD(ad []byte) []byte {
	b := make([]byte, 0, 1+len(ad))
	return append(append(b, valueVersion), ad...)
}
