// Package canonical has the CBOR of whatever is hashed, signed or sent: core
// deterministic encoding, RFC 8949 section 4.2.1. What a mode of [Reader] takes can
// still be another form of the same: who needs the one encodes it again, and
// compares.
package canonical

import "github.com/fxamacker/cbor/v2"

// Encoding writes the one form of a value.
var Encoding = Must(cbor.CoreDetEncOptions().EncMode())

// Limits are how much a document may hold: levels of nesting, items of one array,
// pairs of one map.
type Limits struct {
	Levels, Items, Pairs int
}

// Reader reads documents within limits. It refuses doubled and unknown keys, tags, and
// lengths that are not said beforehand.
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

// Must gives what can't fail: options that don't contradict each other, the form of a
// type that has one. It panics where that is wrong.
func Must[T any](v T, err error) T {
	if err != nil {
		panic("canonical: " + err.Error())
	}
	return v
}
