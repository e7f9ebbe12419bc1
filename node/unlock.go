package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/vault"
)

// unlocker returns the way in which the configuration says to open the keys, or nil if it
// says none.
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

// UnlockAsConfigured opens the node if the configuration, or a key file in the
// home, says how. Otherwise opened is false.
func (n *Node) UnlockAsConfigured(ctx context.Context) (opened bool, err error) {
	u, err := n.unlocker()
	if err != nil || u == nil {
		return false, err
	}
	if err = n.unlock(ctx, u); errors.Is(err, keyring.ErrWrongPassphrase) {
		from := "unlock.passphrase_file: " + n.cfg.Unlock.PassphraseFile
		if n.cfg.Unlock.PassphraseEnv != "" {
			from = "unlock.passphrase_env: " + n.cfg.Unlock.PassphraseEnv
		}
		err = fmt.Errorf("%w, from %s", err, from)
	}
	return true, err
}

// Unlock implements serve.Keys. A passphrase is checked even if the node is open already.
func (n *Node) Unlock(ctx context.Context, passphrase serve.Secret) error {
	if passphrase != "" {
		u, open := keyring.Passphrase(string(passphrase)), n.unlock
		if n.isOpen() {
			open = n.public.Check
		}
		err := open(ctx, u)
		if errors.Is(err, keyring.ErrNoWrap) {
			return fmt.Errorf("%w: no passphrase opens these keys: %v", serve.ErrConflict, err)
		}
		return vault.PassphraseError(err)
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
	return fmt.Errorf("%w: the passphrase is needed: %v", serve.ErrPassphrase, errors.Join(err, wrapErr))
}

// meansFailed reports whether a way of opening the keys is missing or did not work, so that
// another one should be tried.
func meansFailed(err error) bool {
	return slices.ContainsFunc([]error{keyring.ErrWrongPassphrase, keyring.ErrWrongKey, keyring.ErrNoWrap, keyring.ErrNoSecret, keyring.ErrNoKeyring, fs.ErrNotExist}, func(e error) bool { return errors.Is(err, e) })
}
