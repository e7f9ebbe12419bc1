package exchange

import (
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
)

// Keys is replica.Keys over a ring's own space. Its methods are safe for concurrent use.
type Keys struct{ Ring *keyring.Ring }

func (k Keys) Sign(domain string, msg []byte) ([]byte, error) {
	return k.Ring.DeviceSign(domain, msg)
}

// Epoch implements [replica.Keys]. The ring owns the key.
func (k Keys) Epoch(n uint32) (*seal.Key, bool) { return k.Ring.Epoch(k.Ring.Space(), n) }

// Take implements [replica.Keys]. It fails if sealed is not for this device, or the keys
// can't be written.
func (k Keys) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(k.Ring.DeviceIdentity(), k.Ring.Space(), sealed)
	if err != nil {
		return err
	}
	defer e.Zero()
	return k.Ring.KeepEpochs(k.Ring.Space(), e)
}

// Wrap implements [replica.Keys]. It fails if the key of one of these epochs is not here.
func (k Keys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	return seal.SealFirst(to, k.Ring.Space(), n, k.Epoch)
}
