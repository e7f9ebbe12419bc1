package memorycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func VaultCommand(a *cli.App) *cobra.Command {
	var file, ttl string
	group := &cobra.Command{
		Use: "vault", Short: "List and reveal secrets", Args: cli.NoArgs(),
		Long: `Lists what each secret in the vault is for, without the secrets. To see a secret, use
locket vault show.`,
		Example: `  locket vault
  locket vault show 3f7k9m2xqa`,
		RunE: func(cmd *cobra.Command, _ []string) error { return listVault(a, cmd.Context()) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List what is in the vault, without the secrets", Args: cli.NoArgs(),
		RunE: group.RunE,
	}
	show := &cobra.Command{
		Use: "show ID|LABEL", Short: "Reveal a secret", Args: cli.ArgsBetween(1, 1, "the id or the label"),
		Long: "Opens the vault just long enough to show the secret, or for the time in --for. The\nmemory's history records that it was shown. A label, or a part of one, must match\nexactly one secret.",
		Example: `  locket vault
  locket vault show 3f7k9m2xqa
  locket vault show "Wi-Fi password"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := cli.ReadTTL(ttl)
			if err != nil {
				return err
			}
			return a.WithPassphraseFile(cmd.Context(), file, func(cl *serve.Client) error {
				id, err := secretNamed(cmd.Context(), cl, args[0])
				if err != nil {
					return err
				}
				r, err := cl.Reveal(cmd.Context(), id)
				if errors.Is(err, serve.ErrVaultLocked) {
					if _, err := a.OpenVault(cmd.Context(), cl, file, max(d, vaultShow)); err != nil {
						return err
					}
					r, err = cl.Reveal(cmd.Context(), id)
				}
				if errors.Is(err, memory.ErrNotFound) {
					err = noSecret(args[0])
				}
				if errors.Is(err, memory.ErrInvalid) { // the rest of the error says it in the wearer's words
					err = errors.New(strings.TrimPrefix(err.Error(), memory.ErrInvalid.Error()+": "))
				}
				return a.PrintUnless(err, r, func(w io.Writer) {
					fmt.Fprintf(w, "%s (%s)\n%s\n", cli.OneLine(r.Label), r.EntryType, cli.OneLine(string(r.Secret)))
				})
			})
		},
	}
	show.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	show.Flags().StringVar(&ttl, "for", "", "keep the daemon's vault open for this long")
	group.AddCommand(list, show, vaultAskCommand(a), vaultLogCommand(a), vaultRecoverCommand(a))
	return group
}

// idLike matches a whole id or the beginning of one.
var idLike = regexp.MustCompile(`^[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{4,26}$`)

// secretNamed returns the id of the secret whose label is text, or else contains it. If no label
// does, it returns text, which may be an id. If several do, the error lists them.
func secretNamed(ctx context.Context, cl *serve.Client, text string) (string, error) {
	var same, part []memory.Memory
	loose := func(s string) string { return strings.ReplaceAll(memory.Normal(s), " ", "") } // "wifi" also matches "Wi-Fi"
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
		fmt.Fprintf(&b, "\n  %s  %s (%s)", cli.ShortID(m.ID), cli.OneLine(m.Fields.Vault.Label), m.Fields.Vault.EntryType)
	}
	return "", fmt.Errorf("%s match that label; give the id of one:%s", cli.Plural(len(part), "secret", "secrets"), b.String())
}

// noSecret says that the vault has no secret with that label or id.
func noSecret(text string) error {
	return cli.AdvisedError{Err: fmt.Errorf("%w: no secret has %q in its label, or an id that begins so", memory.ErrNotFound, text), Advice: "To list the secrets: locket vault list"}
}

// listVault lists what is in the vault. It does not open the vault.
func listVault(a *cli.App, ctx context.Context) error {
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		n, err := rows(a, cl.All(ctx, serve.ListQuery{Type: memory.Vault}), 0)
		if err == nil && n == 0 && !a.JSON {
			fmt.Fprintln(a.Stderr, "The vault is empty.")
			err = a.LessHere(ctx, cl, "Your other devices do not sync their secrets unless sync.vault = true is set there.")
		}
		return err
	})
}

func vaultLogCommand(a *cli.App) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "log", Short: "List who read which secret, newest first", Args: cli.NoArgs(),
		Long: "This is the log of this node. Each device has its own.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 || limit > 1000 {
				return cli.Usagef("-n %d: want 1 to 1000", limit)
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				v, err := cl.VaultLog(cmd.Context(), limit)
				err = cli.Rows(a, err, v.Reads, func(w io.Writer, r *serve.VaultRead) {
					fmt.Fprintf(w, "%s  %s  %s (%s), read by %s\n", a.Paint.Dim(a.ShowTime(r.At)), a.Paint.Dim(cli.ShortID(r.ID)), cli.OneLine(r.Label), r.EntryType, sourceText(r.By))
				}, "Nobody has read a secret yet.")
				if err == nil && !a.JSON && !v.Exported.IsZero() {
					fmt.Fprintf(a.Stdout, "Secrets were last exported or backed up on %s.\n", a.ShowTime(v.Exported))
				}
				return err
			})
		},
	}
	cli.LimitFlag(c.Flags(), &limit, 0, "at most this `count`; default 50")
	return c
}

// vaultShow is long enough for the one request.
const vaultShow = 10 * time.Second
