package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// vouchersCommand lists batches of vouchers, issues them and ends them.
func (a *app) vouchersCommand(ask marketAsk) *cobra.Command {
	var i trade.Issue
	var each string
	var days int
	var revoke bool
	c := &cobra.Command{
		Use: "vouchers [--batch NAME (--each AMOUNT | --revoke)]", Short: "List vouchers by their batches, issue them, or revoke those that nobody used", Args: nothing,
		Long: `With --each, print codes that buyers pay with. Whoever has a code can use it, once; the
market keeps its hash alone. The same command again prints the same codes, used or not; on
a later day, if --days is as many fewer.

Without --batch, list what became of each batch. --revoke ends the codes of a batch that
nobody has used, for good: whoever bought one from you gets nothing for it. What was paid
out to sellers and buyers is listed in one line, and can't be revoked.`,
		Example: `  locket-cloud market vouchers --market-key DATA/market.key --batch may --count 10 --each "5.00 EUR"
  locket-cloud market vouchers --market-key DATA/market.key
  locket-cloud market vouchers --market-key DATA/market.key --batch may --revoke`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			set := cmd.Flags().Changed
			switch {
			case revoke && (set("each") || set("count") || set("days")):
				return fmt.Errorf("%w: --revoke takes --batch alone", errUsage)
			case i.Batch == "" && (revoke || set("each") || set("count") || set("days")):
				return fmt.Errorf("%w: --batch NAME is needed", errUsage)
			case i.Batch != "" && each == "" && !revoke:
				return fmt.Errorf("%w: --each AMOUNT is needed, such as \"5.00 EUR\", or --revoke", errUsage)
			case revoke:
				return ask(cmd.Context(), func(m *remote.Market) error {
					n, err := m.Revoke(cmd.Context(), i.Batch)
					if err != nil {
						return err
					}
					return a.print(n, "%d ended.", n.Count)
				})
			case i.Batch == "":
				return ask(cmd.Context(), func(m *remote.Market) error { return a.listVouchers(cmd, m) })
			}
			if i.Minor, i.Currency, err = trade.ParsePrice(each); err != nil {
				return fmt.Errorf("%w: --each: %w", errUsage, err)
			}
			if days < 1 {
				return fmt.Errorf("%w: --days is 1 at least", errUsage)
			}
			// By the day, so that the command says the same when it is repeated on that day.
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
	f.StringVar(&each, "each", "", "`amount` that each is worth: 5.00 EUR")
	f.IntVar(&days, "days", 365, "for how long they can be used")
	f.BoolVar(&revoke, "revoke", false, "end those of the batch that nobody has used")
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
