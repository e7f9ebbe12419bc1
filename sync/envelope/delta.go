package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
)

// FORMAT of a delta on the wire: a CBOR array of three:
//
//	bytes  header, in its canonical form
//	b64    Ed25519 signature, domain "locket/v1 delta"
//	bytes  body, or null if it was removed

// MaxDelta is the largest delta on the wire, in bytes.
const MaxDelta = MaxBody + MaxHeader + 128

// Delta is the unit that a member sends. Body is nil if it was removed,
// because something was forgotten or because a checkpoint covers it.
type Delta struct {
	Header    Header
	Signature []byte // 64 bytes
	Body      []byte // sealed
}

type wireDelta struct {
	_         struct{} `cbor:",toarray"`
	Header    []byte
	Signature []byte
	Body      []byte
}

// Sign makes a delta of the header h and a sealed body, and sets the body's
// hash and size in the header. It keeps the slice body and does not copy it.
func Sign(h Header, body []byte, sign Signer) (*Delta, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("sign delta: %w: body of %d bytes, at most %d", ErrForm, len(body), MaxBody)
	}
	h.Version, h.BodyHash, h.BodySize = Version, sha256.Sum256(body), uint32(len(body))
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("sign delta: %w", err)
	}
	sig, err := sign(DomainDelta, h.Bytes())
	if err != nil {
		return nil, fmt.Errorf("sign delta: %w", err)
	}
	return &Delta{Header: h, Signature: sig, Body: body}, nil
}

// ParseDelta parses what [Delta.Bytes] returns. It verifies nothing.
func ParseDelta(b []byte) (*Delta, error) {
	var w wireDelta
	if err := decode(b, &w, MaxDelta); err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	if len(w.Signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("delta: %w: signature of %d bytes", ErrForm, len(w.Signature))
	}
	if w.Body != nil && len(w.Body) == 0 {
		return nil, fmt.Errorf("delta: %w: body is empty", ErrForm)
	}
	h, err := ParseHeader(w.Header)
	if err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	return &Delta{Header: *h, Signature: w.Signature, Body: w.Body}, nil
}

// Bytes returns the wire form.
func (d *Delta) Bytes() []byte {
	return encode(wireDelta{Header: d.Header.Bytes(), Signature: d.Signature, Body: d.Body})
}

// Verify checks that key signed the header, and that the body, unless it was
// removed, is the one that the header names.
func (d *Delta) Verify(key ed25519.PublicKey) error {
	if err := d.Header.Verify(key, d.Signature); err != nil {
		return err
	}
	if d.Body == nil {
		return nil
	}
	if uint64(len(d.Body)) != uint64(d.Header.BodySize) || sha256.Sum256(d.Body) != [32]byte(d.Header.BodyHash) {
		return fmt.Errorf("delta %s of %s: %w", d.Header.Position(), d.Header.Member, ErrBody)
	}
	return nil
}

// WithoutBody returns the delta without its body.
func (d *Delta) WithoutBody() *Delta { return &Delta{Header: d.Header, Signature: d.Signature} }
