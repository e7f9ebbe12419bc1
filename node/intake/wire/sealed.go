package wire

import (
	"bytes"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// Sealed is another message, sealed to the node's journal by a device that stored it
// on a disk. Its header is that of the inner message, so it has the same identity.
type Sealed struct {
	Header
	Data []byte // the output of Wrap, as an age file to the recipient of a CmdKey
}

// Sealable are the kinds that a device may send sealed. A location is not among them:
// the intake, which can't open it, needs it to know whether the wearer is in a private
// zone.
var Sealable = [...]memory.Kind{memory.KindAudio, memory.KindPhoto, memory.KindText, memory.KindSensor, memory.KindButton}

// Wrap returns the bytes of a message that are to be sealed: its kind, a line feed,
// and the message as CBOR.
func Wrap(m Message) ([]byte, error) {
	if !slices.Contains(Sealable[:], m.Kind()) {
		return nil, &Error{Kind: m.Kind(), Problem: Limits, Detail: "is not sent sealed"}
	}
	b, err := Encode(m, CBOR)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(m.Kind()), '\n'), b...), nil
}

// Unwrap reads what Wrap returned.
func Unwrap(b []byte) (Message, error) {
	kind, payload, ok := bytes.Cut(b, []byte{'\n'})
	if !ok || !slices.Contains(Sealable[:], memory.Kind(kind)) {
		return nil, &Error{Kind: memory.KindSealed, Field: "data", Problem: Limits, Detail: "holds no kind of message that is sent sealed"}
	}
	m, _, err := Decode(memory.Kind(kind), payload)
	return m, err
}

func (m *Sealed) fromFields(r *fields) { m.Data = r.bytes("data", MaxData) }

func (m *Sealed) toFields(out map[string]any) { out["data"] = m.Data }

func (m *Sealed) event(e *memory.Event) { e.Data = m.Data }
