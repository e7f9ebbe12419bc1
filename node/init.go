package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/config"
)

// InitOptions say how a new home's keys are opened; at least one is needed.
type InitOptions struct {
	Passphrase string
	Work       int  // of scrypt, as keyring.CreateOptions has it
	KeyFile    bool // a key file in the home itself: anyone with the disk can open it
	Keyring    bool // the OS keyring
	Language   keyring.Language
}

// ErrHomeExists: there is a node in this folder already.
var ErrHomeExists = errors.New("there is a node here already")

// Init makes a home and its keys, and gives the recovery phrase, which is
// kept nowhere.
func Init(cfg config.Config, opt InitOptions) (phrase string, err error) {
	return initHome(cfg, opt, nil)
}

func initHome(cfg config.Config, opt InitOptions, join *keyring.Joining) (phrase string, err error) {
	keys := filepath.Join(cfg.Home, keysDir)
	if _, err := os.Stat(keys); err == nil {
		return "", fmt.Errorf("%w: %s", ErrHomeExists, cfg.Home)
	}
	if err := atomicfile.MkdirAll(cfg.Home); err != nil {
		return "", fmt.Errorf("make home: %w", err)
	}
	c := keyring.CreateOptions{Passphrase: opt.Passphrase, Work: opt.Work, Language: opt.Language, OSKeyring: opt.Keyring, Name: called(), Join: join}
	if opt.KeyFile {
		c.KeyFile = keyring.DefaultKeyFile
	}
	ring, phrase, err := keyring.Create(keys, c)
	if err != nil {
		return "", err
	}
	return phrase, ring.Close()
}
