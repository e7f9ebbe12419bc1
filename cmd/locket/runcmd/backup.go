package runcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// backsUp gives what makes backups by schedule until its context ends; where the
// settings name no place, that is nothing.
func backsUp(a *cli.App, cfg *config.Config, services serve.Services, log *slog.Logger) func(context.Context) {
	c := &cfg.Backup
	if c.To == "" {
		return func(context.Context) {}
	}
	once := func(ctx context.Context) (w backup.Written, vault bool, err error) {
		s, err := services.Diagnostics.Status(ctx)
		if err == nil && s.Locked {
			err = memory.ErrLocked
		}
		if err != nil {
			return w, false, err
		}
		// A folder that is not there may lie on a disk that is not: none is begun.
		f, err := cli.OpenBackup(a, ctx, c.To, c.PassphraseFile)
		if err != nil {
			return w, false, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if vault = !c.WithoutVault; vault && s.VaultUntil.Before(time.Now().Add(time.Minute)) {
			err := services.Vault.UnlockVault(ctx, "", time.Now().Add(time.Minute))
			if vault = err == nil; err != nil && !errors.Is(err, serve.ErrPassphrase) { // of a passphrase that a person types
				return w, false, err
			}
		}
		w, err = f.Write(ctx, services.Exchange.Export(ctx, serve.ExportOptions{Secrets: vault}), backup.WriteOptions{Spool: cfg.Home, Vault: c.WithoutVault})
		if errors.Is(err, backup.ErrVault) {
			err = fmt.Errorf("%w: make it by hand with locket backup, or set backup.without_vault", err)
		}
		return w, vault, err
	}
	s := &backup.Schedule{Home: cfg.Home, To: c.To, Every: c.Every.Std(), Do: once, Log: log}
	return s.Run
}
