package runcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/sync/pairing"
	"github.com/locket-dev/locket/wasm"
)

// Product returns what the command is built on. cache is the folder of compiled plugins, look is where
// engines are looked for, and work the cost of trying a passphrase (node.InitOptions.Work). Only tests
// set them.
func Product(cache string, look engines.Places, work int) cli.Deps {
	return cli.Deps{
		Environ: os.Environ(),
		Restart: restart,
		InitHome: func(cfg config.Config, o cli.InitOptions) (string, error) {
			phrase, err := node.Init(cfg, initOptions(o, work))
			return phrase, homeError(err, cfg)
		},
		JoinHome: func(ctx context.Context, cfg config.Config, o cli.InitOptions, relay string, code pairing.Code, same func([]string, string) bool) (cli.Joined, error) {
			j, err := node.Join(ctx, cfg, node.JoinOptions{InitOptions: initOptions(o, work), Relay: relay}, code, same)
			return cli.Joined{Space: j.Space.String(), Relay: j.Relay, Wearer: j.Wearer}, homeError(err, cfg)
		},
		RecoverHome: func(ctx context.Context, cfg config.Config, o cli.InitOptions, relay, phrase string) (cli.Joined, error) {
			j, err := node.Recover(ctx, cfg, node.JoinOptions{InitOptions: initOptions(o, work), Relay: relay}, phrase)
			return cli.Joined{Space: j.Space.String(), Relay: j.Relay, Wearer: j.Wearer}, homeError(err, cfg)
		},
		OpenNode: func(cfg config.Config, log *slog.Logger, spans span.Sink) (cli.OpenNode, error) {
			worker, err := wasm.SelfWorker()
			if err != nil {
				return nil, err
			}
			n, err := node.Open(cfg, node.Options{Places: look, Log: log, Version: cli.ThisBuild().String(), Worker: worker, Cache: cache, Ready: cli.ReadyPlugins, Spans: spans})
			if errors.Is(err, node.ErrNoHome) {
				return nil, fmt.Errorf("%w: %s", cli.ErrNoHome, cfg.Home)
			}
			if err != nil {
				return nil, err
			}
			return n, nil
		},
		LookHome: node.Inspect,
		RepairHome: func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error) {
			worker, err := wasm.SelfWorker()
			if err != nil {
				return node.Repaired{}, err
			}
			return node.Repair(ctx, cfg, node.Options{Log: log, Version: cli.ThisBuild().String(), Worker: worker, Cache: cache, Ready: cli.ReadyPlugins}, ask)
		},
		Demo: func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error {
			return demo.Run(ctx, out, demo.Options{JSON: json, Seed: seed, Home: home, Version: cli.ThisBuild().String()})
		},
	}
}

func homeError(err error, cfg config.Config) error {
	if errors.Is(err, node.ErrHomeExists) {
		return fmt.Errorf("%w: %s", cli.ErrHomeExists, cfg.Home)
	}
	return err
}

// initOptions returns the options for the node. work is the cost of trying a passphrase.
func initOptions(o cli.InitOptions, work int) node.InitOptions {
	return node.InitOptions{Work: work, Passphrase: string(o.Passphrase), KeyFile: o.KeyFile, Keyring: o.Keyring, Language: keyring.Language(o.Language)}
}
