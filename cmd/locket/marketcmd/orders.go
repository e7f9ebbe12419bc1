package marketcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// cannotUndo is said where one pays.
const cannotUndo = `The market holds the price until you accept. Once you accept, or say nothing in time after
the key came, the seller is paid, and nobody can have that back for you. Before: cancel while
it is not paid, or dispute what came. A voucher's code is worth its amount to whoever has it.`

func buyCommand(a *cli.App, at *string) *cobra.Command {
	var voucher, most string
	var yes, card, wallet bool
	c := &cobra.Command{
		Use: "buy LISTING", Short: "Order a listing, and pay", Args: cli.Between(1, 1, "a listing's id"),
		Long: `Orders the newest version of a listing at the price that it shows, and pays with a voucher,
from what you have at the market (locket market balance), or with --card on a page of the
payment provider's, where the market has one: no card's number passes the market. The
seller's node delivers the key at its next look; locket market open checks each item and shows them.

` + cannotUndo,
		Example: "  locket market buy 3f9a… --voucher 7K3QF-0M9ZT-…",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			buyer, o, err := orderListing(a, ctx, *at, &ordering{listing: args[0], most: most, yes: yes, takes: func(pays []string) error {
				if card && !slices.Contains(pays, "stripe") {
					return fmt.Errorf("--card: this market takes %s: nothing was ordered", strings.Join(pays, ", "))
				}
				if wallet && !slices.Contains(pays, "x402") {
					return fmt.Errorf("--x402: this market takes %s: nothing was ordered", strings.Join(pays, ", "))
				}
				return nil
			}})
			if err != nil {
				return err
			}
			if card || wallet {
				if err := checkout(a, ctx, buyer, o, way(wallet)); err != nil {
					return fmt.Errorf("%s: %w", a.Heref("ordered, and not paid: locket market pay %s pays it, and in a day it lapses", o.State.ID.String()[:10]), err)
				}
				return nil
			}
			if err := buyer.Pay(ctx, o, voucher); err != nil {
				return fmt.Errorf("%s: %w", a.Heref("ordered, and not paid: locket market pay %s --voucher CODE pays it, and in a day it lapses", o.State.ID.String()[:10]), err)
			}
			v := market.PurchaseOf(o)
			return a.Print(v, func(w io.Writer) {
				fmt.Fprint(w, a.Heref("Ordered and paid %s: %s.\nThe seller has until %s to deliver the key; else the price goes back. Then:\n  locket market open %s\n",
					v.Price, v.Order, a.When(v.Deadline), v.Order.String()[:10]))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&voucher, "voucher", "", "`code` to pay with; what is left of it stays yours at the market")
	f.BoolVar(&card, "card", false, "pay by card: prints the page on which to pay")
	f.BoolVar(&wallet, "x402", false, "have an agent's wallet pay: prints the address that answers 402 with what it costs")
	c.MarkFlagsMutuallyExclusive("card", "voucher", "x402")
	f.StringVar(&most, "most", "", "order nothing that costs more than this `price`: 5.00 EUR")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// checkout prints the page on which an order is paid by card, or the address where an
// agent pays it.
func checkout(a *cli.App, ctx context.Context, b *market.Buyer, o *market.Bought, how string) error {
	page, err := b.Checkout(ctx, o, how)
	if err != nil {
		return fmt.Errorf("order %s: no page to pay on: %w", o.State.ID.String()[:10], err)
	}
	v := market.PurchaseOf(o)
	v.Page = page.URL
	return a.Print(v, func(w io.Writer) {
		if how == "x402" {
			fmt.Fprint(w, a.Heref("Ordered: %s. A client for x402 pays %s at this address by %s; whoever has it can pay, and the order stays yours. Then locket market orders says how it stands:\n  %s\n", v.Order.String()[:10], v.Price, a.When(v.Deadline), page.URL))
			return
		}
		fmt.Fprint(w, a.Heref("Ordered: %s. Pay %s on this page by %s; then locket market orders says how it stands:\n  %s\n", v.Order.String()[:10], v.Price, a.When(v.Deadline), page.URL))
	})
}

// way is how a checkout is asked for.
func way(wallet bool) string {
	if wallet {
		return "x402"
	}
	return ""
}

func payCommand(a *cli.App) *cobra.Command {
	var voucher string
	var card, wallet bool
	c := &cobra.Command{
		Use: "pay ORDER", Short: "Pay an order that is not paid", Args: cli.Between(1, 1, "an order's id"),
		Long: cannotUndo,
		RunE: func(cmd *cobra.Command, args []string) error {
			if card || wallet {
				b, o, err := findOrder(a, args[0])
				if err != nil {
					return err
				}
				return checkout(a, cmd.Context(), b, o, way(wallet))
			}
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error { return b.Pay(cmd.Context(), o, voucher) })
		},
	}
	c.Flags().StringVar(&voucher, "voucher", "", "`code` to pay with; what is left of it stays yours at the market")
	c.Flags().BoolVar(&card, "card", false, "pay by card: prints the page on which to pay")
	c.Flags().BoolVar(&wallet, "x402", false, "have an agent's wallet pay: prints the address that answers 402 with what it costs")
	c.MarkFlagsMutuallyExclusive("card", "voucher", "x402")
	return c
}

func orderRow(a *cli.App, w io.Writer, v *serve.Purchase) {
	fmt.Fprintf(w, "%s  %10s  %-9s  %s", a.Paint.Dim(v.Order.String()[:10]), v.Price, v.Phase, cli.OneLine(v.Title))
	if v.Back != "" {
		fmt.Fprintf(w, "  %s back", v.Back)
	}
	if !v.Deadline.IsZero() {
		fmt.Fprintf(w, "  until %s", a.When(v.Deadline))
	}
	if v.Reason != "" {
		fmt.Fprintf(w, "  %q", cli.OneLine(v.Reason))
	}
	fmt.Fprintln(w)
}

// ordered prints an order, unless what was done to it has failed: err tells it.
func ordered(a *cli.App, err error, o *market.Bought) error {
	v := market.PurchaseOf(o)
	return a.Printed(err, v, func(w io.Writer) { orderRow(a, w, &v) })
}

func ordersCommand(a *cli.App) *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use: "orders", Short: "List what you ordered, and how it stands", Args: cli.Nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := buyer(a)
			if err != nil {
				return err
			}
			list, err := b.Orders()
			if err != nil {
				return err
			}
			var late []error
			views := make([]serve.Purchase, len(list))
			for i, o := range list {
				if !offline && !o.State.Phase.Ended() {
					late = append(late, b.Refresh(cmd.Context(), o))
				}
				views[i] = market.PurchaseOf(o)
			}
			return errors.Join(append(late, cli.Rows(a, nil, views, func(a0 io.Writer, a1 *serve.Purchase) { orderRow(a, a0, a1) }, "You ordered nothing yet."))...)
		},
	}
	c.Flags().BoolVar(&offline, "offline", false, "ask no market")
	return c
}

// openedOf is what was bought, as it is printed.
type openedOf struct {
	Place int    `json:"place"` // from 1
	Type  string `json:"type"`
	Text  string `json:"text"`
	Item  any    `json:"item"`
}

func openCommand(a *cli.App) *cobra.Command {
	var save string
	c := &cobra.Command{
		Use: "open ORDER|FILE", Short: "Check what you bought against its listing, and show it", Args: cli.Between(1, 1, "an order's id or its file"),
		Long: `Fetches the key and the sealed items when they are there, checks every item against the
root that the listing names, and shows them. What was fetched once needs no market and no
network: the order's file and your key (the home's folder "reader") open it. --save copies
the file, which is sealed. What was bought answers in search, ask and context, too, marked
with its seller (locket share given), unless it is disputed or the price came back.`,
		Example: "  locket market open 8c21f0aa\n  locket market open 8c21f0aa --save garden.bought",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, o, err := findOrder(a, args[0])
			if err != nil {
				return err
			}
			ms, err := b.OpenAll(cmd.Context(), o)
			if err != nil {
				return disputable(a, o, err)
			}
			if save != "" {
				write := o.Save
				if strings.HasSuffix(save, market.CARExt) {
					write = o.SaveCAR
				}
				if err := write(save); err != nil {
					return err
				}
			}
			return showOpened(a, b, o, ms)
		},
	}
	c.Flags().StringVar(&save, "save", "", "copy the order's `file` there")
	return c
}

// disputable says what to do about something that is not as listed.
func disputable(a *cli.App, o *market.Bought, err error) error {
	if o.State.Phase != trade.Delivered || !market.Disputable(err) {
		return err
	}
	item := ""
	if n := market.BadPlace(err); n > 0 {
		item = fmt.Sprintf(" --item %d", n)
	}
	return fmt.Errorf("%w\n%s", err, a.Heref("It is not what was listed. Dispute it before %s: locket market dispute %s%s", a.When(time.Unix(o.State.Deadline, 0)), o.State.ID.String()[:10], item))
}

// findOrder finds an order in this home.
func findOrder(a *cli.App, name string) (*market.Buyer, *market.Bought, error) {
	b, err := buyer(a)
	if err != nil {
		return nil, nil, err
	}
	o, err := b.Find(name)
	return b, o, err
}

// order finds an order in this home, and asks the market how it stands.
func order(a *cli.App, ctx context.Context, name string, f func(*market.Buyer, *market.Bought) error) error {
	b, o, err := findOrder(a, name)
	if err != nil {
		return err
	}
	if err := b.Refresh(ctx, o); err != nil {
		return err
	}
	return ordered(a, f(b, o), o)
}

func acceptCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "accept ORDER", Short: "Accept what came: the seller is paid", Args: cli.Between(1, 1, "an order's id"),
		Long: "Checks each item once more, and accepts. " + cannotUndo,
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error {
				if _, err := b.Open(o); err != nil {
					return disputable(a, o, err)
				}
				if !yes && !a.Confirm("What came is of the listed bundle. Pay the seller "+trade.Price(o.State.Order.Price, o.State.Order.Currency)+"? It can't be had back.") {
					return errors.New("nothing was accepted")
				}
				return b.Accept(cmd.Context(), o)
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func disputeCommand(a *cli.App) *cobra.Command {
	var item int
	var reason string
	c := &cobra.Command{
		Use: "dispute ORDER", Short: "Show the arbiter what is not as listed", Args: cli.Between(1, 1, "an order's id"),
		Long: `Shows one item, sealed to the arbiter whom the listing names, with its place in the bundle
and its key. The market can't read it; it can read --reason. Where the delivered key is
wrong, that is shown, and no item is needed. Of an answer the arbiter is shown what you
asked, and all of it. The arbiter has 14 days; then the price goes back to you.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error {
				return b.Dispute(cmd.Context(), o, item-1, reason)
			})
		},
	}
	c.Flags().IntVar(&item, "item", 0, "`number` of the item, as locket market open counts them")
	c.Flags().StringVar(&reason, "reason", "", "in `words`, for the seller, the arbiter and the market")
	return c
}

func cancelCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ORDER", Short: "Cancel an order that is not paid", Args: cli.Between(1, 1, "an order's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error { return b.Cancel(cmd.Context(), o) })
		},
	}
}

func reviewCommand(a *cli.App) *cobra.Command {
	var stars uint8
	var text string
	c := &cobra.Command{
		Use: "review ORDER --stars N", Short: "Say what you think of something you bought", Args: cli.Between(1, 1, "an order's id"),
		Long: "A review needs the receipt of an order that has ended, and there is one for each. It is\nsigned with your key: everybody can tell that reviews of one key are of one buyer.",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, o, err := findOrder(a, args[0])
			if err != nil {
				return err
			}
			if !o.State.Phase.Ended() {
				if err := b.Refresh(cmd.Context(), o); err != nil {
					return err
				}
			}
			return ordered(a, b.Review(cmd.Context(), o, stars, text), o)
		},
	}
	c.Flags().Uint8Var(&stars, "stars", 0, "1 to 5")
	c.Flags().StringVar(&text, "text", "", "in `words`, for everybody")
	return c
}

func reportCommand(a *cli.App, at *string) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "report LISTING --reason TEXT", Short: "Tell the market's operator what is wrong with a listing", Args: cli.Between(1, 1, "a listing's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return trading(a, cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, by trade.Party, _ trade.Terms) error {
				id, err := findListing(cmd.Context(), m, args[0])
				if err != nil {
					return err
				}
				return market.Report(cmd.Context(), m, by, id, reason, time.Now())
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "what is wrong, in `words`")
	return c
}

func balanceCommand(a *cli.App, at *string) *cobra.Command {
	return &cobra.Command{
		Use: "balance", Short: "Show your balance at the market", Args: cli.Nothing(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return trading(a, cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				list, err := m.Balance(cmd.Context())
				return cli.Rows(a, err, list, func(w io.Writer, b *trade.Balance) { fmt.Fprintln(w, trade.Price(uint64(max(0, b.Spend)), b.Currency)) }, "Nothing.")
			})
		},
	}
}
