package marketcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

func verifyCommand(a *cli.App, at *string) *cobra.Command {
	var how market.Verification
	var with, save string
	c := &cobra.Command{
		Use: "verify", Short: "Check the market's transparency log, and that it contains what you bought", Args: cli.NoArgs(),
		Long: `A market signs a log of its listings, withdrawals, takedowns, receipts and reviews. This
command checks that the log continues what it was at the last check, that the market's
witnesses (other operators) have seen the same, and that it contains the listing, the receipt
and your review of each order in this home. It also checks the reviews that the market shows
for these listings, and reports hidden ones. If an operator showed two histories, two signed
checkpoints are saved in a file that proves it to anybody who has the market's key.

Two buyers at the same market can compare: one saves what the market showed (--save FILE),
the other checks against it (--with FILE).`,
		Example: "  locket market verify --at https://relay.example\n  locket market verify --at https://relay.example --with what-ann-saw",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if with != "" {
				info, err := os.Stat(with)
				if err == nil && info.Size() > market.MaxWith {
					err = fmt.Errorf("%s: a file of %d bytes is not a checkpoint: %w", with, info.Size(), memory.ErrInvalid)
				}
				if err == nil {
					how.With, err = os.ReadFile(with)
				}
				if err != nil {
					return cli.UsageError{Err: fmt.Errorf("--with: %w", err)}
				}
			}
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, address string, _ *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				v, err := b.Verify(cmd.Context(), address, how)
				if v != nil && v.Unkept != nil { // print it, because it could not be saved in a file
					return errors.Join(err, a.Print(v.Fork, func(w io.Writer) {
						fmt.Fprintln(w, "Save this. It convinces anybody who has the market's key:")
						e := json.NewEncoder(w)
						e.SetIndent("", "  ")
						_ = e.Encode(v.Fork) // in the form of the file
					}))
				}
				if v == nil || err != nil && !errors.Is(err, market.ErrHidden) {
					return err
				}
				if save != "" {
					if err := atomicfile.Write(save, v.Note); err != nil {
						return err
					}
				}
				return errors.Join(err, a.Print(v, func(w io.Writer) { showVerified(a, w, v) }))
			})
		},
	}
	f := c.Flags()
	f.StringArrayVar(&how.Witnesses, "witness", nil, "`\"URL KEY\"` of a witness that must have cosigned, besides those that the market names")
	f.StringVar(&with, "with", "", "`file` with what another buyer was shown, written by --save")
	f.StringVar(&save, "save", "", "write what the market showed you to this `file`")
	return c
}

func showVerified(a *cli.App, w io.Writer, v *market.Verified) {
	before := "is checked for the first time"
	if v.Before > 0 {
		before = fmt.Sprintf("continues the %d of the last check", v.Before)
	}
	fmt.Fprintf(w, "The log %s has %s, and %s.\n", cli.OneLine(v.Log), cli.Plural(int(v.Size), "entry", "entries"), before)
	for _, s := range v.Witnesses {
		signed := "did not cosign it"
		if s.Signed {
			signed = "cosigned it"
		}
		saw := fmt.Sprintf("has seen %d entries of the same history", s.Size)
		switch {
		case s.Error != "" && s.Size > 0:
			saw += ", but does not say what it caught: " + cli.OneLine(s.Error)
		case s.Error != "":
			saw = "can't be asked: " + cli.OneLine(s.Error)
		}
		fmt.Fprintf(w, "Witness %s at %s %s, and %s.\n", cli.OneLine(s.Name), cli.OneLine(s.Address), signed, saw)
	}
	if len(v.Witnesses) == 0 {
		fmt.Fprintln(w, "Nobody else cosigns the log: compare with another buyer (--save, --with).")
	}
	for _, d := range v.Orders {
		state := "is in it"
		switch {
		case d.Hidden:
			state = "IS MISSING: the market hides it"
		case d.Waits:
			state = "is not in it yet"
		case d.Receipt:
			state = "is in it, with its receipt"
		}
		switch d.Review {
		case "shown":
			state += ", and your review is shown"
		case "deleted":
			state += ", and your review was deleted: " + cli.OneLine(d.Why)
		}
		fmt.Fprintf(w, "%s  %s  %s\n", a.Paint.Dim(d.Order.String()[:10]), cli.OneLine(d.Title), state)
	}
	for _, l := range v.Listings {
		says := checkSays(&l.Reviews)
		if l.Reviews.Proven > 0 {
			says = append([]string{cli.Plural(l.Reviews.Proven, "review is proven", "reviews are proven")}, says...)
		}
		for _, text := range says {
			fmt.Fprintf(w, "%s  %s  %s\n", a.Paint.Dim(l.Listing.String()[:10]), cli.OneLine(l.Title), cli.OneLine(text))
		}
	}
}
