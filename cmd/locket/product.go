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
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
)

// product is what the command is built on when it is not being tested.
func product() deps {
	return deps{
		environ: os.Environ(),
		initHome: func(cfg config.Config, o initOptions) (string, error) {
			phrase, err := node.Init(cfg, node.InitOptions{
				Passphrase: string(o.passphrase), KeyFile: o.keyFile, Keyring: o.keyring, Language: keyring.Language(o.language),
			})
			if errors.Is(err, node.ErrHomeExists) {
				return "", fmt.Errorf("%w: %s", errHomeExists, cfg.Home)
			}
			return phrase, err
		},
		openNode: func(cfg config.Config, log *slog.Logger) (openNode, error) {
			n, err := node.Open(cfg, node.Options{Log: log, Version: version().String()})
			if errors.Is(err, node.ErrNoHome) {
				return nil, fmt.Errorf("%w: %s", errNoHome, cfg.Home)
			}
			if err != nil {
				return nil, err
			}
			return n, nil
		},
		demo: func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error {
			return demo.Run(ctx, out, demo.Options{JSON: json, Seed: seed, Home: home, Version: version().String()})
		},
	}
}
