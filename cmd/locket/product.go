package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/sync/pairing"
	"github.com/locket-dev/locket/wasm"
)

// readyPlugins is the folder in which packages put compiled plugins for all homes of the machine.
const readyPlugins = "/var/cache/locket/plugins"

// product is what the command is built on. cache is the folder of compiled plugins,
// and work what a passphrase costs to try (node.InitOptions.Work); both are only set
// by tests.
func product(cache string, work int) deps {
	return deps{
		environ: os.Environ(),
		restart: restart,
		initHome: func(cfg config.Config, o initOptions) (string, error) {
			phrase, err := node.Init(cfg, o.forNode(work))
			return phrase, homeError(err, cfg)
		},
		joinHome: func(ctx context.Context, cfg config.Config, o initOptions, relay string, code pairing.Code, same func([]string, string) bool) (joined, error) {
			j, err := node.Join(ctx, cfg, node.JoinOptions{InitOptions: o.forNode(work), Relay: relay}, code, same)
			return joined{j.Space.String(), j.Relay, j.Wearer}, homeError(err, cfg)
		},
		recoverHome: func(ctx context.Context, cfg config.Config, o initOptions, relay, phrase string) (joined, error) {
			j, err := node.Recover(ctx, cfg, node.JoinOptions{InitOptions: o.forNode(work), Relay: relay}, phrase)
			return joined{j.Space.String(), j.Relay, j.Wearer}, homeError(err, cfg)
		},
		openNode: func(cfg config.Config, log *slog.Logger, spans span.Sink) (openNode, error) {
			worker, err := wasm.SelfWorker()
			if err != nil {
				return nil, err
			}
			n, err := node.Open(cfg, node.Options{Log: log, Version: thisBuild().String(), Worker: worker, Cache: cache, Ready: readyPlugins, Spans: spans})
			if errors.Is(err, node.ErrNoHome) {
				return nil, fmt.Errorf("%w: %s", errNoHome, cfg.Home)
			}
			if err != nil {
				return nil, err
			}
			return n, nil
		},
		lookHome: node.Look,
		repairHome: func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error) {
			worker, err := wasm.SelfWorker()
			if err != nil {
				return node.Repaired{}, err
			}
			return node.Repair(ctx, cfg, node.Options{Log: log, Version: thisBuild().String(), Worker: worker, Cache: cache, Ready: readyPlugins}, ask)
		},
		demo: func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error {
			return demo.Run(ctx, out, demo.Options{JSON: json, Seed: seed, Home: home, Version: thisBuild().String()})
		},
	}
}

func (o *initOptions) forNode(work int) node.InitOptions {
	return node.InitOptions{Work: work, Passphrase: string(o.passphrase), KeyFile: o.keyFile, Keyring: o.keyring, Language: keyring.Language(o.language)}
}

func homeError(err error, cfg config.Config) error {
	if errors.Is(err, node.ErrHomeExists) {
		return fmt.Errorf("%w: %s", errHomeExists, cfg.Home)
	}
	return err
}
