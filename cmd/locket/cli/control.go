package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *App) PauseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pause [DURATION]", Short: "Stop taking events", Args: Between(0, -1, ""),
		Long:    "What the wearables send meanwhile is dropped, and counted. Without a duration\nuntil locket resume. To end the daemon itself, see locket run --help.",
		Example: "  locket pause 2h",
		RunE: func(cmd *cobra.Command, args []string) error {
			var d config.Duration
			if len(args) > 0 {
				var err error
				if d, err = config.ParseDuration(strings.Join(args, " ")); err != nil {
					return UsageError{err}
				}
				if d == 0 {
					return Usagef("a pause of 0 is none")
				}
			}
			return a.With(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Pause(cmd.Context(), d.Std())
				return a.Printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

func (a *App) PauseText(p serve.PauseState) string {
	why := ""
	if p.Why != "" {
		why = ", " + p.Why
	}
	switch {
	case !p.Paused:
		return "Events are taken."
	case p.Until.IsZero():
		return a.Here("Paused until locket resume") + why + "."
	}
	return "Paused until " + a.When(p.Until) + why + "."
}

func (a *App) ResumeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Take events again", Args: Nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Resume(cmd.Context())
				return a.Printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.PauseText(p)) })
			})
		},
	}
}

// WithDaemon is for commands that make no sense without a daemon.
func (a *App) WithDaemon(ctx context.Context, f func(c *serve.Client) error) error {
	n, c, err := a.Open(ctx) // which waits for one that is just starting
	if err != nil {
		return err
	}
	if c == nil {
		return errors.Join(errors.New(a.Heref("no daemon runs on %s: start it with locket run", a.Settings.Home)), n.Close())
	}
	defer c.Close()
	return f(c)
}

func (a *App) LockCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lock", Short: "Make the daemon drop its keys", Args: Nothing(),
		Long: `The daemon restarts, so that nothing of its keys and memories is left in any process. The
command returns when it has. The locked daemon still takes events and seals them, and
works through them after locket unlock. Wearables connect again by themselves.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				before, err := cl.Status(cmd.Context())
				if err != nil {
					return err
				}
				s, err := cl.Lock(cmd.Context())
				if err == nil && !before.Locked {
					err = a.began(cmd.Context(), cl, before.Started)
				}
				return a.Printed(err, s, func(w io.Writer) { fmt.Fprintln(w, "Locked. Events are taken all the same.") })
			})
		},
	}
}

// began waits until a daemon answers that is another one than the one that
// started then.
func (a *App) began(ctx context.Context, cl *serve.Client, then time.Time) error {
	for end := time.Now().Add(lockPatience); ; {
		s, err := cl.Status(ctx) // nobody answers for a moment
		if err == nil && !s.Started.Equal(then) {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("the keys are dropped, but the daemon did not start again within %v", lockPatience), err)
		}
		if !wait.For(ctx, LockPoll) {
			return ctx.Err()
		}
	}
}

func (a *App) UnlockCommand() *cobra.Command {
	var file, ttl string
	var vault bool
	c := &cobra.Command{
		Use: "unlock", Short: "Give the daemon its keys", Args: Nothing(),
		Long: `Uses the key file, the OS keyring or the passphrase file that the settings name. Otherwise
it asks for the passphrase.`,
		Example: `  locket unlock
  locket unlock --vault --for 10m`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := ReadTTL(ttl)
			if err != nil {
				return err
			}
			if ttl != "" && !vault {
				return Usagef("--for is for --vault")
			}
			return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				if vault {
					s, err := a.OpenVault(cmd.Context(), cl, file, d)
					return a.Printed(err, s, func(w io.Writer) { fmt.Fprintf(w, "The vault is open until %s.\n", a.When(s.VaultUntil)) })
				}
				s, err := a.opened(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.Unlock(cmd.Context(), pass) })
				return a.Printed(err, s, func(w io.Writer) { fmt.Fprintln(w, "Unlocked.") })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	f.BoolVar(&vault, "vault", false, "open the vault, for a while")
	f.StringVar(&ttl, "for", "", "with --vault: how long; 5m unless said, at most 1h")
	return c
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
	return a.opened(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.UnlockVault(ctx, pass, ttl) })
}

// opened tries without a passphrase, which will do where a key file or the OS
// keyring opens the node, and asks for it if need be.
func (a *App) opened(file string, open func(pass serve.Secret) (serve.UnlockState, error)) (serve.UnlockState, error) {
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
