package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/memory/store"
)

// records writes every version of every record in a home in which a day was played.
func records(dir string, seed uint64) (err error) {
	ctx := context.Background()
	home, err := os.MkdirTemp("", "locket-dictionary-home-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	err = demo.Run(ctx, io.Discard, demo.Options{Seed: seed, Home: filepath.Join(home, "node"), Cache: filepath.Join(os.TempDir(), "locket-dictionary-plugins")})
	if err != nil && !errors.Is(err, demo.ErrWrong) { // a day with wrong results is good enough
		return err
	}
	locked, err := keyring.Open(filepath.Join(home, "node", "keys"))
	if err != nil {
		return err
	}
	ring, err := locked.Unlock(ctx, keyring.KeyFile(keyring.DefaultKeyFile))
	if err != nil {
		return err
	}
	defer ring.Close()
	n := 0
	return store.FindRemnants(filepath.Join(home, "node", "store"), ring.StoreKey(), func(r store.Remnant) error {
		kind, _, _ := strings.Cut(r.What, " ")
		if len(r.Data) == 0 || !slices.Contains([]string{"memory", "assertion", "utterance", "meta", "change", "refusal", "event", "outbox", "document"}, kind) {
			return nil
		}
		n++
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d-%s", seed, n, kind)), r.Data, 0o600)
	})
}
