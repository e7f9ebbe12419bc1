package homecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/serve"
)

func LockCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "lock", Short: "Make the daemon drop its keys", Args: cli.NoArgs(),
		Long: `Restarts the daemon, so that no process holds its keys or memories any more. The command
returns when the daemon has restarted. The locked daemon still accepts events and seals
them, and processes them after locket unlock. Wearables reconnect by themselves.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				before, err := cl.Status(cmd.Context())
				if err != nil {
					return err
				}
				s, err := cl.Lock(cmd.Context())
				if err == nil && !before.Locked {
					err = began(a, cmd.Context(), cl, before.Started)
				}
				return a.PrintUnless(err, s, func(w io.Writer) { fmt.Fprintln(w, "Locked. Events are still accepted.") })
			})
		},
	}
}

// began waits until a daemon answers that did not start at then.
func began(a *cli.App, ctx context.Context, cl *serve.Client, then time.Time) error {
	for end := time.Now().Add(cli.LockPatience); ; {
		s, err := cl.Status(ctx) // for a moment, nobody answers
		if err == nil && !s.Started.Equal(then) {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("the keys are dropped, but the daemon did not restart within %v", cli.LockPatience), err)
		}
		if !wait.For(ctx, cli.LockPoll) {
			return ctx.Err()
		}
	}
}

func UnlockCommand(a *cli.App) *cobra.Command {
	var file, ttl string
	var vault bool
	c := &cobra.Command{
		Use: "unlock", Short: "Give the daemon its keys", Args: cli.NoArgs(),
		Long: `Uses the key file, the OS keyring or the passphrase file that the settings name. Otherwise
it asks for the passphrase.`,
		Example: `  locket unlock
  locket unlock --vault --for 10m`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := cli.ReadTTL(ttl)
			if err != nil {
				return err
			}
			if ttl != "" && !vault {
				return cli.Usagef("--for needs --vault")
			}
			return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				if vault {
					s, err := a.OpenVault(cmd.Context(), cl, file, d)
					return a.PrintUnless(err, s, func(w io.Writer) { fmt.Fprintf(w, "The vault is open until %s.\n", a.ShowTime(s.VaultUntil)) })
				}
				s, err := a.UnlockWith(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.Unlock(cmd.Context(), pass) })
				return a.PrintUnless(err, s, func(w io.Writer) { fmt.Fprintln(w, "Unlocked.") })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	f.BoolVar(&vault, "vault", false, "open the vault for a limited time")
	f.StringVar(&ttl, "for", "", "with --vault: how long; default 5m, at most 1h")
	return c
}
