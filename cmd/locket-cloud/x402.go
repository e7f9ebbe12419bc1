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

// x402Flags configure how agents pay: through which facilitator, to which address and in which
// token.
type x402Flags struct {
	facilitator, token   string // URL, and a file
	payTo, network       string
	asset, name, version string
	decimals             int
	currency             string
}

func (x *x402Flags) flags(fl *pflag.FlagSet) {
	fl.StringVar(&x.facilitator, "market-x402-facilitator", "", "`URL` of an x402 facilitator, so that agents can pay: https, or on this machine")
	fl.StringVar(&x.token, "market-x402-token", "", "`file` with the token for the facilitator, if it needs one")
	fl.StringVar(&x.payTo, "market-x402-pay-to", "", "`address` to which agents pay: 0x…")
	fl.StringVar(&x.network, "market-x402-network", "eip155:8453", "`network` on which they pay, in the form of CAIP-2")
	fl.StringVar(&x.asset, "market-x402-asset", "", "`address` of the token's contract: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 is USDC on eip155:8453")
	fl.StringVar(&x.name, "market-x402-asset-name", "USD Coin", "`name` of the token in signatures (EIP-712)")
	fl.StringVar(&x.version, "market-x402-asset-version", "2", "`version` of the token in signatures (EIP-712)")
	fl.IntVar(&x.decimals, "market-x402-decimals", 6, "decimal places of the token")
	fl.StringVar(&x.currency, "market-x402-currency", "USD", "`currency` of the orders that are paid this way, one to one")
}

func (x *x402Flags) check(page string) error {
	if x.facilitator == "" && x.payTo == "" && x.asset == "" && x.token == "" {
		return nil
	}
	if x.facilitator == "" || x.payTo == "" || x.asset == "" || page == "" {
		return fmt.Errorf("%w: --market-x402-facilitator URL, --market-x402-pay-to ADDRESS, --market-x402-asset ADDRESS and --market-page URL need each other", errUsage)
	}
	return nil
}

// open returns payments by x402, or nil if they are not configured and none are still open.
func (x *x402Flags) open(ctx context.Context, db *markettables.DB, page string, secret []byte, log *slog.Logger) (*x402.Provider, error) {
	if x.facilitator == "" {
		payments, payouts, err := x402.CountOpen(ctx, db)
		if err == nil && payments+payouts > 0 {
			err = fmt.Errorf("%w: %d payments and %d payouts by x402 are still open: serve with --market-x402-facilitator and its other flags, "+
				"close what 'locket-cloud market x402' lists, and only then remove the flags", errUsage, payments, payouts)
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
	if units, err := p.Amount(five); err == nil { // so that the operator notices wrong decimals or a wrong network
		log.Info("payments by x402: " + five.String() + " = " + units + " units of " + x.asset + " on " + x.network)
	}
	return p, nil
}

// x402Command lists what waits for the operator, and records what the operator says about it.
func (a *app) x402Command(ask marketAsk) *cobra.Command {
	var tx string
	var never bool
	c := &cobra.Command{
		Use: "x402 [ID…]", Short: "List payouts to pay by hand and payments with an unknown result, or close them",
		Long: `If a facilitator does not say whether a payment was settled, nothing is booked. Look on the
network for a transfer of the amount from the payer to your address. Then give its
transaction, or, after the time shown in the list, say that there is none (--never).

You make payouts to an address yourself. Then give the transaction. If one transaction paid
several payouts, give their ids together: otherwise it closes only one of them. If you repeat
the command, it changes nothing that is closed, and closes the rest.

Closing cannot be undone. But a payment that was refused, or that you closed with --never, can
be given its transaction later: the money then belongs to the buyer, and pays no order.`,
		Example: `  locket-cloud market x402 --market-key DATA/market.key
  locket-cloud market x402 ID --transaction 0x… --market-key DATA/market.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && tx == "" && !never {
				return ask(cmd.Context(), func(m *remote.Market) error { return a.listOpen(cmd, m) })
			}
			if len(args) == 0 || (tx == "") == !never {
				return fmt.Errorf("%w: --transaction HASH and --never need an ID", errUsage)
			}
			if never && len(args) > 1 {
				return fmt.Errorf("%w: --never closes one payment at a time: look for each on the network", errUsage)
			}
			all, err := closedBy(args, tx)
			if err != nil {
				return err
			}
			return ask(cmd.Context(), func(m *remote.Market) error {
				for i, c := range all {
					if err := m.CloseOpen(cmd.Context(), c); err != nil {
						return fmt.Errorf("%s: %w: %d of %d are closed; run the same command again to close the rest", c.ID, err, i, len(all))
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&tx, "transaction", "", "`hash` of the transaction that settled the payment, or paid the payout")
	c.Flags().BoolVar(&never, "never", false, "the payment was never settled, and cannot be any more")
	return c
}

// closedBy says that a transaction closed each of these ids. Several are marked as paid together,
// so that those which it has already closed do not hold back the others.
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
