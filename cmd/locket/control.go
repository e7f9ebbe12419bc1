package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pause [DURATION]", Short: "Stop taking events", Args: between(0, -1, ""),
		Long:    "What the wearables send meanwhile is dropped, and counted. Without a duration\nuntil locket resume. To end the daemon itself, see locket run --help.",
		Example: "  locket pause 2h",
		RunE: func(cmd *cobra.Command, args []string) error {
			var d config.Duration
			if len(args) > 0 {
				var err error
				if d, err = config.ParseDuration(strings.Join(args, " ")); err != nil {
					return usageError{err}
				}
				if d == 0 {
					return usagef("a pause of 0 is none")
				}
			}
			return a.with(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Pause(cmd.Context(), d.Std())
				return a.printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.pauseText(p)) })
			})
		},
	}
}

func (a *app) pauseText(p serve.PauseState) string {
	why := ""
	if p.Why != "" {
		why = ", " + p.Why
	}
	switch {
	case !p.Paused:
		return "Events are taken."
	case p.Until.IsZero():
		return "Paused until locket resume" + why + "."
	}
	return "Paused until " + a.when(p.Until) + why + "."
}

func (a *app) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Take events again", Args: nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), false, func(cl *serve.Client) error {
				p, err := cl.Resume(cmd.Context())
				return a.printed(err, p, func(w io.Writer) { fmt.Fprintln(w, a.pauseText(p)) })
			})
		},
	}
}

// withDaemon is for commands that make no sense without a daemon.
func (a *app) withDaemon(ctx context.Context, f func(c *serve.Client) error) error {
	n, c, err := a.open(ctx) // which waits for one that is just starting
	if err != nil {
		return err
	}
	if c == nil {
		return errors.Join(fmt.Errorf("no daemon runs on %s: start it with locket run", a.settings.Home), n.Close())
	}
	defer c.Close()
	return f(c)
}

func (a *app) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lock", Short: "Make the daemon drop its keys", Args: nothing(),
		Long: `The daemon restarts, so that nothing of its keys and memories is left in any process. The
command returns when it has. The locked daemon still takes events and seals them, and
works through them after locket unlock. Wearables connect again by themselves.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withDaemon(cmd.Context(), func(cl *serve.Client) error {
				before, err := cl.Status(cmd.Context())
				if err != nil {
					return err
				}
				s, err := cl.Lock(cmd.Context())
				if err == nil && !before.Locked {
					err = a.began(cmd.Context(), cl, before.Started)
				}
				return a.printed(err, s, func(w io.Writer) { fmt.Fprintln(w, "Locked. Events are taken all the same.") })
			})
		},
	}
}

// began waits until a daemon answers that is another one than the one that
// started then.
func (a *app) began(ctx context.Context, cl *serve.Client, then time.Time) error {
	for end := time.Now().Add(lockPatience); ; {
		s, err := cl.Status(ctx) // nobody answers for a moment
		if err == nil && !s.Started.Equal(then) {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("the keys are dropped, but the daemon did not start again within %v", lockPatience), err)
		}
		if !wait.For(ctx, lockPoll) {
			return ctx.Err()
		}
	}
}

func (a *app) unlockCommand() *cobra.Command {
	var file, ttl string
	var vault bool
	c := &cobra.Command{
		Use: "unlock", Short: "Give the daemon its keys", Args: nothing(),
		Long: `Uses the key file, the OS keyring or the passphrase file that the settings name. Otherwise
it asks for the passphrase.`,
		Example: `  locket unlock
  locket unlock --vault --for 10m`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := readTTL(ttl)
			if err != nil {
				return err
			}
			if ttl != "" && !vault {
				return usagef("--for is for --vault")
			}
			return a.withDaemon(cmd.Context(), func(cl *serve.Client) error {
				if vault {
					s, err := a.openVault(cmd.Context(), cl, file, d)
					return a.printed(err, s, func(w io.Writer) { fmt.Fprintf(w, "The vault is open until %s.\n", a.when(s.VaultUntil)) })
				}
				s, err := a.opened(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.Unlock(cmd.Context(), pass) })
				return a.printed(err, s, func(w io.Writer) { fmt.Fprintln(w, "Unlocked.") })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	f.BoolVar(&vault, "vault", false, "open the vault, for a while")
	f.StringVar(&ttl, "for", "", "with --vault: how long; 5m unless said, at most 1h")
	return c
}

func readTTL(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := config.ParseDuration(s)
	if err != nil {
		return 0, usageError{fmt.Errorf("--for: %w", err)}
	}
	if d.Std() > serve.MaxVaultTTL {
		return 0, usagef("--for: at most %s", config.Duration(serve.MaxVaultTTL))
	}
	return d.Std(), nil
}

func (a *app) openVault(ctx context.Context, cl *serve.Client, file string, ttl time.Duration) (serve.UnlockState, error) {
	return a.opened(file, func(pass serve.Secret) (serve.UnlockState, error) { return cl.UnlockVault(ctx, pass, ttl) })
}

// opened tries without a passphrase, which will do where a key file or the OS
// keyring opens the node, and asks for it if need be.
func (a *app) opened(file string, open func(pass serve.Secret) (serve.UnlockState, error)) (serve.UnlockState, error) {
	if file == "" {
		if s, err := open(""); !errors.Is(err, serve.ErrPassphrase) {
			return s, err
		}
	}
	pass, err := a.passphrase(file, "Passphrase: ")
	if err != nil {
		return serve.UnlockState{}, err
	}
	return open(pass)
}

func (a *app) vaultCommand() *cobra.Command {
	var file, ttl string
	group := &cobra.Command{
		Use: "vault", Short: "List and reveal secrets", Args: nothing(),
		Long: `Lists what is in the vault: what each secret is for, not the secret. One of them is
shown by locket vault show.`,
		Example: `  locket vault
  locket vault show 3f7k9m2xqa`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listVault(cmd.Context()) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List what is in the vault, without the secrets", Args: nothing(),
		RunE: group.RunE,
	}
	show := &cobra.Command{
		Use: "show ID|LABEL", Short: "Reveal a secret", Args: between(1, 1, "the id or the label"),
		Long: "Opens the vault for as long as it takes to show the secret, or for --for. That it\nwas shown is noted in the memory's history. A label, or a part of one, has to name\none secret alone.",
		Example: `  locket vault
  locket vault show 3f7k9m2xqa
  locket vault show "Wi-Fi password"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := readTTL(ttl)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				id, err := secretNamed(cmd.Context(), cl, args[0])
				if err != nil {
					return err
				}
				r, err := cl.Reveal(cmd.Context(), id)
				if errors.Is(err, serve.ErrVaultLocked) {
					if _, err := a.openVault(cmd.Context(), cl, file, max(d, vaultShow)); err != nil {
						return err
					}
					r, err = cl.Reveal(cmd.Context(), id)
				}
				if errors.Is(err, memory.ErrNotFound) {
					err = noSecret(args[0])
				}
				if errors.Is(err, memory.ErrInvalid) { // the rest says it in the wearer's words
					err = errors.New(strings.TrimPrefix(err.Error(), memory.ErrInvalid.Error()+": "))
				}
				return a.printed(err, r, func(w io.Writer) {
					fmt.Fprintf(w, "%s (%s)\n%s\n", oneLine(r.Label), r.EntryType, oneLine(string(r.Secret)))
				})
			})
		},
	}
	show.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	show.Flags().StringVar(&ttl, "for", "", "leave the vault of the daemon open for so long")
	group.AddCommand(list, show, a.vaultAskCommand(), a.vaultLogCommand(), a.vaultRecoverCommand())
	return group
}

// idLike is what an id may be, as a whole or from its beginning.
var idLike = regexp.MustCompile(`^[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{4,26}$`)

// secretNamed gives the id of the secret whose label is text, or else has it. What no
// label has is given back, as an id. Several are an error that lists them.
func secretNamed(ctx context.Context, cl *serve.Client, text string) (string, error) {
	var same, part []memory.Memory
	name := memory.Normal(text)
	for m, err := range cl.All(ctx, serve.ListQuery{Type: memory.Vault}) {
		if err != nil {
			return "", err
		}
		switch label := memory.Normal(m.Text); {
		case label == name:
			same = append(same, m)
		case strings.Contains(label, name):
			part = append(part, m)
		}
	}
	if len(same) > 0 {
		part = same
	}
	switch len(part) {
	case 0:
		if !idLike.MatchString(text) {
			return "", noSecret(text)
		}
		return text, nil
	case 1:
		return part[0].ID.String(), nil
	}
	var b strings.Builder
	for _, m := range part {
		fmt.Fprintf(&b, "\n  %s  %s (%s)", shortID(m.ID), oneLine(m.Fields.Vault.Label), m.Fields.Vault.EntryType)
	}
	return "", fmt.Errorf("%s have that label; show one by its id:%s", plural(len(part), "secret", "secrets"), b.String())
}

// noSecret says that the vault has no secret of that label or id.
func noSecret(text string) error {
	return advisedError{fmt.Errorf("%w: no secret has %q in its label, or an id that begins so", memory.ErrNotFound, text), "See what there is: locket vault list"}
}

// listVault lists what is in the vault; the vault itself stays closed.
func (a *app) listVault(ctx context.Context) error {
	return a.with(ctx, true, func(cl *serve.Client) error {
		n, err := a.rows(cl.All(ctx, serve.ListQuery{Type: memory.Vault}), 0)
		if err == nil && n == 0 && !a.json {
			fmt.Fprintln(a.stderr, "The vault is empty.")
			err = a.lessHere(ctx, cl, "Your other devices keep their secrets to themselves, unless sync.vault = true is set there.")
		}
		return err
	})
}

// lessHere says why nothing was found on a device, although others may have it: it has not
// synced yet, or else the reason that is given.
func (a *app) lessHere(ctx context.Context, cl *serve.Client, otherwise string) error {
	s, err := cl.SyncStatus(ctx)
	switch {
	case err != nil || s.Relay == "" && !s.Apart:
	case s.Synced.IsZero():
		fmt.Fprintln(a.stderr, "Nothing has come from your other devices yet. To fetch it now: "+a.here("locket sync --now"))
	case otherwise != "":
		fmt.Fprintln(a.stderr, otherwise)
	}
	return err
}

func (a *app) vaultLogCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "log", Short: "List who read which secret, newest first", Args: nothing(),
		Long: "The log is of this node. Each device has its own.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 || limit > 1000 {
				return usagef("-n %d: want 1 to 1000", limit)
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				v, err := cl.VaultLog(cmd.Context(), limit)
				err = rows(a, err, v.Reads, func(w io.Writer, r *serve.VaultRead) {
					fmt.Fprintf(w, "%s  %s  %s (%s), read by %s\n", a.paint.dim(a.when(r.At)), a.paint.dim(shortID(r.ID)), oneLine(r.Label), r.EntryType, sourceText(r.By))
				}, "Nobody has read a secret yet.")
				if err == nil && !a.json && !v.Exported.IsZero() {
					fmt.Fprintf(a.stdout, "An export or backup last took secrets along on %s.\n", a.when(v.Exported))
				}
				return err
			})
		},
	}
	limitFlag(c.Flags(), &limit, 0, "at most this `count`; 50 unless said")
	return c
}

// vaultShow is long enough for the one request.
const vaultShow = 10 * time.Second

func (a *app) wearableCommand() *cobra.Command {
	group := &cobra.Command{
		Use: "wearable", Aliases: []string{"device"}, Short: "Give wearables credentials for the MQTT broker of this node", RunE: a.needsCommand,
		Long: `A wearable sends events, and holds none of your keys. It may write to its own topics
alone. Your other devices, which hold your keys and memories, are under locket devices.`,
	}
	var r serve.AddDeviceRequest
	add := &cobra.Command{
		Use: "add NAME", Short: "Make credentials for a wearable, shown this once", Args: between(1, 1, "the name"),
		Long: `The name is its client id, too. Other software that comes to this node's broker has the
topics that you name, to publish on or to read, and no others: + stands for one level, #
for the rest. What is published there goes to those who may read it, and not into memory;
a bridge takes it there (locket-bridge).`,
		Example: `  locket wearable add glasses
  locket wearable add ann-phone --publish owntracks/ann/#
  locket wearable add bridge --read owntracks/#`,
		RunE: a.call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			r.Name = args[0]
			d, err := cl.AddLogin(cmd.Context(), r)
			if errors.Is(err, serve.ErrConflict) {
				err = advisedError{err, a.shownOnce(r.Name)}
			}
			return a.printed(err, d, func(w io.Writer) {
				for _, l := range [][2]string{{"broker", d.Broker}, {"client id", d.ClientID}, {"user name", d.Username}, {"password", string(d.Password)}, {"topics", d.Topics + "…"}} {
					fmt.Fprintf(w, "%-10s %s\n", l[0], l[1])
				}
				for what, list := range topicsOf(d.Publish, d.Read) {
					fmt.Fprintf(w, "%-10s %s\n", what, list)
				}
				if d.Page != "" {
					fmt.Fprintf(w, "%-10s %s\n", "page", string(d.Page))
				}
				fmt.Fprintln(w, "\nThe password is not shown again.")
				fmt.Fprint(w, onlyHere(d.Broker))
				if d.Page != "" && a.talks() {
					picture, _ := qr(a.stdout, string(d.Page))
					fmt.Fprintf(w, "A phone or laptop that opens the page is the wearable:\n%s", picture)
				}
			})
		}),
	}
	add.Flags().StringSliceVar(&r.Publish, "publish", nil, "`topics` beyond its own on which it may publish")
	add.Flags().StringSliceVar(&r.Read, "read", nil, "`topics` that it may read")
	list := &cobra.Command{
		Use: "list", Short: "List wearables", Args: nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), false, func(cl *serve.Client) error {
				all, err := cl.Devices(cmd.Context())
				return rows(a, err, all, a.showDevice, "No wearables. Add one: locket wearable add NAME")
			})
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "End a wearable's credentials; its memories stay", Args: between(1, 1, "the name"),
		RunE: a.call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			d, err := cl.RemoveDevice(cmd.Context(), args[0])
			return a.printed(err, d, func(w io.Writer) { fmt.Fprintf(w, "Removed %s. Its memories stay.\n", oneLine(d.Name)) })
		}),
	}
	group.AddCommand(add, list, remove)
	return group
}

func (a *app) showDevice(w io.Writer, d *serve.Device) {
	state := "never seen"
	switch {
	case d.Connected:
		state = "connected"
	case !d.LastSeen.IsZero():
		state = "last seen " + a.when(d.LastSeen)
	}
	added := "at a broker of its own"
	if !d.Added.IsZero() {
		added = "added " + a.when(d.Added)
	}
	if d.Battery != nil {
		state += fmt.Sprintf(", battery %d %%", *d.Battery)
	}
	for what, list := range topicsOf(d.Publish, d.Read) {
		state += fmt.Sprintf(", %s %s", what, list)
	}
	fmt.Fprintf(w, "%s  %s  %s, %s\n", padded(oneLine(d.Name), 16), added, state, plural(int(d.Events), "event", "events"))
}

// topicsOf gives in words which topics software has beyond its own.
func topicsOf(publish, read []string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if len(publish) > 0 && !yield("publishes", oneLine(strings.Join(publish, " "))) {
			return
		}
		if len(read) > 0 {
			yield("reads", oneLine(strings.Join(read, " ")))
		}
	}
}
