package marketcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// cannotUndo is part of the help of each command that pays. It is not a constant, so that the program
// contains the text only once.
var cannotUndo = `The market holds the price until you accept. If you accept, or do nothing in time after the
key came, the seller is paid, and that cannot be undone. Until then you can cancel an order
that is not paid, or dispute what came. Keep a voucher's code safe: anyone who has it can
spend it.`

func buyCommand(a *cli.App, at *string) *cobra.Command {
	var voucher, most string
	var yes, card, wallet bool
	c := &cobra.Command{
		Use: "buy LISTING", Short: "Order a listing, and pay", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		Long: `Orders the newest version of a listing at the price that it shows. Pay with a voucher, from
your balance at the market (locket market balance), or with --card on a page of the payment
provider, if the market has one; the market never sees a card number. The seller's node
delivers the key when it next checks. locket market open then checks each item and shows
them.

` + cannotUndo,
		Example: "  locket market buy 3f9a… --voucher 7K3QF-0M9ZT-…",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			buyer, o, err := orderListing(a, ctx, *at, &ordering{listing: args[0], most: most, yes: yes, takes: func(pays []string) error {
				if card && !slices.Contains(pays, "stripe") {
					return fmt.Errorf("--card: this market only accepts %s; nothing was ordered", strings.Join(pays, ", "))
				}
				if wallet && !slices.Contains(pays, "x402") {
					return fmt.Errorf("--x402: this market only accepts %s; nothing was ordered", strings.Join(pays, ", "))
				}
				return nil
			}})
			if err != nil {
				return err
			}
			if card || wallet {
				if err := checkout(a, ctx, buyer, o, way(wallet)); err != nil {
					return fmt.Errorf("%s: %w", a.WithHomef("ordered, but not paid; to pay within a day, before the order lapses: locket market pay %s", o.State.ID.String()[:10]), err)
				}
				return nil
			}
			if err := buyer.Pay(ctx, o, voucher); err != nil {
				return fmt.Errorf("%s: %w", a.WithHomef("ordered, but not paid; to pay within a day, before the order lapses: locket market pay %s --voucher CODE", o.State.ID.String()[:10]), err)
			}
			v := market.PurchaseOf(o)
			return a.Print(v, func(w io.Writer) {
				fmt.Fprint(w, a.WithHomef("Ordered and paid %s: %s.\nThe seller has until %s to deliver the key. After that the price goes back. When the key is there:\n  locket market open %s\n",
					v.Price, v.Order, a.ShowTime(v.Deadline), v.Order.String()[:10]))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&voucher, "voucher", "", "`code` to pay with; the rest of its value stays in your balance at the market")
	f.BoolVar(&card, "card", false, "pay by card: print the address of the payment page")
	f.BoolVar(&wallet, "x402", false, "let an agent's wallet pay: print the address that answers 402 with the price")
	c.MarkFlagsMutuallyExclusive("card", "voucher", "x402")
	f.StringVar(&most, "most", "", "order only up to this `price`, such as 5.00 EUR")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// checkout prints the address of the page on which an order is paid by card, or where an agent pays
// it.
func checkout(a *cli.App, ctx context.Context, b *market.Buyer, o *market.Bought, how string) error {
	page, err := b.Checkout(ctx, o, how)
	if err != nil {
		return fmt.Errorf("order %s: the market gave no payment page: %w", o.State.ID.String()[:10], err)
	}
	v := market.PurchaseOf(o)
	v.Page = page.URL
	return a.Print(v, func(w io.Writer) {
		if how == "x402" {
			fmt.Fprint(w, a.WithHomef("Ordered: %s. An x402 client has to pay %s at this address by %s. Anyone who has it can pay; the order stays yours. Its state: locket market orders\n  %s\n", v.Order.String()[:10], v.Price, a.ShowTime(v.Deadline), page.URL))
			return
		}
		fmt.Fprint(w, a.WithHomef("Ordered: %s. Pay %s on this page by %s. Its state: locket market orders\n  %s\n", v.Order.String()[:10], v.Price, a.ShowTime(v.Deadline), page.URL))
	})
}

// way returns the name of the way to pay in a checkout request.
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
		Use: "pay ORDER", Short: "Pay an unpaid order", Args: cli.ArgsBetween(1, 1, "an order's id"),
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
	c.Flags().StringVar(&voucher, "voucher", "", "`code` to pay with; the rest of its value stays in your balance at the market")
	c.Flags().BoolVar(&card, "card", false, "pay by card: print the address of the payment page")
	c.Flags().BoolVar(&wallet, "x402", false, "let an agent's wallet pay: print the address that answers 402 with the price")
	c.MarkFlagsMutuallyExclusive("card", "voucher", "x402")
	return c
}

func orderRow(a *cli.App, w io.Writer, v *serve.Purchase) {
	fmt.Fprintf(w, "%s  %10s  %-9s  %s", a.Paint.Dim(v.Order.String()[:10]), v.Price, v.Phase, cli.OneLine(v.Title))
	if v.Back != "" {
		fmt.Fprintf(w, "  %s back", v.Back)
	}
	if !v.Deadline.IsZero() {
		fmt.Fprintf(w, "  until %s", a.ShowTime(v.Deadline))
	}
	if v.Reason != "" {
		fmt.Fprintf(w, "  %q", cli.OneLine(v.Reason))
	}
	fmt.Fprintln(w)
}

// ordered prints an order, or returns err if it is set.
func ordered(a *cli.App, err error, o *market.Bought) error {
	v := market.PurchaseOf(o)
	return a.PrintUnless(err, v, func(w io.Writer) { orderRow(a, w, &v) })
}

func ordersCommand(a *cli.App) *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use: "orders", Short: "List your orders and their state", Args: cli.NoArgs(),
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
			return errors.Join(append(late, cli.Rows(a, nil, views, func(a0 io.Writer, a1 *serve.Purchase) { orderRow(a, a0, a1) }, "No orders yet."))...)
		},
	}
	c.Flags().BoolVar(&offline, "offline", false, "do not contact any market")
	return c
}

// openedOf is an item that was bought, in the form that is printed.
type openedOf struct {
	Place int              `json:"place"` // from 1
	Type  string           `json:"type"`
	Text  string           `json:"text"`
	Item  memory.Candidate `json:"item"`
}

func openCommand(a *cli.App) *cobra.Command {
	var save string
	c := &cobra.Command{
		Use: "open ORDER|FILE", Short: "Check what you bought against its listing, and show it", Args: cli.ArgsBetween(1, 1, "an order's id or its file"),
		Long: `Fetches the key and the sealed items once they are there, checks every item against the
root in the listing, and shows them. After that it needs no market and no network: the
order's file and your key (the folder "reader" in the home) are enough. --save copies the
file, which is sealed. search, ask and context also use what you bought, marked with its
seller (locket share given), unless it is disputed or the price came back.`,
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
	c.Flags().StringVar(&save, "save", "", "copy the order's file to this `file`")
	return c
}

// disputable adds to err what to do about something that is not as listed.
func disputable(a *cli.App, o *market.Bought, err error) error {
	if o.State.Phase != trade.Delivered || !market.Disputable(err) {
		return err
	}
	item := ""
	if n := market.BadPlace(err); n > 0 {
		item = fmt.Sprintf(" --item %d", n)
	}
	return fmt.Errorf("%w\n%s", err, a.WithHomef("This is not what was listed. To dispute it before %s: locket market dispute %s%s", a.ShowTime(time.Unix(o.State.Deadline, 0)), o.State.ID.String()[:10], item))
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

// order finds an order in this home, and asks the market for its state.
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
		Use: "accept ORDER", Short: "Accept what came, so that the seller is paid", Args: cli.ArgsBetween(1, 1, "an order's id"),
		Long: "Checks each item again, and accepts.\n\n" + cannotUndo,
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error {
				if _, err := b.Open(o); err != nil {
					return disputable(a, o, err)
				}
				if !yes && !a.Confirm("What came is from the listed bundle. Pay the seller "+trade.Price(o.State.Order.Price, o.State.Order.Currency)+"? This cannot be undone.") {
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
		Use: "dispute ORDER", Short: "Show the arbiter what is not as listed", Args: cli.ArgsBetween(1, 1, "an order's id"),
		Long: `Shows one item to the arbiter whom the listing names, with its place in the bundle and its
key. It is sealed: the market can't read it, but it can read --reason. If the delivered key
is wrong, the arbiter is shown that, and no item is needed. For an answer, the arbiter is
shown your question and the whole answer. The arbiter has 14 days. After that the price goes
back to you.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error {
				return b.Dispute(cmd.Context(), o, item-1, reason)
			})
		},
	}
	c.Flags().IntVar(&item, "item", 0, "`number` of the item in locket market open")
	c.Flags().StringVar(&reason, "reason", "", "the reason in `words`, for the seller, the arbiter and the market")
	return c
}

func cancelCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ORDER", Short: "Cancel an unpaid order", Args: cli.ArgsBetween(1, 1, "an order's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return order(a, cmd.Context(), args[0], func(b *market.Buyer, o *market.Bought) error { return b.Cancel(cmd.Context(), o) })
		},
	}
}

func reviewCommand(a *cli.App) *cobra.Command {
	var stars uint8
	var text string
	c := &cobra.Command{
		Use: "review ORDER --stars N", Short: "Review something that you bought", Args: cli.ArgsBetween(1, 1, "an order's id"),
		Long: "You can write one review for each order that has ended; it needs the order's receipt. The\nreview is signed with your key, so everybody can tell which reviews are from one buyer.",
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
	c.Flags().StringVar(&text, "text", "", "the review in `words`, for everybody to read")
	return c
}

func reportCommand(a *cli.App, at *string) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "report LISTING --reason TEXT", Short: "Tell the market's operator what is wrong with a listing", Args: cli.ArgsBetween(1, 1, "a listing's id"),
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
	var earned bool
	c := &cobra.Command{
		Use: "balance", Short: "Show your balance at the market, or what you have earned there", Args: cli.NoArgs(),
		Long: "Shows what your orders can be paid from. What this home's node has earned by its sales is\nseparate: --earned shows it without what was already paid out.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if earned {
				return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).PayOutSales, serve.PayoutRequest{Market: *at}, func(w io.Writer, v *serve.Payout) {
					fmt.Fprintln(w, cmp.Or(strings.Join(v.Earned, "\n"), "Nothing."))
				})
			}
			return trading(a, cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				list, err := m.Balance(cmd.Context())
				return cli.Rows(a, err, list, func(w io.Writer, b *trade.Balance) { fmt.Fprintln(w, trade.Price(uint64(max(0, b.Spend)), b.Currency)) }, "Nothing.")
			})
		},
	}
	c.Flags().BoolVar(&earned, "earned", false, "show what this home's node has earned and not paid out")
	return c
}
