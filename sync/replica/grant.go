package replica

import (
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

const grantLabel = "member grant"

// OpenName returns a member's name, or an empty string.
func OpenName(m *envelope.Member, space memory.SpaceID, epoch func(uint32) (*seal.Key, bool)) (string, error) {
	if len(m.Name) == 0 {
		return "", nil
	}
	b, err := seal.OpenNote(membership.NameLabel, m.Name, membership.NotePlace(space, m.ID), epoch)
	if err != nil {
		return "", fmt.Errorf("name of %s: %w", m.ID, err)
	}
	return string(b), nil
}

// SealGrant seals the grant of a member that is added during an epoch.
func SealGrant(g delta.Grant, space memory.SpaceID, member memory.MemberID, epoch uint32, key *seal.Key) []byte {
	return seal.SealNote(grantLabel, g.Bytes(), membership.NotePlace(space, member), epoch, key)
}

// OpenGrant opens what [SealGrant] made. A missing grant allows nothing.
func OpenGrant(m *envelope.Member, space memory.SpaceID, epoch func(uint32) (*seal.Key, bool)) (delta.Grant, error) {
	if len(m.Grant) == 0 {
		return delta.Grant{}, nil
	}
	b, err := seal.OpenNote(grantLabel, m.Grant, membership.NotePlace(space, m.ID), epoch)
	if err != nil {
		return delta.Grant{}, fmt.Errorf("grant of %s: %w", m.ID, err)
	}
	return delta.ParseGrant(b)
}
