package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/serve/servetest"
)

// testPhrase is what every home of these tests gives.
var testPhrase = strings.Repeat("alpha bravo coral delta ", 6)

// testDeps has homes of servetest.Node: a file of its state, one of its
// passphrase, and a lock.
func testDeps() deps {
	return deps{environ: os.Environ(), restart: restart, initHome: initTestHome, openNode: openTestHome, lookHome: lookTestHome, demo: func(_ context.Context, out io.Writer, json bool, seed uint64, _ string) error {
		fmt.Fprintln(out, "demo", json, seed)
		return nil
	}}
}

// lookTestHome finds nothing: the test home has no files of the node's. What is
// found in those that have is tested in package node.
func lookTestHome(context.Context, config.Config, node.Ask) ([]node.RepairedItem, error) {
	return nil, nil
}

func initTestHome(cfg config.Config, o initOptions) (string, error) {
	if _, err := os.Stat(filepath.Join(cfg.Home, "keys")); err == nil {
		return "", fmt.Errorf("%w: %s", errHomeExists, cfg.Home)
	}
	if err := os.MkdirAll(filepath.Join(cfg.Home, "keys"), 0o700); err != nil {
		return "", err
	}
	pass := string(o.passphrase)
	if o.keyFile {
		pass = ""
	}
	return strings.TrimSpace(testPhrase), os.WriteFile(filepath.Join(cfg.Home, "keys", "passphrase"), []byte(pass), 0o600)
}

type testHome struct {
	*servetest.Node
	cfg  config.Config
	lock string
}

func openTestHome(cfg config.Config, _ *slog.Logger) (openNode, error) {
	pass, err := os.ReadFile(filepath.Join(cfg.Home, "keys", "passphrase"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", errNoHome, cfg.Home)
	}
	if err != nil {
		return nil, err
	}
	lock := filepath.Join(cfg.Home, "lock")
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", memory.ErrInUse, cfg.Home)
	}
	f.Close()
	n := servetest.NewNode()
	n.Wearer, n.Passphrase, n.HomeDir, n.Began = cfg.Wearer, serve.Secret(pass), cfg.Home, time.Now()
	if err := n.Load(filepath.Join(cfg.Home, "state.json")); err != nil {
		return nil, err
	}
	return &testHome{n, cfg, lock}, n.Lock(context.Background())
}

// Drain has nothing to do: this home takes no events.
func (h *testHome) Drain(context.Context) error { return nil }

func (h *testHome) UnlockAsConfigured(ctx context.Context) (bool, error) {
	pass := ""
	if file := h.cfg.Unlock.PassphraseFile; file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		pass = strings.TrimRight(string(b), "\n")
	} else if h.Passphrase != "" {
		return false, nil
	}
	return true, h.Unlock(ctx, serve.Secret(pass))
}

func (h *testHome) Start(context.Context) error { h.Daemon = true; return nil }
func (h *testHome) Stop(context.Context) error  { h.Daemon = false; return nil }

func (h *testHome) Close() error {
	return errors.Join(h.Save(filepath.Join(h.cfg.Home, "state.json")), os.Remove(h.lock))
}
