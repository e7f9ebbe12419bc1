package keyring

import (
	"crypto/ed25519"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// Recovery is the keys that the phrase stands for. It should exist only while
// something is being signed or recovered.
type Recovery struct {
	root  ed25519.PrivateKey
	id    *seal.Identity
	space memory.SpaceID
}

// Recover parses a phrase in English or Chinese. For any other text it returns
// [ErrPhrase].
func Recover(phrase string) (*Recovery, error) {
	entropy, err := entropyOf(phrase)
	if err != nil {
		return nil, err
	}
	defer clear(entropy[:])
	return recoveryOf(entropy[:]), nil
}

// recoveryOf derives both keys from the phrase's 256 bits, each under a label
// of its own (HKDF-SHA-256, see seal.Key.Derive). BIP 39's own seed, with its
// 2,048 rounds and optional password, is for short phrases and wallets.
func recoveryOf(entropy []byte) *Recovery {
	k, err := seal.KeyFromBytes(entropy)
	if err != nil { // the callers have 32 bytes
		panic("keyring: " + err.Error())
	}
	defer k.Zero()
	seedKey := k.Derive("recovery root ed25519")
	defer seedKey.Zero()
	seed := seedKey.Bytes()
	defer clear(seed)
	spaceKey := k.Derive("recovery space")
	defer spaceKey.Zero()
	space := spaceKey.Bytes()
	return &Recovery{
		root:  ed25519.NewKeyFromSeed(seed),
		id:    seal.IdentityFromSeed(k.Derive("recovery identity")),
		space: memory.SpaceID(space[:len(memory.SpaceID{})]),
	}
}

// Space returns the wearer's first own space. It is derived from the phrase, so
// the phrase and the relay's address are enough to find the space again.
func (r *Recovery) Space() memory.SpaceID { return r.space }

// Root is the root's public key.
func (r *Recovery) Root() ed25519.PublicKey { return r.root.Public().(ed25519.PublicKey) }

// Identity opens what was sealed to the recovery recipient.
func (r *Recovery) Identity() *seal.Identity { return r.id }

// Sign signs msg as the root, for [Verify].
func (r *Recovery) Sign(domain string, msg []byte) []byte { return SignWith(r.root, domain, msg) }

// Zero erases both keys.
func (r *Recovery) Zero() {
	clear(r.root)
	r.id.Zero()
}
