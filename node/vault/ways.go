package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// wraps maps the ways to unlock to the keyring's wraps.
var wraps = map[serve.Way]keyring.WrapKind{
	serve.WayPassphrase: keyring.WrapPassphrase, serve.WayKeyFile: keyring.WrapKeyFile, serve.WayKeyring: keyring.WrapOSKeyring,
}

// Ways implements serve.Keys.
func (op Opener) Ways(context.Context) (out []serve.Way, err error) {
	kinds, err := op.public.Wraps()
	for _, k := range kinds {
		for w, kind := range wraps {
			if k == kind {
				out = append(out, w)
			}
		}
	}
	return out, err
}

// SetWay implements serve.Keys.
func (op Opener) SetWay(ctx context.Context, w serve.Way, r serve.WayRequest) error {
	va, release, err := op.of.Use()
	if err != nil {
		return err
	}
	defer release()
	u := keyring.Passphrase(string(r.Passphrase))
	if r.Passphrase == "" {
		if u, err = op.unlocker(); err != nil {
			return err
		}
		if u == nil {
			return fmt.Errorf("%w: the present passphrase is needed", serve.ErrPassphrase)
		}
	}
	switch w {
	case serve.WayPassphrase:
		err = va.c.Ring.ChangePassphrase(ctx, u, string(r.New))
	case serve.WayKeyFile:
		path := cmp.Or(r.Path, keyring.DefaultKeyFile)
		err = va.c.Ring.AddKeyFile(ctx, u, path)
		if at, is := errors.AsType[*fs.PathError](err); is && r.Path != "" && strings.HasPrefix(at.Path, filepath.Dir(r.Path)) {
			err = serve.InField("path", fmt.Errorf("%w: %v", memory.ErrInvalid, err))
		}
	case serve.WayKeyring:
		err = va.c.Ring.AddOSKeyring(ctx, u)
	default:
		err = fmt.Errorf("%w: way: %q is none", memory.ErrInvalid, w)
	}
	if errors.Is(err, keyring.ErrNoWrap) || errors.Is(err, keyring.ErrNoKeyring) {
		return fmt.Errorf("%w: %v", serve.ErrConflict, err)
	}
	return PassphraseError(err)
}

// RemoveWay implements serve.Keys.
func (op Opener) RemoveWay(_ context.Context, w serve.Way) error {
	va, release, err := op.of.Use()
	if err != nil {
		return err
	}
	defer release()
	switch err := va.c.Ring.RemoveWrap(wraps[w]); {
	case errors.Is(err, keyring.ErrNoWrap):
		return fmt.Errorf("%w: the keys are not opened by %s", memory.ErrNotFound, w)
	case errors.Is(err, keyring.ErrLastWrap):
		return fmt.Errorf("%w: without it nothing opens the keys: set another way first", serve.ErrConflict)
	default:
		return err
	}
}
