package marketcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

func exportCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "export ORDER|LISTING FILE.car", Short: "Write what you bought or sell as a CAR file", Args: cli.ArgsBetween(2, 2, "an order or a listing, or the file,"),
		Long: `Writes the sealed items, the listing and the order as a CAR file (version 1), which IPFS and
IPLD tools can read: each is a block named by its hash. Nothing in it can be read without
your key. locket market open FILE.car opens what you bought, without any market.`,
		Example: "  locket market export 8c21f0aa garden.car\n  locket market open garden.car",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(args[1], market.CARExt) {
				return cli.Usagef("%s: want a name that ends in %s", args[1], market.CARExt)
			}
			b, o, err := findOrder(a, args[0])
			if err == nil {
				if !o.IsComplete() {
					if err := b.Refresh(cmd.Context(), o); err != nil {
						return err
					}
				}
				return o.SaveCAR(args[1])
			}
			if !errors.Is(err, memory.ErrNotFound) || !sells(a) {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				list, err := c.Listings(cmd.Context())
				if err != nil {
					return err
				}
				for i := range list {
					if !strings.HasPrefix(list[i].ID.String(), strings.ToLower(args[0])) {
						continue
					}
					text, err := market.ReadOffered(a.Settings.Home, list[i].Version)
					if err != nil {
						return err
					}
					return atomicfile.Write(args[1], text)
				}
				return fmt.Errorf("%s: not an order or listing of this home: %w", args[0], memory.ErrNotFound)
			})
		},
	}
}

// sells reports whether this home has ever listed something.
func sells(a *cli.App) bool {
	_, err := os.Stat(filepath.Join(a.Settings.Home, market.OfferedDir))
	return err == nil
}

// movedView is an order or a listing that moved, in the form that is printed.
type movedView struct {
	Kind   string     `json:"kind"` // listing, order
	ID     trade.Hash `json:"id"`
	Now    trade.Hash `json:"now,omitzero"`
	Title  string     `json:"title"`
	Orders int        `json:"orders,omitempty"`
	Open   int        `json:"open,omitempty"` // before a move: orders that have not ended
	Why    string     `json:"why,omitempty"`  // why it did not move
}

func movedRow(a *cli.App, w io.Writer, v *movedView) {
	said := "moved"
	switch {
	case v.Why != "":
		said = "not moved: " + cli.OneLine(v.Why)
	case v.Kind == "listing":
		said = fmt.Sprintf("moved with %s; its new id is %s", cli.Plural(v.Orders, "order", "orders"), v.Now.String()[:10])
	}
	fmt.Fprintf(w, "%s  %-7s  %s  %s\n", a.Paint.Dim(v.ID.String()[:10]), v.Kind, cli.OneLine(v.Title), said)
}

// wouldMove lists what would move to another market.
func wouldMove(a *cli.App, ctx context.Context, b *market.Buyer, r serve.MarketMove) (views []movedView, err error) {
	views = []movedView{}
	if sells(a) {
		r.DryRun = true
		if err := a.WithClient(ctx, true, func(c *serve.Client) error {
			list, err := c.MoveListings(ctx, r)
			for _, m := range list {
				views = append(views, movedView{Kind: "listing", ID: m.Listing, Title: m.Title, Orders: m.Orders, Open: m.Open})
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	list, err := b.Movable(r.To)
	for _, o := range list {
		v := movedView{Kind: "order", ID: o.State.ID, Title: o.State.Offer.Title}
		if !o.State.Phase.Ended() {
			v.Open = 1
		}
		views = append(views, v)
	}
	return views, err
}

// showMove prints what would move, and what is lost.
func showMove(a *cli.App, w io.Writer, views []movedView, r serve.MarketMove) {
	open := 0
	for i := range views {
		v := &views[i]
		said := ""
		if v.Kind == "listing" {
			said = "with " + cli.Plural(v.Orders, "order", "orders")
		}
		fmt.Fprintf(w, "%s  %-7s  %s  %s\n", a.Paint.Dim(v.ID.String()[:10]), v.Kind, cli.OneLine(v.Title), said)
		open += v.Open
	}
	fmt.Fprintln(w, a.WithHome("\nYour money at the old market stays there (locket market payout), and subscribers have to\nsubscribe again. Listings and orders, and who bought them, are known to "+r.To+" from now on."))
	switch {
	case r.Abandon:
		fmt.Fprintf(w, "The old market is not contacted any more, and withdraws nothing: %s that %s not ended\nwill be lost to both sides.\n", cli.Plural(open, "order", "orders"), map[bool]string{true: "has", false: "have"}[open == 1])
	case open > 0:
		fmt.Fprintf(w, "%s not ended: these continue at the old market. The listings are withdrawn there.\n", cli.Plural(open, "order has", "orders have"))
	default:
		fmt.Fprintln(w, "The listings are withdrawn at the old market.")
	}
}

func moveCommand(a *cli.App) *cobra.Command {
	var r serve.MarketMove
	var yes bool
	c := &cobra.Command{
		Use: "move --to URL", Short: "Move listings, orders and reviews to another market", Args: cli.NoArgs(),
		Long: `Lists at another market what this home's node sells, with the paid orders, and takes along
what you bought, with your reviews. The command first shows what would move and what would
be lost, and asks. The new market checks every signature. The old market need not help. It
may even be gone: with --abandon, it is not contacted. Otherwise the listings are withdrawn
there, and open orders continue there.

No money moves: pay out your balance first (locket market payout). Money held for an order
stays where it was paid. The new market shows what came from the old one separately, as
what the old market said.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.To == "" {
				return cli.Usagef("--to URL is missing")
			}
			b, err := buyer(a)
			if err != nil {
				return err
			}
			if r.DryRun || !yes {
				views, err := wouldMove(a, cmd.Context(), b, r)
				if err != nil || len(views) == 0 || r.DryRun && a.JSON {
					return cli.Rows(a, err, views, func(a0 io.Writer, a1 *movedView) { movedRow(a, a0, a1) }, "There is nothing to move.")
				}
				if r.DryRun {
					showMove(a, a.Stdout, views, r)
					return nil
				}
				showMove(a, a.Stderr, views, r)
				if err := a.ConfirmOr("Move it to "+r.To+"?", "nothing was moved"); err != nil {
					return err
				}
			}
			return moveMarket(a, cmd.Context(), b, r)
		},
	}
	c.Flags().StringVar(&r.To, "to", "", "`URL` of the relay with the other market")
	c.Flags().BoolVar(&r.Abandon, "abandon", false, "the old market is gone for good: do not contact it")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "show what would move and what would be lost, and move nothing")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func moveMarket(a *cli.App, ctx context.Context, b *market.Buyer, r serve.MarketMove) error {
	views := []movedView{}
	if sells(a) {
		if err := a.WithClient(ctx, true, func(c *serve.Client) error {
			list, err := c.MoveListings(ctx, r)
			for _, m := range list {
				views = append(views, movedView{Kind: "listing", ID: m.Listing, Now: m.Now, Title: m.Title, Orders: m.Orders, Why: m.Why})
			}
			return err
		}); err != nil {
			return err
		}
	}
	list, err := b.Move(ctx, r.To)
	for _, o := range list {
		v := movedView{Kind: "order", ID: o.Order.State.ID, Title: o.Order.State.Offer.Title}
		if o.Err != nil {
			v.Why = o.Err.Error()
		}
		views = append(views, v)
	}
	if err := cli.Rows(a, err, views, func(a0 io.Writer, a1 *movedView) { movedRow(a, a0, a1) }, "There is nothing to move."); err != nil {
		return err
	}
	for i := range views {
		if views[i].Why != "" {
			return errors.New("not everything was moved; run the same command again to continue")
		}
	}
	return nil
}
