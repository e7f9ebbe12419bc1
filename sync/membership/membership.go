// Package membership says in the words of a membership log (package envelope) what
// keys are (package keyring): it founds a space, and makes a device a member.
package membership

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Of is what a log says of a device, in a role.
func Of(d *keyring.Device, role envelope.Role) envelope.Member {
	return envelope.Member{ID: d.ID, Key: d.Key(), Recipient: d.Recipient().String(), Role: role}
}

// NameLabel is the label of a member's name in the log (seal.SealNote).
const NameLabel = "member name"

// NotePlace is what a name or a grant in the log is bound to.
func NotePlace(space memory.SpaceID, member memory.MemberID) []byte {
	return append(append(make([]byte, 0, len(space)+len(member)), space[:]...), member[:]...)
}

// Named is [Of] with a name that the members of a space can open: it is sealed with
// the key of an epoch. An empty name is none.
func Named(d *keyring.Device, role envelope.Role, name string, space memory.SpaceID, epoch uint32, key *seal.Key) envelope.Member {
	m := Of(d, role)
	if name != "" {
		m.Name = seal.SealNote(NameLabel, []byte(name), NotePlace(space, m.ID), epoch, key)
	}
	return m
}

// Found gives what keyring.Create needs to make the first ring of a new space: a
// function that founds the space with its first device, which has a name for the
// others, or none where it is empty. The phrase signs for both, here and never
// again, so that syncing needs no phrase.
func Found(name string) func(*keyring.Recovery) (*keyring.Joining, error) {
	return func(rec *keyring.Recovery) (*keyring.Joining, error) {
		d := keyring.NewDevice()
		epochs := seal.Epochs{1: seal.NewKey()}
		recovery := rec.Identity().Recipient()
		m := Named(d, envelope.Owner, name, rec.Space(), 1, epochs[1])
		e := &envelope.Entry{Version: envelope.Version, Space: rec.Space(), N: 1, Action: envelope.Found, At: time.Now().Unix(), Epoch: 1,
			Root: rec.Root(), Recovery: recovery.String(), Member: &m}
		for _, w := range []struct {
			to  memory.MemberID
			key *seal.Recipient
		}{{memory.MemberID{}, recovery}, {d.ID, d.Recipient()}} { // ascending: recovery is zero
			keys, err := seal.SealEpochs(w.key, e.Space, epochs)
			if err != nil {
				return nil, err
			}
			e.Wraps = append(e.Wraps, envelope.Wrap{To: w.to, Keys: keys})
		}
		if err := e.Sign(func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil }); err != nil {
			return nil, err
		}
		return Joining(d, e.Bytes(), epochs)
	}
}

// Joining is what makes a ring for a device of a space that is there. genesis is
// the wire form of the first entry of the space's log.
func Joining(d *keyring.Device, genesis []byte, epochs seal.Epochs) (*keyring.Joining, error) {
	e, err := parse(genesis)
	if err != nil {
		return nil, fmt.Errorf("join a space: %w", err)
	}
	recovery, err := seal.ParseRecipient(e.Recovery)
	if err != nil {
		return nil, fmt.Errorf("join a space: %w", err)
	}
	return &keyring.Joining{Device: d, Space: e.Space, Root: ed25519.PublicKey(e.Root), Recovery: recovery, Genesis: genesis, Epochs: epochs}, nil
}

// parse gives a first entry, which its own root has signed.
func parse(genesis []byte) (*envelope.Entry, error) {
	e, err := envelope.ParseEntry(genesis)
	if err != nil {
		return nil, err
	}
	return e, new(envelope.State).Append(e)
}

// Genesis is the wire form of the first entry of the log of a ring's own space.
// Errors: keyring.ErrDamaged, and keyring.ErrSwapped for that of another space.
func Genesis(l *keyring.Locked) ([]byte, error) {
	b, err := l.RawGenesis()
	if err != nil {
		return nil, err
	}
	e, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: genesis: %v", keyring.ErrDamaged, err)
	}
	if e.Space != l.Space() || !l.Public().Root.Equal(ed25519.PublicKey(e.Root)) {
		return nil, fmt.Errorf("%w: genesis: of another space or root", keyring.ErrSwapped)
	}
	return b, nil
}
