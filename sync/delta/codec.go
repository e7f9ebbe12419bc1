package delta

import (
	"bytes"
	"fmt"

	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

var decoding = canonical.Reader(canonical.Limits{Levels: 12, Items: MaxOps, Pairs: 1024})

// wireBody is the CBOR in the frame: an array of two.
type wireBody struct {
	_       struct{} `cbor:",toarray"`
	Context envelope.Hash
	Ops     []wireOp
}

type wireOp struct {
	Assertion *wireAssertion    `cbor:"1,keyasint,omitempty"`
	Utterance *wireUtterance    `cbor:"2,keyasint,omitempty"`
	Forget    *wireForget       `cbor:"3,keyasint,omitempty"`
	Blob      *wireBlob         `cbor:"4,keyasint,omitempty"`
	Report    *wireReport       `cbor:"5,keyasint,omitempty"`
	Gone      []wireRemovedBody `cbor:"6,keyasint,omitempty"`
}

// Encode returns the plaintext of the body that belongs to the header h. It
// ignores h's body hash and size; all other fields must be final. Assertions and
// utterances must be of h's space, and assertions of h's member. Times lose
// their time zone and keep their nanoseconds.
func Encode(h envelope.Header, ops []Op) ([]byte, error) {
	plain, err := Plain(h, ops)
	if err != nil {
		return nil, err
	}
	return squeezed("encode delta", plain)
}

// squeezed compresses and pads a plaintext.
func squeezed(what string, plain []byte) ([]byte, error) {
	frame := compress(plain)
	out := pad(frame)
	if len(out) > MaxPadded {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", what, ErrForm, len(out), MaxPadded)
	}
	return out, nil
}

// Plain returns the CBOR that [Encode] compresses. Dictionaries are trained on
// it.
func Plain(h envelope.Header, ops []Op) ([]byte, error) {
	if len(ops) == 0 || len(ops) > MaxOps {
		return nil, fmt.Errorf("encode delta: %w: %d ops, want 1 to %d", ErrForm, len(ops), MaxOps)
	}
	h.Version = envelope.Version
	for i := range ops {
		if err := ops[i].check(&h); err != nil {
			return nil, fmt.Errorf("encode delta: op %d: %w", i, err)
		}
	}
	plain, err := canonical.Encoding.Marshal(wire(&h, ops))
	if err != nil {
		return nil, fmt.Errorf("encode delta: %w: %v", ErrForm, err)
	}
	if len(plain) > MaxPlain {
		return nil, fmt.Errorf("encode delta: %w: %d bytes, at most %d", ErrForm, len(plain), MaxPlain)
	}
	return plain, nil
}

// wire converts ops to their wire form under the header h.
func wire(h *envelope.Header, ops []Op) wireBody {
	w := wireBody{Context: h.Context(), Ops: make([]wireOp, len(ops))}
	c := converter{header: h}
	for i := range ops {
		w.Ops[i] = c.toWire(&ops[i])
	}
	return w
}

// Decode parses the plaintext of the body that belongs to the header h. It
// returns [ErrContext] if the body was made for another header, and [ErrForm] if
// the bytes are not what [Encode] makes. Whatever the input, it needs memory in
// proportion to [MaxPlain].
func Decode(h *envelope.Header, padded []byte) ([]Op, error) {
	if len(padded) > MaxPadded {
		return nil, fmt.Errorf("decode delta: %w: %d bytes, at most %d", ErrForm, len(padded), MaxPadded)
	}
	frame, err := unpad(padded)
	if err != nil {
		return nil, fmt.Errorf("decode delta: %w", err)
	}
	plain, err := decompress(frame)
	if err != nil {
		return nil, fmt.Errorf("decode delta: %w", err)
	}
	var w wireBody
	if err := decoding.Unmarshal(plain, &w); err != nil {
		return nil, fmt.Errorf("decode delta: %w: %v", ErrForm, err)
	}
	if w.Context != h.Context() {
		return nil, fmt.Errorf("decode delta: %w", ErrContext)
	}
	if len(w.Ops) == 0 {
		return nil, fmt.Errorf("decode delta: %w: no ops", ErrForm)
	}
	ops := make([]Op, len(w.Ops))
	c := converter{header: h}
	for i := range w.Ops {
		if ops[i], err = c.fromWire(&w.Ops[i]); err == nil {
			err = ops[i].check(h)
		}
		if err != nil {
			return nil, fmt.Errorf("decode delta: op %d: %w", i, err)
		}
	}
	// The domain's values are encoded again, not the wire's, so that each
	// meaning has only one form.
	again, err := canonical.Encoding.Marshal(wire(h, ops))
	if err != nil || !bytes.Equal(again, plain) {
		return nil, fmt.Errorf("decode delta: %w: not in canonical form", ErrForm)
	}
	return ops, nil
}
