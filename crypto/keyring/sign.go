package keyring

import (
	"crypto/ed25519"
	"encoding/binary"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of what is signed, with Ed25519 (RFC 8032)
//
//	"locket/v1 sign" 0x00, u32 big-endian length of domain, domain, message
//
// The domain names the kind of message, "delta header", so that a signature for one use is invalid
// for another.

func signed(domain string, msg []byte) []byte {
	b := append([]byte("locket/v1 sign"), 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(domain)))
	return append(append(b, domain...), msg...)
}

// SignWith signs msg with key, for [Verify].
func SignWith(key ed25519.PrivateKey, domain string, msg []byte) []byte {
	return ed25519.Sign(key, signed(domain, msg))
}

// DeviceSign signs msg as this device, for [Verify]; after Close it fails with
// [memory.ErrLocked].
func (r *Ring) DeviceSign(domain string, msg []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, memory.ErrLocked
	}
	return SignWith(r.device, domain, msg), nil
}

// Verify reports whether sig is key's signature of msg in domain.
func Verify(key ed25519.PublicKey, domain string, msg, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed(domain, msg), sig)
}
