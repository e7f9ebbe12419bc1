package devicecmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/keyring"
	relays "github.com/locket-dev/locket/sync/remote"
)

// deleted is what a relay had stored for an account.
type deleted struct {
	Relay  string `json:"relay"`
	Spaces int    `json:"spaces"`
	Bytes  int64  `json:"bytes"`
	Blobs  int64  `json:"blobs"`
}

func relayDeleteCommand(a *cli.App) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use: "delete URL", Short: "Delete your account at a relay, with all that it stores", Args: cli.ArgsBetween(1, 1, "the relay's URL"),
		Long: `Reads the 24 words, on a terminal or from standard input, and makes the relay delete
everything that your devices and workers stored there. Your devices keep what they have.
Leave the relay on each of them first: locket relay move, and locket relay remove.

What a device shares is stored under an account of its own, which this command does not
delete. End your shares first, with locket share revoke, grant revoke and community leave.`,
		Example: "  locket relay delete https://old.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			relay, err := relays.New(args[0], relays.Option{})
			if err != nil {
				return cli.UsageError{Err: err}
			}
			defer relay.Close()
			words, err := a.AskWords("")
			if err != nil {
				return err
			}
			rec, err := keyring.Recover(words)
			if err != nil {
				return fmt.Errorf("the 24 words: %w", err)
			}
			defer rec.Zero()
			return deleteAccount(cmd.Context(), a, relay.Root(rec.Root(), rec.SignRequest), args[0], yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func deleteAccount(ctx context.Context, a *cli.App, at *relays.Root, url string, yes bool) error {
	has, err := at.Account(ctx)
	if errors.Is(err, relays.ErrForbidden) {
		return cli.AdvisedError{Err: fmt.Errorf("%s: %w", url, err), Advice: "The relay has no account for these words. Is it the relay that the home synced through?"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	d := deleted{url, len(has.Spaces), has.Bytes, has.Blobs}
	what := fmt.Sprintf("%s in %s, with %s", cli.Size(d.Bytes), cli.Plural(d.Spaces, "space", "spaces"), cli.Plural(int(d.Blobs), "photo or recording", "photos and recordings"))
	if !yes {
		if err := a.ConfirmOr("Delete for good what "+url+" stores for you: "+what+"?", "nothing was deleted"); err != nil {
			return err
		}
	}
	if err := at.Delete(ctx); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return a.Print(d, func(w io.Writer) { fmt.Fprintf(w, "Deleted at %s: %s.\n", url, what) })
}
