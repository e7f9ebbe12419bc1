package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// vouchersCommand lists batches of vouchers, issues and revokes them.
func (a *app) vouchersCommand(ask marketAsk) *cobra.Command {
	var i trade.Issue
	var each string
	var days int
	var revoke bool
	c := &cobra.Command{
		Use: "vouchers [--batch NAME (--each AMOUNT | --revoke)]", Short: "List batches of vouchers, issue vouchers, or revoke unused ones", Args: nothing,
		Long: `With --each, print codes that buyers can pay with. Anyone who has a code can use it, once.
The market stores only its hash. The same command prints the same codes again, used or not;
on a later day, reduce --days by the number of days since.

Without --batch, list the state of each batch. --revoke ends the unused codes of a batch for
good: a person who bought one from you gets nothing for it. Payouts to sellers and buyers are
listed in one line, and can't be revoked.`,
		Example: `  locket-cloud market vouchers --market-key DATA/market.key --batch may --count 10 --each "5.00 EUR"
  locket-cloud market vouchers --market-key DATA/market.key
  locket-cloud market vouchers --market-key DATA/market.key --batch may --revoke`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			set := cmd.Flags().Changed
			switch {
			case revoke && (set("each") || set("count") || set("days")):
				return fmt.Errorf("%w: --revoke can be combined only with --batch", errUsage)
			case i.Batch == "" && (revoke || set("each") || set("count") || set("days")):
				return fmt.Errorf("%w: --batch NAME is missing", errUsage)
			case i.Batch != "" && each == "" && !revoke:
				return fmt.Errorf("%w: --each AMOUNT, such as \"5.00 EUR\", or --revoke is missing", errUsage)
			case revoke:
				return ask(cmd.Context(), func(m *remote.Market) error {
					n, err := m.Revoke(cmd.Context(), i.Batch)
					if err != nil {
						return err
					}
					return a.print(n, "%d revoked.", n.Count)
				})
			case i.Batch == "":
				return ask(cmd.Context(), func(m *remote.Market) error { return a.listVouchers(cmd, m) })
			}
			if i.Minor, i.Currency, err = trade.ParsePrice(each); err != nil {
				return fmt.Errorf("%w: --each: %w", errUsage, err)
			}
			if days < 1 {
				return fmt.Errorf("%w: --days must be at least 1", errUsage)
			}
			// Rounded to a day, so that the command prints the same codes when it is repeated on
			// that day.
			i.Until = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, days+1).Unix()
			return ask(cmd.Context(), func(m *remote.Market) error {
				codes, err := m.Issue(cmd.Context(), i)
				for _, c := range codes.Codes {
					if _, err := fmt.Fprintln(a.stdout, c); err != nil {
						return err
					}
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&i.Batch, "batch", "", "`name` of these vouchers")
	f.Uint32Var(&i.Count, "count", 1, "how many")
	f.StringVar(&each, "each", "", "`amount` that each is worth, such as 5.00 EUR")
	f.IntVar(&days, "days", 365, "for how many days they can be used")
	f.BoolVar(&revoke, "revoke", false, "end the unused codes of the batch")
	return c
}

func (a *app) listVouchers(cmd *cobra.Command, m *remote.Market) error {
	all, err := m.Batches(cmd.Context())
	for _, b := range all {
		last := time.Unix(b.Until, 0).UTC().Add(-time.Second).Format(time.DateOnly)
		if err := a.print(b, "%-20s  %d issued, %d used, %d revoked, %d lapsed; %s open, until %s", cmp.Or(b.Name, "(paid out)"),
			b.Issued, b.Used, b.Revoked, b.Lapsed, trade.Price(uint64(b.Open), b.Currency), last); err != nil {
			return err
		}
	}
	return err
}
