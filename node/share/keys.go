package share

import (
	"crypto/ed25519"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// KeyName is the name of the sharing key in a ring.
const KeyName = "sharing"

// Root returns the key that founds all spaces of a sharing key, and is their
// account at the relay. The caller clears it.
func Root(sharing *seal.Key) ed25519.PrivateKey { return signing(sharing, "sharing root") }

func signing(k *seal.Key, label string) ed25519.PrivateKey {
	d := k.Derive(label)
	defer d.Zero()
	seed := d.Bytes()
	defer clear(seed)
	return ed25519.NewKeyFromSeed(seed)
}

// spaceKeys are the owner's keys in one space; it implements replica.Keys. Epoch
// keys are only in memory, because the membership log has them, sealed to the
// pair.
type spaceKeys struct {
	space memory.SpaceID
	sign  ed25519.PrivateKey
	pair  *seal.Identity
	ids   *seal.Key
	store *seal.Key
	seal.HeldEpochs
}

func newSpaceKeys(sharing *seal.Key, space memory.SpaceID) *spaceKeys {
	own := sharing.Derive("space " + space.String())
	defer own.Zero()
	return &spaceKeys{space: space, sign: signing(own, "member"), pair: seal.IdentityFromSeed(own.Derive("pair")), ids: own.Derive("copy ids"),
		store: StoreKey(sharing, space)}
}

// StoreKey returns the master key of the store of a space that a sharing key
// founded.
func StoreKey(sharing *seal.Key, space memory.SpaceID) *seal.Key {
	own := sharing.Derive("space " + space.String())
	defer own.Zero()
	return own.Derive("store")
}

func (k *spaceKeys) member() envelope.Member {
	key := k.sign.Public().(ed25519.PublicKey)
	return envelope.Member{ID: envelope.MemberOf(key, k.space), Key: key, Recipient: k.pair.Recipient().String(), Role: envelope.Owner}
}

func (k *spaceKeys) Sign(domain string, msg []byte) ([]byte, error) {
	return envelope.KeySigner(k.sign)(domain, msg)
}

func (k *spaceKeys) Take(sealed []byte) error {
	got, err := seal.OpenEpochs(k.pair, k.space, sealed)
	if err == nil {
		k.Add(got)
	}
	return err
}

func (k *spaceKeys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	return seal.SealFirst(to, k.space, n, k.Epoch)
}

func (k *spaceKeys) zero() {
	clear(k.sign)
	k.pair.Zero()
	k.ids.Zero()
	k.store.Zero()
	k.HeldEpochs.Zero()
}

// genesis returns the first entry of the space. The sharing root signs it, and
// recovery gets the key, as in the wearer's own space.
func (k *spaceKeys) genesis(sharing *seal.Key, recovery *seal.Recipient, now time.Time) (*envelope.Entry, error) {
	epoch := seal.Epochs{1: seal.NewKey()}
	defer epoch.Zero()
	m := k.member()
	rootKey := Root(sharing)
	defer clear(rootKey)
	return membership.Begin(k.space, rootKey.Public().(ed25519.PublicKey), recovery, m, k.pair.Recipient(), epoch, now, envelope.KeySigner(rootKey))
}
