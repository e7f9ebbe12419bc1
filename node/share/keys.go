package share

import (
	"crypto/ed25519"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// KeyName is what the sharing key is called in a ring.
const KeyName = "sharing"

// Root founds all spaces of a sharing key, and is their account at the relay. The
// caller clears it.
func Root(sharing *seal.Key) ed25519.PrivateKey { return signing(sharing, "sharing root") }

func signing(k *seal.Key, label string) ed25519.PrivateKey {
	d := k.Derive(label)
	defer d.Zero()
	seed := d.Bytes()
	defer clear(seed)
	return ed25519.NewKeyFromSeed(seed)
}

// spaceKeys are the owner's keys in one space; it implements replica.Keys. Epoch
// keys are only in memory, because the membership log has them, sealed for the
// pair.
type spaceKeys struct {
	space memory.SpaceID
	sign  ed25519.PrivateKey
	pair  *seal.Identity
	ids   *seal.Key
	store *seal.Key
	spaceEpochs
}

// spaceEpochs are epoch keys of one space.
type spaceEpochs struct {
	mu     sync.Mutex
	epochs seal.Epochs
}

// Epoch implements replica.Keys.
func (k *spaceEpochs) Epoch(n uint32) (*seal.Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.epochs[n]
	return key, ok
}

// add keeps the keys that are new.
func (k *spaceEpochs) add(got seal.Epochs) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epochs == nil {
		k.epochs = seal.Epochs{}
	}
	for n, key := range got {
		if k.epochs[n] == nil {
			k.epochs[n] = key
		}
	}
}

// wrap seals the keys of epochs 1 to n to a recipient.
func (k *spaceEpochs) wrap(space memory.SpaceID, n uint32, to *seal.Recipient) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		if e[i] = k.epochs[i]; e[i] == nil {
			return nil, fmt.Errorf("wrap epochs: the key of %d is not here", i)
		}
	}
	return seal.SealEpochs(to, space, e)
}

func newSpaceKeys(sharing *seal.Key, space memory.SpaceID) *spaceKeys {
	own := sharing.Derive("space " + space.String())
	defer own.Zero()
	return &spaceKeys{space: space, sign: signing(own, "member"), pair: seal.IdentityFromSeed(own.Derive("pair")), ids: own.Derive("copy ids"),
		store: StoreKey(sharing, space)}
}

// StoreKey is the master key of the store of a space that a sharing key founded.
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
		k.add(got)
	}
	return err
}

func (k *spaceKeys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) { return k.wrap(k.space, n, to) }

func (k *spaceKeys) zero() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.sign)
	k.pair.Zero()
	k.ids.Zero()
	k.store.Zero()
	k.epochs.Zero()
}

// genesis founds the space. The sharing root signs, and recovery gets the key, as
// in the wearer's own space.
func (k *spaceKeys) genesis(sharing *seal.Key, recovery *seal.Recipient, now time.Time) (*envelope.Entry, error) {
	epoch := seal.Epochs{1: seal.NewKey()}
	defer epoch.Zero()
	m := k.member()
	rootKey := Root(sharing)
	defer clear(rootKey)
	return membership.Begin(k.space, rootKey.Public().(ed25519.PublicKey), recovery, m, k.pair.Recipient(), epoch, now, envelope.KeySigner(rootKey))
}
