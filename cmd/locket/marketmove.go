package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

func (a *app) marketExportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export ORDER|LISTING FILE.car", Short: "Write what you bought or sell as a CAR file", Args: between(2, 2, "an order or a listing, and a file"),
		Long: `Writes the sealed items, the listing and the order as a CAR file (version 1), which tools of
IPFS and IPLD read: each is a block that its hash names. Nothing in it can be read without
your key; locket market open FILE.car opens what you bought, without any market.`,
		Example: "  locket market export 8c21f0aa garden.car\n  locket market open garden.car",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(args[1], market.CARExt) {
				return usagef("%s: want a name that ends in %s", args[1], market.CARExt)
			}
			b, o, err := a.findOrder(args[0])
			if err == nil {
				if len(o.Items) == 0 {
					if err := b.Refresh(cmd.Context(), o); err != nil {
						return err
					}
				}
				return o.SaveCAR(args[1])
			}
			if !errors.Is(err, memory.ErrNotFound) || !a.sells() {
				return err
			}
			return a.with(cmd.Context(), true, func(c *serve.Client) error {
				list, err := c.Listings(cmd.Context())
				if err != nil {
					return err
				}
				for i := range list {
					if !strings.HasPrefix(list[i].ID.String(), strings.ToLower(args[0])) {
						continue
					}
					text, err := market.Offered(a.settings.Home, list[i].Version)
					if err != nil {
						return err
					}
					return atomicfile.Write(args[1], text)
				}
				return fmt.Errorf("%s: no order and no listing of this home: %w", args[0], memory.ErrNotFound)
			})
		},
	}
}

// sells reports whether this home has ever listed something.
func (a *app) sells() bool {
	_, err := os.Stat(filepath.Join(a.settings.Home, market.OfferedDir))
	return err == nil
}

// movedView is an order or a listing that moved, as it is printed.
type movedView struct {
	Kind   string     `json:"kind"` // listing, order
	ID     trade.Hash `json:"id"`
	Now    trade.Hash `json:"now,omitzero"`
	Title  string     `json:"title"`
	Orders int        `json:"orders,omitempty"`
	Why    string     `json:"why,omitempty"` // it did not move
}

func (a *app) movedRow(w io.Writer, v *movedView) {
	said := "moved"
	switch {
	case v.Why != "":
		said = "not moved: " + oneLine(v.Why)
	case v.Kind == "listing":
		said = fmt.Sprintf("moved with %s; it is %s now", plural(v.Orders, "order", "orders"), v.Now.String()[:10])
	}
	fmt.Fprintf(w, "%s  %-7s  %s  %s\n", a.paint.dim(v.ID.String()[:10]), v.Kind, oneLine(v.Title), said)
}

func (a *app) marketMoveCommand() *cobra.Command {
	var to string
	var abandon bool
	c := &cobra.Command{
		Use: "move --to URL", Short: "Take listings, orders and reviews to another market", Args: nothing(),
		Long: `Lists at another market what this home's node sells, with the orders that were paid, and
brings there what you bought, with your reviews. The other market checks every signature; the
one where it was need not help, and may be dead: with --abandon it is asked nothing. Without,
listings are withdrawn there, and what was ordered goes on there.

No money moves: take out first what you have (locket market payout). What an order holds stays
where it was paid. A market shows what comes from another one apart, as that one's word.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usagef("--to URL is needed")
			}
			b, err := a.buyer()
			if err != nil {
				return err
			}
			views := []movedView{}
			if a.sells() {
				if err := a.with(cmd.Context(), true, func(c *serve.Client) error {
					list, err := c.MoveListings(cmd.Context(), serve.MarketMove{To: to, Abandon: abandon})
					for _, m := range list {
						views = append(views, movedView{"listing", m.Listing, m.Now, m.Title, m.Orders, m.Why})
					}
					return err
				}); err != nil {
					return err
				}
			}
			list, err := b.Move(cmd.Context(), to)
			for _, o := range list {
				v := movedView{Kind: "order", ID: o.Order.State.ID, Title: o.Order.State.Offer.Title}
				if o.Err != nil {
					v.Why = o.Err.Error()
				}
				views = append(views, v)
			}
			if err := rows(a, err, views, a.movedRow, "There is nothing to move."); err != nil {
				return err
			}
			for i := range views {
				if views[i].Why != "" {
					return errors.New("not all of it moved; the same again goes on")
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "", "`URL` of the relay with the other market")
	c.Flags().BoolVar(&abandon, "abandon", false, "the market where it was is gone for good: ask it nothing")
	return c
}
