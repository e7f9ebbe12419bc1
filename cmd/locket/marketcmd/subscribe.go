package marketcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/market"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// subscribedOf is a subscription in the form that is printed.
type subscribedOf struct {
	Listing trade.Hash    `json:"listing"`
	Title   string        `json:"title"`
	Market  string        `json:"market"`
	Most    string        `json:"most"` // for each period
	Periods uint32        `json:"periods"`
	Until   time.Time     `json:"until,omitzero"`
	Days    float64       `json:"days"` // of a period
	Last    trade.Renewal `json:"last,omitempty"`
	Why     string        `json:"why,omitempty"`
}

func subscribedView(s *market.Subscribed) subscribedOf {
	v := subscribedOf{Listing: s.Listing, Title: s.Title, Market: s.Address, Most: trade.Price(s.Most, s.Currency), Periods: s.Periods, Days: (time.Duration(s.Period) * time.Second).Hours() / 24, Last: s.Last, Why: s.Why}
	if s.Until > 0 {
		v.Until = time.Unix(s.Until, 0).UTC()
	}
	return v
}

func subscribedRow(a *cli.App, w io.Writer, v *subscribedOf) {
	fmt.Fprintf(w, "%s  %10s  %s  every %g days, %s at most: %s (%s)\n", a.Paint.Dim(v.Listing.String()[:10]), v.Most, cli.OneLine(v.Title), v.Days, cli.Plural(int(v.Periods), "period", "periods"), v.Last, cli.OneLine(v.Why))
}

func subscribeCommand(a *cli.App, at *string) *cobra.Command {
	var most string
	var periods uint32
	var until string
	var yes bool
	c := &cobra.Command{
		Use: "subscribe LISTING --most PRICE", Short: "Subscribe to a listing that grows", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		Long: `Buys the newest period now, and then each that follows, from your balance at the market
(locket market deposit), up to --most for each and --periods in all. Each period is a
separate order, paid when its items are there. You can open, accept and dispute it, and it
can be refunded, like any other order. A running node renews every ten minutes. Without one,
use locket market renew. A period that costs more, or for which there is no money, lapses.
What you bought stays yours.

` + cannotUndo,
		Example: "  locket market subscribe 3f9a12bc --most \"5.00 EUR\" --periods 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			if most == "" {
				return cli.Usagef("--most PRICE is missing: the highest price of one period, such as 5.00 EUR")
			}
			minor, code, err := trade.ParsePrice(most)
			if err != nil {
				return cli.Usagef("--most: %v", err)
			}
			_, end, err := a.ReadPeriod("", until)
			if err != nil {
				return err
			}
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, address string, m *tradeat.Market, _ trade.Party, terms trade.Terms) error {
				id, err := findListing(cmd.Context(), m, args[0])
				if err != nil {
					return err
				}
				v, l, err := b.Show(cmd.Context(), m, address, &terms, id)
				if err != nil {
					return err
				}
				if l.Market != terms.Market {
					return fmt.Errorf("listing %s is for another market: %w", l.ID(), tradeat.ErrAnswer)
				}
				if err := market.Subscribable(l, minor, code, periods); err != nil {
					return err
				}
				if !yes {
					showListing(a, a.Stderr, &v)
					fmt.Fprintln(a.Stderr, cannotUndo)
					if !a.Confirm(fmt.Sprintf("Pay up to %s for each of %s?", trade.Price(minor, code), cli.Plural(int(periods), "period", "periods"))) {
						return errors.New("nothing was ordered")
					}
				}
				if _, err := b.Subscribe(cmd.Context(), address, l, minor, code, periods, end); err != nil {
					return err
				}
				return renew(a, cmd.Context(), b)
			})
		},
	}
	c.Flags().StringVar(&most, "most", "", "the highest `price` of one period, such as 5.00 EUR")
	c.Flags().Uint32Var(&periods, "periods", 12, "pay at most this `count` of periods")
	c.Flags().StringVar(&until, "until", "", "pay nothing from this `time` on")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// renew renews all subscriptions that are due, and prints all.
func renew(a *cli.App, ctx context.Context, b *market.Buyer) error {
	list, err := b.Renew(ctx)
	views := make([]subscribedOf, len(list))
	for i, s := range list {
		views[i] = subscribedView(s)
	}
	return errors.Join(cli.Rows(a, nil, views, func(a0 io.Writer, a1 *subscribedOf) { subscribedRow(a, a0, a1) }, "No subscriptions."), err)
}

func renewCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "renew", Short: "Buy the periods that are due, and list your subscriptions", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := buyer(a)
			if err != nil {
				return err
			}
			return renew(a, cmd.Context(), b)
		},
	}
}

func unsubscribeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "unsubscribe LISTING", Short: "End a subscription; what was bought stays", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := buyer(a)
			if err != nil {
				return err
			}
			s, err := b.Unsubscribe(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v := subscribedView(s)
			return a.Print(v, func(w io.Writer) { subscribedRow(a, w, &v) })
		},
	}
}
