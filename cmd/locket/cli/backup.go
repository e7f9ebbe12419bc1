package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *App) BackupPlace(dir string) (backup.Place, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	return backup.At(dir, l.Home, a.Environment)
}

// OpenBackup opens a backup that is there.
func (a *App) OpenBackup(ctx context.Context, dir, file string) (*backup.Folder, error) {
	at, err := a.BackupPlace(dir)
	if err != nil {
		return nil, err
	}
	there, err := backup.Has(ctx, at)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, fmt.Errorf("%w: %s", backup.ErrNone, at)
	}
	pass, err := a.Passphrase(file, "Passphrase of the backup: ")
	if err != nil {
		return nil, err
	}
	f, err := backup.Open(ctx, at, string(pass))
	if errors.Is(err, seal.ErrFile) {
		return nil, fmt.Errorf("backup: this is not its passphrase, or key.age is damaged: %w", seal.ErrFile)
	}
	return f, err
}

// backsUp gives what makes backups by schedule until its context ends; where the
// settings name no place, that is nothing.
func (a *App) backsUp(cfg *config.Config, services serve.Services, log *slog.Logger) func(context.Context) {
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
		f, err := a.OpenBackup(ctx, c.To, c.PassphraseFile)
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
