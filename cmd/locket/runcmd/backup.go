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

// backsUp returns a function that makes backups by schedule until its context ends. Without a place
// in the settings the function does nothing.
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
		// If the folder does not exist, its disk may not be mounted: do not begin a new backup.
		f, err := cli.OpenBackup(a, ctx, c.To, c.PassphraseFile)
		if err != nil {
			return w, false, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if vault = !c.WithoutVault; vault && s.VaultUntil.Before(time.Now().Add(time.Minute)) {
			err := services.Vault.UnlockVault(ctx, "", time.Now().Add(time.Minute))
			if vault = err == nil; err != nil && !errors.Is(err, serve.ErrPassphrase) { // if a person has to type the passphrase
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
