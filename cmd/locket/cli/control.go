package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *App) PauseText(p serve.PauseState) string {
	why := ""
	if p.Why != "" {
		why = ", " + p.Why
	}
	switch {
	case !p.Paused:
		return "Events are taken."
	case p.Until.IsZero():
		return a.WithHome("Paused until locket resume") + why + "."
	}
	return "Paused until " + a.ShowTime(p.Until) + why + "."
}

// WithDaemon is for commands that need a running daemon.
func (a *App) WithDaemon(ctx context.Context, f func(c *serve.Client) error) error {
	n, c, err := a.Open(ctx) // waits for a daemon that is just starting
	if err != nil {
		return err
	}
	if c == nil {
		return errors.Join(errors.New(a.WithHomef("no daemon runs on %s: start it with locket run", a.Settings.Home)), n.Close())
	}
	defer c.Close()
	return f(c)
}

func ReadTTL(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(s)
	if err != nil {
		return 0, UsageError{fmt.Errorf("--for: %w", err)}
	}
	if d.Std() > serve.MaxVaultTTL {
		return 0, Usagef("--for: at most %s", config.Duration(serve.MaxVaultTTL))
	}
	return d.Std(), nil
}

func (a *App) OpenVault(ctx context.Context, cl *serve.Client, file string, ttl time.Duration) (serve.UnlockState, error) {
	return a.UnlockWith(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.UnlockVault(ctx, pass, ttl) })
}

// UnlockWith first tries without a passphrase, which is enough if a key file or the OS keyring
// opens the node. Otherwise it asks for the passphrase.
func (a *App) UnlockWith(file string, open func(pass serve.Secret) (serve.UnlockState, error)) (serve.UnlockState, error) {
	if file == "" {
		if s, err := open(""); !errors.Is(err, serve.ErrPassphrase) {
			return s, err
		}
	}
	pass, err := a.Passphrase(file, "Passphrase: ")
	if err != nil {
		return serve.UnlockState{}, err
	}
	return open(pass)
}
