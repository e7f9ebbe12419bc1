// Package membership makes log entries (package envelope) from keys (package
// keyring): it founds a space, and makes a device a member.
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

// MemberOf returns a device as a member with a role, in the form of the log.
func MemberOf(d *keyring.Device, role envelope.Role) envelope.Member {
	return envelope.Member{ID: d.ID, Key: d.Key(), Recipient: d.Recipient().String(), Role: role}
}

// NameLabel is the label of a member's name in the log (seal.SealNote).
const NameLabel = "member name"

// NotePlace returns what the sealed name or grant of a member is bound to.
func NotePlace(space memory.SpaceID, member memory.MemberID) []byte {
	return append(append(make([]byte, 0, len(space)+len(member)), space[:]...), member[:]...)
}

// NamedOwner is [MemberOf] for an owner, with a name that the members of a space can open. The
// name is sealed with the key of an epoch. An empty name means no name.
func NamedOwner(d *keyring.Device, name string, space memory.SpaceID, epoch uint32, key *seal.Key) envelope.Member {
	m := MemberOf(d, envelope.Owner)
	if name != "" {
		m.Name = seal.SealNote(NameLabel, []byte(name), NotePlace(space, m.ID), epoch, key)
	}
	return m
}

// FoundSpace returns the function that keyring.Create needs to make the first ring of a
// new space. The function founds the space with its first device. The device gets a
// name for the other members, unless the name is empty. The recovery phrase signs
// both here, and never again, so that syncing needs no phrase.
func FoundSpace(name string) func(*keyring.Recovery) (*keyring.Joining, error) {
	return func(rec *keyring.Recovery) (*keyring.Joining, error) {
		d := keyring.NewDevice()
		epochs := seal.Epochs{1: seal.NewKey()}
		recovery := rec.Identity().Recipient()
		m := NamedOwner(d, name, rec.Space(), 1, epochs[1])
		e, err := Begin(rec.Space(), rec.Root(), recovery, m, d.Recipient(), epochs, time.Now(), func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil })
		if err != nil {
			return nil, err
		}
		return Joining(d, e.Bytes(), epochs)
	}
}

// Begin returns the first entry of a space, which its root signs. The keys of epoch 1
// go to recovery and to the first member, whose recipient is to.
func Begin(space memory.SpaceID, root ed25519.PublicKey, recovery *seal.Recipient, m envelope.Member, to *seal.Recipient, epochs seal.Epochs, now time.Time, sign envelope.Signer) (*envelope.Entry, error) {
	e := &envelope.Entry{Version: envelope.Version, Space: space, N: 1, Action: envelope.Found, At: now.Unix(), Epoch: 1,
		Root: root, Recovery: recovery.String(), Member: &m}
	for _, w := range []struct {
		to  memory.MemberID
		key *seal.Recipient
	}{{memory.MemberID{}, recovery}, {m.ID, to}} { // ascending: recovery is zero
		keys, err := seal.SealEpochs(w.key, space, epochs)
		if err != nil {
			return nil, err
		}
		e.Wraps = append(e.Wraps, envelope.Wrap{To: w.to, Keys: keys})
	}
	if err := e.Sign(sign); err != nil {
		return nil, fmt.Errorf("found space: %w", err)
	}
	return e, nil
}

// Joining returns what is needed to make a ring for a device of an existing space.
// genesis is the wire form of the first entry of the space's log.
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

// parse parses a first entry and checks that its own root signed it.
func parse(genesis []byte) (*envelope.Entry, error) {
	e, err := envelope.ParseEntry(genesis)
	if err != nil {
		return nil, err
	}
	return e, new(envelope.State).Append(e)
}

// Genesis returns the wire form of the first entry of the log of a ring's space. It
// returns keyring.ErrDamaged, or keyring.ErrSwapped if the entry is another
// space's.
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
