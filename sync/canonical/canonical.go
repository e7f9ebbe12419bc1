// Package canonical has the CBOR form of everything that is hashed, signed or sent:
// core deterministic encoding, RFC 8949 section 4.2.1. A [Reader] may accept other
// forms of the same value. A caller that must accept only the canonical form encodes
// the value again and compares the bytes.
package canonical

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Encoding writes the canonical form of a value.
var Encoding = Must(cbor.CoreDetEncOptions().EncMode())

// Encode returns the canonical form of a value whose type CBOR can express.
func Encode(v any) []byte { return Must(Encoding.Marshal(v)) }

// Decode parses the canonical form of v. It encodes v again and compares the bytes, so
// that each value has only one form and one hash. form is the error for another form.
func Decode(b []byte, v any, by cbor.DecMode, form error) error {
	if err := by.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %v", form, err)
	}
	if again, err := Encoding.Marshal(v); err != nil || !bytes.Equal(again, b) {
		return fmt.Errorf("%w: not in canonical form", form)
	}
	return nil
}

// Limits bound a document: levels of nesting, items of one array, pairs of one map.
type Limits struct {
	Levels, Items, Pairs int
}

// Reader returns a mode that reads documents within limits. It refuses duplicate and
// unknown keys, tags, and items of indefinite length.
func Reader(l Limits) cbor.DecMode {
	return Must(cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxNestedLevels:   l.Levels,
		MaxArrayElements:  l.Items,
		MaxMapPairs:       l.Pairs,
	}.DecMode())
}

// Linked reads documents that link to others. DAG-CBOR writes a link as a tag, and the type
// that reads it checks the tag. The other rules are those of [Reader].
var Linked = Must(cbor.DecOptions{
	DupMapKey:         cbor.DupMapKeyEnforcedAPF,
	IndefLength:       cbor.IndefLengthForbidden,
	ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	MaxNestedLevels:   4,
	MaxArrayElements:  1024,
	MaxMapPairs:       16,
}.DecMode())

// Must returns v, and panics if err is not nil. It is for calls that can't fail:
// options that do not contradict each other, or the encoding of a type that CBOR can
// express.
func Must[T any](v T, err error) T {
	if err != nil {
		panic("canonical: " + err.Error())
	}
	return v
}
