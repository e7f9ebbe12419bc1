package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/statefile"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/pairing"
)

// InitOptions say how the keys of a new home are opened. At least one way is needed.
type InitOptions struct {
	Passphrase string
	Work       int  // cost of scrypt, see keyring.CreateOptions
	KeyFile    bool // a key file in the home itself: anyone with the disk can open it
	Keyring    bool // the OS keyring
	Language   keyring.Language
}

// ErrHomeExists: there is a node in this folder already.
var ErrHomeExists = errors.New("there is a node here already")

// Init makes a home and its keys. It returns the recovery phrase, which is stored
// nowhere.
func Init(cfg config.Config, opt InitOptions) (phrase string, err error) {
	return initHome(cfg, opt, nil)
}

// Discard removes the keys of a home that Init has just made, also from the OS
// keyring. It is for a person who broke off the setup.
func Discard(home string) error { return keyring.Discard(filepath.Join(home, keysDir)) }

func initHome(cfg config.Config, opt InitOptions, join *keyring.Joining) (phrase string, err error) {
	keys := filepath.Join(cfg.Home, keysDir)
	if err := free(&cfg); err != nil {
		return "", err
	}
	if err := atomicfile.MkdirAll(cfg.Home); err != nil {
		return "", fmt.Errorf("make home: %w", err)
	}
	c := keyring.CreateOptions{Passphrase: opt.Passphrase, Work: opt.Work, Language: opt.Language, OSKeyring: opt.Keyring, Join: join, FoundSpace: membership.FoundSpace(exchange.DeviceName())}
	if opt.KeyFile {
		c.KeyFile = keyring.DefaultKeyFile
	}
	ring, phrase, err := keyring.Create(keys, c)
	if err != nil {
		return "", err
	}
	if err := errors.Join(statefile.SignNew(cfg.Home, ring), ring.Close()); err != nil {
		if join == nil { // nobody was shown the phrase
			err = errors.Join(err, keyring.Discard(keys))
		}
		return "", err
	}
	return phrase, nil
}

// JoinOptions say how to make a home for a space that exists already.
type JoinOptions struct {
	InitOptions
	Relay string       // its address
	HTTP  *http.Client // nil: the usual
}

// Join makes a home for a new device of a wearer who already has another device: see
// [exchange.Join]. It does not keep the relay's address, which belongs to the
// configuration.
func Join(ctx context.Context, cfg config.Config, opt JoinOptions, code pairing.Code, same func(words []string, other string) bool) (exchange.Joined, error) {
	if err := free(&cfg); err != nil {
		return exchange.Joined{}, err
	}
	return exchange.Join(ctx, exchange.Door{URL: opt.Relay, HTTP: opt.HTTP}, opt.make(cfg), code, same)
}

// Recover makes a home from the phrase alone, as a new device of the space: see
// [exchange.Recover].
func Recover(ctx context.Context, cfg config.Config, opt JoinOptions, phrase string) (exchange.Joined, error) {
	if err := free(&cfg); err != nil {
		return exchange.Joined{}, err
	}
	return exchange.Recover(ctx, exchange.Door{URL: opt.Relay, HTTP: opt.HTTP}, opt.make(cfg), phrase)
}

func (o *InitOptions) make(cfg config.Config) exchange.Make {
	return func(j *keyring.Joining) error {
		_, err := initHome(cfg, *o, j)
		return err
	}
}

// free checks that there is no home here yet.
func free(cfg *config.Config) error {
	if _, err := os.Stat(homePath(cfg, keysDir)); err == nil {
		return fmt.Errorf("%w: %s", ErrHomeExists, cfg.Home)
	}
	return nil
}
