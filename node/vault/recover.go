package vault

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// RecoverVault implements serve.Vault. A secret is sealed for the vault of the
// device that stored it, and for recovery. The recovery phrase opens the secrets of
// lost devices, and this device asserts them again, sealed for its own vault. The
// phrase is also needed for the secrets of a device that is not lost: nothing shows
// whether the device that said a secret is lost, because a lost device stays a
// member until it is removed.
func (op Opener) RecoverVault(ctx context.Context, phrase serve.Secret) (v serve.VaultRecovered, err error) {
	if err := op.public.CheckPhrase(string(phrase)); err != nil {
		return v, fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
	}
	rec, err := keyring.Recover(string(phrase))
	if err != nil {
		return v, fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
	}
	defer rec.Zero()
	va, release, err := op.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	if va.OpenUntil().IsZero() {
		return v, serve.ErrVaultLocked
	}
	var anew []memory.Assertion
	err = va.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Vault}}) {
			if err != nil {
				return err
			}
			if m.Fields.Vault == nil {
				continue
			}
			a, err := va.resealed(m, rec)
			switch {
			case errors.Is(err, seal.ErrOpen):
				v.Lost++
			case err != nil:
				return err
			case a != nil:
				anew = append(anew, *a)
			default:
				v.Here++
			}
		}
		return nil
	})
	if err != nil || len(anew) == 0 {
		return v, err
	}
	if _, err := va.c.Engine.Assert(ctx, engine.PersonAuthority, func(*store.Tx) ([]memory.Assertion, error) { return anew, nil }); err != nil {
		return v, err
	}
	va.c.OnPosted()
	v.Recovered = len(anew)
	return v, nil
}

// resealed returns a correction of the seal of a secret that this device can't
// open. It is nil if the device can open it; the error is seal.ErrOpen if the
// phrase can't open it either.
func (va *Vault) resealed(m *memory.Memory, rec *keyring.Recovery) (*memory.Assertion, error) {
	va.mu.Lock()
	secret, err := va.session.Open(m.Fields.Vault.Sealed)
	va.mu.Unlock()
	clear(secret)
	if errors.Is(err, keyring.ErrVaultClosed) {
		return nil, serve.ErrVaultLocked
	}
	if err == nil {
		return nil, nil
	}
	if secret, err = seal.OpenWith(rec.Identity(), m.Fields.Vault.Sealed); err != nil {
		return nil, err
	}
	defer clear(secret)
	f := *m.Fields.Vault
	if f.Sealed, err = va.c.Ring.SealToVault(secret); err != nil {
		return nil, err
	}
	return &memory.Assertion{Memory: m.ID, Act: memory.ActCorrect, Patch: &memory.Patch{Fields: &memory.Fields{Vault: &f}}, Reason: "sealed for another device"}, nil
}
