package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	markettables "github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// x402Flags configure how agents pay: by which facilitator, to which address and in which
// token.
type x402Flags struct {
	facilitator, token   string // URL, and a file
	payTo, network       string
	asset, name, version string
	decimals             int
	currency             string
}

func (x *x402Flags) flags(fl *pflag.FlagSet) {
	fl.StringVar(&x.facilitator, "market-x402-facilitator", "", "`URL` of a facilitator of x402, so that agents can pay: https, or this machine")
	fl.StringVar(&x.token, "market-x402-token", "", "`file` with the token that the facilitator wants, if it wants one")
	fl.StringVar(&x.payTo, "market-x402-pay-to", "", "`address` that agents pay to: 0x…")
	fl.StringVar(&x.network, "market-x402-network", "eip155:8453", "`network` on which they pay, as CAIP-2 has it")
	fl.StringVar(&x.asset, "market-x402-asset", "", "`address` of the token's contract: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 is USDC on eip155:8453")
	fl.StringVar(&x.name, "market-x402-asset-name", "USD Coin", "`name` of the token in signatures (EIP-712)")
	fl.StringVar(&x.version, "market-x402-asset-version", "2", "`version` of the token in signatures (EIP-712)")
	fl.IntVar(&x.decimals, "market-x402-decimals", 6, "digits of the token behind the point")
	fl.StringVar(&x.currency, "market-x402-currency", "USD", "`currency` of the orders that are paid so, one for one")
}

func (x *x402Flags) check(page string) error {
	if x.facilitator == "" && x.payTo == "" && x.asset == "" && x.token == "" {
		return nil
	}
	if x.facilitator == "" || x.payTo == "" || x.asset == "" || page == "" {
		return fmt.Errorf("%w: --market-x402-facilitator URL, --market-x402-pay-to ADDRESS, --market-x402-asset ADDRESS and --market-page URL are needed together", errUsage)
	}
	return nil
}

// open gives payments by x402; nil where there are none, and none are open since before.
func (x *x402Flags) open(ctx context.Context, db *markettables.DB, page string, secret []byte, log *slog.Logger) (*x402.Provider, error) {
	if x.facilitator == "" {
		payments, payouts, err := x402.Left(ctx, db)
		if err == nil && payments+payouts > 0 {
			err = fmt.Errorf("%w: %d payments and %d payouts by x402 are open since before: serve with --market-x402-facilitator and what belongs to it, "+
				"close what 'locket-cloud market x402' lists, and stop taking them then", errUsage, payments, payouts)
		}
		return nil, err
	}
	var token []byte
	if x.token != "" {
		var err error
		if token, err = os.ReadFile(x.token); err != nil {
			return nil, fmt.Errorf("read the facilitator's token: %w", err)
		}
	}
	p, err := x402.New(db, x402.Config{Facilitator: x.facilitator, Token: strings.TrimSpace(string(token)), PayTo: x.payTo, Network: x.network, Asset: x.asset,
		AssetName: x.name, AssetVer: x.version, Decimals: x.decimals, Currency: ledger.Currency(x.currency), Base: page, Secret: secret, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	five := ledger.Money{Minor: 500, Currency: ledger.Currency(x.currency)}
	if units, err := p.Amount(five); err == nil { // so that wrong decimals or another network are seen
		log.Info("payments by x402: " + five.String() + " = " + units + " units of " + x.asset + " on " + x.network)
	}
	return p, nil
}

// x402Command lists what waits for the operator, and takes the operator's word.
func (a *app) x402Command(ask marketAsk) *cobra.Command {
	var tx string
	var never bool
	c := &cobra.Command{
		Use: "x402 [ID…]", Short: "List payouts to pay by hand, and payments of which nobody knows whether they were settled; or say what became of them",
		Long: `Where a facilitator does not say whether a payment was settled, nothing is booked. Look on
the network for a transfer of the amount from the payer to your address, and say which
transaction it was; or, once the time that the list has is over, that there is none.
What is paid out to an address you pay yourself; then say by which transaction. Payouts that
one transaction paid are named together: otherwise it closes one of them. The same command
again changes nothing of what is closed, and closes the rest. Neither
can be taken back, but a payment that was refused, or never settled by your word, can be
given its transaction later: its money is the buyer's, and pays no order.`,
		Example: `  locket-cloud market x402 --market-key DATA/market.key
  locket-cloud market x402 ID --transaction 0x… --market-key DATA/market.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && tx == "" && !never {
				return ask(cmd.Context(), func(m *remote.Market) error { return a.listOpen(cmd, m) })
			}
			if len(args) == 0 || (tx == "") == !never {
				return fmt.Errorf("%w: an ID is needed with --transaction HASH or with --never", errUsage)
			}
			if never && len(args) > 1 {
				return fmt.Errorf("%w: --never is of one payment: each is looked for by itself", errUsage)
			}
			all, err := closedBy(args, tx)
			if err != nil {
				return err
			}
			return ask(cmd.Context(), func(m *remote.Market) error {
				for i, c := range all {
					if err := m.CloseOpen(cmd.Context(), c); err != nil {
						return fmt.Errorf("%s: %w: %d of %d are closed; the same command again closes the rest", c.ID, err, i, len(all))
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&tx, "transaction", "", "`hash` of the transaction that settled the payment, or paid the payout")
	c.Flags().BoolVar(&never, "never", false, "the payment was never settled, and can't be any more")
	return c
}

// closedBy says of each id that a transaction closed it; of several, that they were paid
// together, so that those which it closed already keep no other back.
func closedBy(ids []string, tx string) ([]trade.Closed, error) {
	all := make([]trade.Closed, len(ids))
	for i, id := range ids {
		all[i] = trade.Closed{Transaction: tx, Together: len(ids) > 1}
		if err := all[i].ID.UnmarshalText([]byte(id)); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	return all, nil
}

func (a *app) listOpen(cmd *cobra.Command, m *remote.Market) error {
	all, err := m.Open(cmd.Context())
	for _, o := range all {
		money := ledger.Money{Minor: o.Minor, Currency: ledger.Currency(o.Currency)}
		line := fmt.Sprintf("%s  payout   %s  %s to %s, %s units of %s on %s, for %.8s", o.ID, time.Unix(o.At, 0).UTC().Format(time.DateTime), money, o.Address, o.Amount, o.Asset, o.Network, o.By)
		if !o.Payout {
			line = fmt.Sprintf("%s  payment  %s  %s from %s for order %s: %q %s", o.ID, time.Unix(o.At, 0).UTC().Format(time.DateTime), money, o.Address, o.Order, o.Reason, o.Transaction)
		}
		if _, err := fmt.Fprintln(a.stdout, line); err != nil {
			return err
		}
	}
	return err
}
