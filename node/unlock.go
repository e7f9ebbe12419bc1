package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// unlocker is how the configuration says the keys are to be opened, nil where
// it says nothing.
func (n *Node) unlocker() (keyring.Unlocker, error) { return unlockerOf(&n.cfg, n.public) }

func unlockerOf(cfg *config.Config, public *keyring.Locked) (keyring.Unlocker, error) {
	u := &cfg.Unlock
	switch {
	case u.PassphraseEnv != "":
		p, ok := os.LookupEnv(u.PassphraseEnv)
		if !ok {
			return nil, fmt.Errorf("%w: unlock.passphrase_env: %s is not set", memory.ErrInvalid, u.PassphraseEnv)
		}
		return keyring.Passphrase(p), nil
	case u.PassphraseFile != "":
		b, err := os.ReadFile(u.PassphraseFile)
		if err != nil {
			return nil, fmt.Errorf("unlock.passphrase_file: %w", err)
		}
		return keyring.Passphrase(strings.TrimRight(string(b), "\r\n")), nil
	case u.KeyFile != "":
		return keyring.KeyFile(u.KeyFile), nil
	case u.Keyring:
		return keyring.OSKeyring(), nil
	}
	wraps, err := public.Wraps()
	if err != nil {
		return nil, err
	}
	for _, w := range wraps {
		if w == keyring.WrapKeyFile {
			return keyring.KeyFile(keyring.DefaultKeyFile), nil
		}
	}
	return nil, nil
}

// UnlockAsConfigured opens the node where the configuration or a key file in
// the home gives the means; opened is false where they give none.
func (n *Node) UnlockAsConfigured(ctx context.Context) (opened bool, err error) {
	u, err := n.unlocker()
	if err != nil || u == nil {
		return false, err
	}
	return true, n.unlock(ctx, u)
}

// Unlock implements serve.Keys.
func (n *Node) Unlock(ctx context.Context, passphrase serve.Secret) error {
	if passphrase != "" {
		return passphraseError(n.unlock(ctx, keyring.Passphrase(string(passphrase))))
	}
	found, err := n.UnlockAsConfigured(ctx)
	if found && err == nil || found && !meansFailed(err) {
		return err
	}
	if err == nil {
		err = errors.New("no key file in the home, and none of unlock.key_file, unlock.keyring and unlock.passphrase_file is set")
	}
	wraps, wrapErr := n.public.Wraps()
	if wrapErr == nil && !slices.Contains(wraps, keyring.WrapPassphrase) {
		return fmt.Errorf("%w: nothing that is set here opens the keys: %v", serve.ErrConflict, err)
	}
	return fmt.Errorf("%w: it is needed: %v", serve.ErrPassphrase, errors.Join(err, wrapErr))
}

// meansFailed reports whether what was to open the keys is not there, or opens
// nothing: another means may.
func meansFailed(err error) bool {
	for _, e := range []error{keyring.ErrWrongPassphrase, keyring.ErrWrongKey, keyring.ErrNoWrap, keyring.ErrNoSecret, keyring.ErrNoKeyring, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func passphraseError(err error) error {
	if errors.Is(err, keyring.ErrWrongPassphrase) {
		return fmt.Errorf("%w", serve.ErrPassphrase)
	}
	return err
}

// UnlockVault implements serve.Vault.
func (n *Node) UnlockVault(ctx context.Context, passphrase serve.Secret, until time.Time) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	u := keyring.Passphrase(string(passphrase))
	if passphrase == "" {
		if u, err = n.unlocker(); err != nil {
			return err
		}
		if u == nil {
			return fmt.Errorf("%w: the vault needs the passphrase", serve.ErrPassphrase)
		}
	}
	s, err := o.ring.OpenVault(ctx, u, time.Until(until))
	if err != nil {
		return passphraseError(err)
	}
	o.vaultMu.Lock()
	defer o.vaultMu.Unlock()
	if o.vault != nil {
		err = o.vault.Close()
	}
	o.vault = s
	return err
}

// vaultUntil is when the vault closes, zero where it is closed.
func (o *session) vaultUntil() time.Time {
	o.vaultMu.Lock()
	defer o.vaultMu.Unlock()
	if o.vault == nil || !time.Now().Before(o.vault.Expires()) {
		return time.Time{}
	}
	return o.vault.Expires()
}

// Reveal implements serve.Vault. That it was done is a line in the history of
// the memory, without the secret.
func (n *Node) Reveal(ctx context.Context, id memory.ID) (r serve.Revealed, err error) {
	o, release, err := n.use()
	if err != nil {
		return r, err
	}
	defer release()
	return o.reveal(ctx, id)
}

func (o *session) reveal(ctx context.Context, id memory.ID) (r serve.Revealed, err error) {
	var m memory.Memory
	err = o.store.View(ctx, func(tx *store.Tx) error {
		m, err = engine.Live(tx, id)
		return err
	})
	if err != nil {
		return r, err
	}
	f := m.Fields.Vault
	if f == nil {
		return r, fmt.Errorf("%w: id: %s is not in the vault, it is %s", memory.ErrInvalid, id, m.Type)
	}
	if o.vaultUntil().IsZero() {
		return r, serve.ErrVaultLocked
	}
	o.vaultMu.Lock()
	secret, err := o.vault.Open(f.Sealed)
	o.vaultMu.Unlock()
	if errors.Is(err, keyring.ErrVaultClosed) {
		return r, serve.ErrVaultLocked
	}
	if err != nil {
		return r, err
	}
	err = o.engine.Commit(ctx, func(tx *store.Tx) error {
		return tx.Note(memory.Change{Memory: id, Verdict: memory.Noop, At: time.Now().UTC(), By: memory.Source{Plugin: "person"},
			Rank: memory.RankPerson, Reason: memory.SecretShown})
	})
	if err != nil {
		return r, err // what can't be noted is not shown
	}
	return serve.Revealed{ID: id, Label: f.Label, EntryType: f.EntryType, Secret: serve.Secret(secret)}, nil
}
