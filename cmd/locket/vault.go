package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

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
	loose := func(s string) string { return strings.ReplaceAll(memory.Normal(s), " ", "") } // "wifi" is "Wi-Fi", too
	name := loose(text)
	for m, err := range cl.All(ctx, serve.ListQuery{Type: memory.Vault}) {
		if err != nil {
			return "", err
		}
		switch label := loose(m.Text); {
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
