package intersect

import (
	"bytes"
	"crypto"
	"crypto/rand"
	_ "crypto/sha512" // crypto.SHA512
	"encoding/binary"
	"fmt"

	"github.com/cloudflare/circl/group"
	"github.com/cloudflare/circl/zk/dleq"
)

// This file is the VOPRF of RFC 9497 with the suite ristretto255-SHA512: mode 0x01,
// context string "OPRFV1-" || 0x01 || "-ristretto255-SHA512". The group, the mapping to it
// (RFC 9380) and the proof are circl's.

const (
	suite     = "OPRFV1-\x01-ristretto255-SHA512"
	PointSize = 32            // bytes of an element or scalar of ristretto255
	TagSize   = 64            // bytes of an output, SHA-512
	ProofSize = 2 * PointSize // bytes of a proof
)

var (
	curve  = group.Ristretto255
	proven = dleq.Params{G: curve, H: crypto.SHA512, DST: []byte(suite)}
)

func hashed(input []byte) group.Element {
	return curve.HashToElement(input, []byte("HashToGroup-"+suite))
}

// must returns the encoding of an element or scalar, which always works for ristretto255.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func pointBytes(e group.Element) []byte { return must(e.MarshalBinaryCompress()) }
func scalarBytes(s group.Scalar) []byte { return must(s.MarshalBinary()) }

// readPoint decodes an element in its canonical form. The caller decides whether the identity is
// allowed.
func readPoint(b []byte) (group.Element, error) {
	e := curve.NewElement()
	if len(b) != PointSize || e.UnmarshalBinary(b) != nil || !bytes.Equal(pointBytes(e), b) {
		return nil, fmt.Errorf("%w: not an element of ristretto255", ErrForm)
	}
	return e, nil
}

// readPoints decodes n elements, none of which may be the identity, as the RFC demands.
func readPoints(list [][]byte, n int) ([]group.Element, error) {
	if len(list) != n {
		return nil, fmt.Errorf("%w: %d elements, want %d", ErrForm, len(list), n)
	}
	out := make([]group.Element, n)
	for i, b := range list {
		e, err := readPoint(b)
		if err == nil && e.IsIdentity() {
			err = fmt.Errorf("%w: the identity", ErrForm)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out[i] = e
	}
	return out, nil
}

func readScalar(b []byte) (group.Scalar, error) {
	s := curve.NewScalar()
	if len(b) != PointSize || s.UnmarshalBinary(b) != nil || !bytes.Equal(scalarBytes(s), b) || s.IsZero() {
		return nil, fmt.Errorf("%w: not a scalar of ristretto255, or zero", ErrForm)
	}
	return s, nil
}

// tagOf is the RFC's Finalize: the output for an input whose evaluation, without its
// blind, is e.
func tagOf(input []byte, e group.Element) []byte {
	h := crypto.SHA512.New()
	for _, part := range [][]byte{input, pointBytes(e)} {
		h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(part))))
		h.Write(part)
	}
	h.Write([]byte("Finalize"))
	return h.Sum(nil)
}

// blind is the RFC's Blind with a given scalar.
func blind(input []byte, by group.Scalar) group.Element {
	return curve.NewElement().Mul(hashed(input), by)
}

// output is the RFC's Evaluate, for the holder of the key.
func output(key group.Scalar, input []byte) []byte { return tagOf(input, blind(input, key)) }

// Evaluation is the key holder's answer to blinded elements, with the proof that all were answered
// with that key.
type Evaluation struct {
	_        struct{} `cbor:",toarray"`
	Elements [][]byte
	Proof    []byte
}

// evaluate is the RFC's BlindEvaluate.
func evaluate(key group.Scalar, blinded []group.Element) Evaluation {
	return evaluateWith(key, blinded, curve.RandomNonZeroScalar(rand.Reader))
}

// evaluateWith takes the proof's randomness, which the RFC's vectors specify.
func evaluateWith(key group.Scalar, blinded []group.Element, r group.Scalar) (out Evaluation) {
	answers := make([]group.Element, len(blinded))
	for i, e := range blinded {
		answers[i] = curve.NewElement().Mul(e, key)
		out.Elements = append(out.Elements, pointBytes(answers[i]))
	}
	p, err := dleq.Prover{Params: proven}.ProveBatchWithRandomness(key, curve.Generator(), curve.NewElement().MulGen(key), blinded, answers, r)
	if err != nil {
		panic(err) // only for elements that can't be encoded, and these can
	}
	out.Proof = must(p.MarshalBinary())
	return out
}

// finalize is the RFC's Finalize for many inputs: it checks the proof, removes the blinds, and
// returns the outputs. The error is [ErrProof] if another key answered.
func finalize(public group.Element, inputs [][]byte, blinds []group.Scalar, blinded []group.Element, ev *Evaluation) ([][]byte, error) {
	answers, err := readPoints(ev.Elements, len(blinded))
	if err != nil {
		return nil, err
	}
	var p dleq.Proof
	if len(ev.Proof) != ProofSize || p.UnmarshalBinary(curve, ev.Proof) != nil || !bytes.Equal(must(p.MarshalBinary()), ev.Proof) {
		return nil, fmt.Errorf("%w: the proof is malformed", ErrForm)
	}
	if !(dleq.Verifier{Params: proven}).VerifyBatch(curve.Generator(), public, blinded, answers, &p) {
		return nil, ErrProof
	}
	out := make([][]byte, len(inputs))
	for i := range inputs {
		out[i] = tagOf(inputs[i], curve.NewElement().Mul(answers[i], curve.NewScalar().Inv(blinds[i])))
	}
	return out, nil
}
