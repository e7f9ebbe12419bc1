package node

import (
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/config"
)

// ringOf opens the keys of a home that no process has open.
func ringOf(t *testing.T, cfg config.Config) *keyring.Ring {
	t.Helper()
	locked, err := keyring.Open(filepath.Join(cfg.Home, keysDir))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := locked.Unlock(t.Context(), keyring.KeyFile(keyring.DefaultKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}
