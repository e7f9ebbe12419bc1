// Package wire encodes the messages between a wearable and a node, as docs/mqtt.md
// defines them. It knows nothing of MQTT itself, so that bridges, replays and
// tests share it with the node.
//
// The words:
//
//   - A [Message] is what a device publishes: a [Header] and the fields of its
//     kind. It becomes a memory.Event by [Event].
//   - An [Ack] is the node's answer to messages: they are on disk, or refused.
//   - A [Cmd] is what the node asks of a device.
//   - [Clocks] places what a device without a clock sends on the wall clock.
//
// A payload is one map, and its first byte shows its format: '{' is JSON, a CBOR
// map (major type 5) is CBOR. Fields have the same names in both. Decoding is
// strict in what it knows (types, ranges, sizes, UTF-8, no field twice) and
// ignores but counts unknown fields, so that newer firmware can talk to an older
// node.
package wire

import (
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// Limits of one message. A payload over MaxPayload is refused unread.
const (
	MaxPayload = 1 << 20   // bytes
	MaxData    = 700 << 10 // bytes of audio or photo, so that with base64 and all other fields it is under MaxPayload
	MaxParts   = 64        // of one photo
	MaxValues  = 1024      // readings in one sensor message
	MaxCodecs  = 16        // in a hello
	MaxSeqs    = 256       // in one ack
	MaxReason  = 512       // bytes of a reason or an error
	MaxUnit    = 32        // bytes of a reading's unit
	MaxDevice  = 32        // characters of a device's name
	MaxAcc     = 1e8       // m, accuracy of a place

	maxDepth = 4    // of maps and arrays, the message itself included
	maxPairs = 64   // fields of one map
	maxItems = 1024 // of one array
)

// Format is the encoding of a payload.
type Format uint8

const (
	CBOR Format = iota // RFC 8949; output is core deterministic
	JSON               // RFC 8259; binary is base64 (RFC 4648 section 4)
)

// String returns the format's name in lower case.
func (f Format) String() string {
	if f == JSON {
		return "json"
	}
	return "cbor"
}

// Detect determines a payload's format from its first byte.
func Detect(payload []byte) (Format, error) {
	switch {
	case len(payload) == 0:
		return 0, &Error{Problem: Empty}
	case payload[0] == '{':
		return JSON, nil
	case payload[0]>>5 == 5:
		return CBOR, nil
	}
	return 0, &Error{Problem: Encoding, Detail: "first byte is neither { nor a CBOR map"}
}

// Problem is the kind of rule that a payload breaks. There are few, so that they
// can be counted.
type Problem string

const (
	Empty    Problem = "empty"    // no payload
	Encoding Problem = "encoding" // neither JSON nor CBOR, or broken; also too deep, or with a field twice
	Missing  Problem = "missing"  // a field that is needed
	Wrong    Problem = "type"     // a field of the wrong type
	Limits   Problem = "range"    // a number out of range, NaN, or a word that is not in the list
	TooLarge Problem = "size"     // more bytes or items than allowed
	Text     Problem = "utf8"     // not UTF-8
	Topic    Problem = "topic"    // not one of ours
)

// Error is why a payload or topic was refused. It quotes nothing from the payload,
// and may be logged. It is a memory.ErrInvalid.
type Error struct {
	Kind    memory.Kind // kind of the message; "ack", "cmd"; empty if unknown
	Field   string      // empty: the whole payload
	Problem Problem
	Detail  string
}

// Error returns the place and the rule.
func (e *Error) Error() string {
	s := ""
	if e.Kind != "" {
		s += string(e.Kind) + ": "
	}
	if e.Field != "" {
		s += e.Field + ": "
	}
	s += string(e.Problem)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns memory.ErrInvalid.
func (e *Error) Unwrap() error { return memory.ErrInvalid }

func errorf(field string, p Problem, format string, args ...any) *Error {
	return &Error{Field: field, Problem: p, Detail: fmt.Sprintf(format, args...)}
}
