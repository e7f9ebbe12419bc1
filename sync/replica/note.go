package replica

import (
	"encoding/binary"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// FORMAT of a member's sealed name and grant in the log
//
//	u32  big-endian number of the epoch when it was let in
//	     sealed value (package seal) under the epoch key's derivation with the
//	     label "member name" or "member grant"; associated data: the label,
//	     space (16), member (8)

func sealNote(label string, plain []byte, space memory.SpaceID, member memory.MemberID, epoch uint32, key *seal.Key) []byte {
	k := key.Derive(label)
	defer k.Zero()
	return k.Seal(binary.BigEndian.AppendUint32(nil, epoch), plain, notePlace(label, space, member))
}

func openNote(label string, b []byte, space memory.SpaceID, member memory.MemberID, epoch func(uint32) (*seal.Key, bool)) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("%s of %s: %w", label, member, envelope.ErrForm)
	}
	n := binary.BigEndian.Uint32(b)
	key, ok := epoch(n)
	if !ok {
		return nil, fmt.Errorf("%s of %s: the key of epoch %d is not here", label, member, n)
	}
	k := key.Derive(label)
	defer k.Zero()
	plain, err := k.Open(nil, b[4:], notePlace(label, space, member))
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", label, member, err)
	}
	return plain, nil
}

func notePlace(label string, space memory.SpaceID, member memory.MemberID) []byte {
	return append(append([]byte(label), space[:]...), member[:]...)
}

// OpenName gives a member's name, empty where it has none.
func OpenName(m *envelope.Member, space memory.SpaceID, epoch func(uint32) (*seal.Key, bool)) (string, error) {
	if len(m.Name) == 0 {
		return "", nil
	}
	b, err := openNote("member name", m.Name, space, m.ID, epoch)
	return string(b), err
}

// SealGrant makes the grant of a member that is let in during an epoch.
func SealGrant(g delta.Grant, space memory.SpaceID, member memory.MemberID, epoch uint32, key *seal.Key) []byte {
	return sealNote("member grant", g.Bytes(), space, member, epoch, key)
}

// OpenGrant opens what [SealGrant] made. No grant allows nothing.
func OpenGrant(m *envelope.Member, space memory.SpaceID, epoch func(uint32) (*seal.Key, bool)) (delta.Grant, error) {
	if len(m.Grant) == 0 {
		return delta.Grant{}, nil
	}
	b, err := openNote("member grant", m.Grant, space, m.ID, epoch)
	if err != nil {
		return delta.Grant{}, err
	}
	return delta.ParseGrant(b)
}
