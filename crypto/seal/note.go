package seal

import (
	"encoding/binary"
	"fmt"
)

// FORMAT of a note in a membership log: a member's name, or its grant
//
//	u32  big-endian number of the epoch in which it was sealed
//	     sealed value under the epoch key's derivation with a label; the
//	     associated data is the label and the place

// SealNote seals a text about a member in a log with the key of an epoch of its
// space. place is what the text is bound to.
func SealNote(label string, plain, place []byte, epoch uint32, key *Key) []byte {
	k := key.Derive(label)
	defer k.Zero()
	return k.Seal(binary.BigEndian.AppendUint32(nil, epoch), plain, append([]byte(label), place...))
}

// OpenNote opens a note. It returns [ErrOpen] also if the epoch's key is
// missing.
func OpenNote(label string, note, place []byte, epoch func(uint32) (*Key, bool)) ([]byte, error) {
	if len(note) < 4 {
		return nil, fmt.Errorf("%w: a %s of %d bytes", ErrOpen, label, len(note))
	}
	n := binary.BigEndian.Uint32(note)
	key, ok := epoch(n)
	if !ok {
		return nil, fmt.Errorf("%w: %s: the key of epoch %d is not here", ErrOpen, label, n)
	}
	k := key.Derive(label)
	defer k.Zero()
	plain, err := k.Open(nil, note[4:], append([]byte(label), place...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	return plain, nil
}
