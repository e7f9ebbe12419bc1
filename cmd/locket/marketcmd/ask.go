package marketcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// ordering is an order from the command line.
type ordering struct {
	listing, question, most string
	enters                  bool // order the entry to a community, under the name in question
	yes                     bool
	takes                   func(pays []string) error // refuses a market by its ways of payment; may be nil
	voucher                 string
	patience                time.Duration // how long to wait for what was ordered
}

// orderListing shows a listing, asks, and orders it.
func orderListing(a *cli.App, ctx context.Context, at string, w *ordering) (buyer *market.Buyer, o *market.Bought, err error) {
	err = trading(a, ctx, at, func(b *market.Buyer, address string, m *tradeat.Market, by trade.Party, terms trade.Terms) error {
		if w.takes != nil {
			if err := w.takes(terms.Pays); err != nil {
				return err
			}
		}
		id, err := findListing(ctx, m, w.listing)
		if err != nil {
			return err
		}
		v, l, err := b.Show(ctx, m, address, &terms, id)
		if err != nil {
			return err
		}
		if v.Entry != w.enters {
			if v.Entry {
				return errors.New(a.WithHome("this listing sells the entry to a community: use locket market enter"))
			}
			return errors.New(a.WithHome("this listing does not sell the entry to a community: to see what it sells, use locket market show"))
		}
		if w.most != "" {
			minor, code, err := trade.ParsePrice(w.most)
			if err != nil {
				return cli.UsageError{Err: err}
			}
			if code != l.Currency || l.Price > minor {
				return fmt.Errorf("the price %s is over --most %s: nothing was ordered", v.Price, w.most)
			}
		}
		if !w.yes {
			showListing(a, a.Stderr, &v)
			fmt.Fprintln(a.Stderr, cannotUndo)
			if !a.Confirm("Pay " + v.Price + "?") {
				return errors.New("nothing was ordered")
			}
		}
		buyer = b
		if w.enters {
			o, err = b.EnterQuoted(ctx, m, by, &terms, address, v.Version, v.Price, w.question)
			return err
		}
		o, err = b.OrderQuoted(ctx, m, by, &terms, address, v.Version, v.Price, w.question)
		return err
	})
	return buyer, o, err
}

// orderAndWait orders, pays, and waits for what was ordered.
func orderAndWait(a *cli.App, ctx context.Context, at string, w *ordering) error {
	b, o, err := orderListing(a, ctx, at, w)
	if err != nil {
		return err
	}
	if err := b.Pay(ctx, o, w.voucher); err != nil {
		return fmt.Errorf("%s: %w", a.WithHomef("ordered, but not paid; to pay within a day, before the order lapses: locket market pay %s --voucher CODE", o.State.ID.String()[:10]), err)
	}
	return awaitAnswer(a, ctx, b, o, askEvery, w.patience)
}

// askEvery is how often to ask the market whether the answer has come.
const askEvery = 2 * time.Second

func askCommand(a *cli.App, at *string) *cobra.Command {
	w := ordering{}
	c := &cobra.Command{
		Use: "ask LISTING QUESTION", Short: "Pay for an answer instead of a copy", Args: cli.ArgsBetween(2, 2, "a listing's id or the question"),
		Long: `Orders an answer from a listing that sells answers (locket market show says so), and pays
with a voucher or from your balance at the market. The question is sealed to the seller. The
seller's node answers with up to three memories of its bundle, redacted as the listing says.
Your home checks that they are from that bundle and belong to your question. The market can
read neither. The seller learns your key and your question.

If the seller's node has no answer, may show you no more, or does not answer in time, the
price goes back to your balance.

` + cannotUndo,
		Example: `  locket market ask 3f9a… "when do the tomatoes want water" --voucher 7K3QF-0M9ZT-…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w.listing, w.question = args[0], args[1]
			if w.question == "" || len(w.question) > trade.MaxQuestion {
				return cli.Usagef("the question has %d bytes, want 1 to %d", len(w.question), trade.MaxQuestion)
			}
			return orderAndWait(a, cmd.Context(), *at, &w)
		},
	}
	f := c.Flags()
	f.StringVar(&w.voucher, "voucher", "", "`code` to pay with; the rest of its value stays in your balance at the market")
	f.StringVar(&w.most, "most", "", "order only up to this `price`, such as 0.50 EUR")
	f.DurationVar(&w.patience, "wait", 90*time.Second, "how `long` to wait for the answer")
	f.BoolVarP(&w.yes, "yes", "y", false, "do not ask before paying")
	return c
}

func enterCommand(a *cli.App, at *string) *cobra.Command {
	w := ordering{enters: true}
	c := &cobra.Command{
		Use: "enter LISTING", Short: "Pay the fee to enter a community", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		Long: `Orders the entry to a community for your key (locket share key), and pays with a voucher or
from your balance at the market. The market holds the fee until the owner's node has admitted
your key. Then you get a link, and locket community join LINK opens the community. The fee
goes back if the name or key is taken, the owner refuses, or nothing comes in time.

Join before you accept the order. If the community does not know your key, dispute the order.
A member who is removed before the fee is paid out gets it back, and a member who gets the
fee back is removed. After that the owner may remove anybody, and the fee stays paid.

The market can read your key and the price. Your name and the link are sealed to the owner
and you. All members can read your name.

` + cannotUndo,
		Example: `  locket market enter 3f9a… --as Ann --most "5.00 EUR" --voucher 7K3QF-0M9ZT-…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.listing = args[0]; w.question == "" {
				return cli.Usagef("--as NAME is missing: the name that all members see")
			}
			return orderAndWait(a, cmd.Context(), *at, &w)
		},
	}
	f := c.Flags()
	f.StringVar(&w.question, "as", "", "your `name` among the members")
	f.StringVar(&w.voucher, "voucher", "", "`code` to pay with; the rest of its value stays in your balance at the market")
	f.StringVar(&w.most, "most", "", "pay at most this `price`, such as 5.00 EUR")
	f.DurationVar(&w.patience, "wait", 90*time.Second, "how `long` to wait until you are admitted")
	f.BoolVarP(&w.yes, "yes", "y", false, "do not ask before paying")
	return c
}

// awaitAnswer waits for the answer to a paid order, and shows it. If the market fails meanwhile, it
// asks again until patience is over. In any case it prints the order's id and how to open it.
func awaitAnswer(a *cli.App, ctx context.Context, b *market.Buyer, o *market.Bought, every, patience time.Duration) (err error) {
	order := o.State.ID.String()[:10]
	did, none, yet := "Asked", "no answer", "Not answered yet: %s.\nThe seller has until %s to answer. After that the price goes back.\n"
	if o.State.Offer.Entry {
		did, none, yet = "Ordered", "not admitted", "Not admitted yet: %s.\nThe owner has until %s to admit you. After that the fee goes back.\n"
	}
	fmt.Fprintf(a.Stderr, did+" and paid %s: %s\n", trade.Price(o.State.Order.Price, o.State.Order.Currency), o.State.ID)
	defer func() {
		if !a.JSON {
			fmt.Fprint(a.Stderr, a.WithHomef("  locket market open %s\n", order))
		}
	}()
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var failed error
	for o.State.Phase == trade.Funded && wait.For(within, every) {
		if err := b.Refresh(within, o); within.Err() == nil {
			failed = err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case o.State.Phase == trade.Funded && failed != nil:
		return fmt.Errorf("asked and paid, but the market does not say whether the answer has come: %w", failed)
	case o.State.Phase == trade.Funded && a.JSON:
		return ordered(a, nil, o)
	case o.State.Phase == trade.Funded:
		fmt.Fprintf(a.Stdout, yet, o.State.ID, a.ShowTime(time.Unix(o.State.Deadline, 0)))
		return nil
	case !o.IsComplete():
		if a.JSON {
			return ordered(a, nil, o)
		}
		return errors.New(a.WithHomef(none+": %q. The price is yours again (locket market balance)", cli.OneLine(o.State.Reason)))
	}
	ms, err := b.OpenAll(ctx, o)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return disputable(a, o, err)
	}
	return showOpened(a, b, o, ms)
}

// showOpened prints what was bought, and what the buyer can do next.
func showOpened(a *cli.App, b *market.Buyer, o *market.Bought, ms []memory.Candidate) error {
	places := make([]int, len(ms))
	for i := range places {
		places[i] = i
	}
	what := "Each item matches the listing."
	if o.State.Order.Question != nil {
		r, err := b.Answer(o)
		if err != nil {
			return err
		}
		places, what = r.Places, "The answer belongs to your question, and is from the listed bundle."
		if o.State.Offer.Entry {
			what = a.WithHomef("This is the link of the listed community; your key was admitted as %q:\n  locket community join 'LINK'\nJoin before you accept.", cli.OneLine(r.Question))
		} else if !a.JSON {
			fmt.Fprintf(a.Stderr, "%s\n", a.Paint.Dim(cli.OneLine(r.Question)))
		}
	}
	items := make([]openedOf, len(ms))
	for i, m := range ms {
		items[i] = openedOf{places[i] + 1, string(m.Type), m.Text, m}
	}
	err := cli.Rows(a, nil, items, func(w io.Writer, v *openedOf) {
		fmt.Fprintf(w, "%4d  %-10s  %s\n", v.Place, v.Type, cli.OneLine(v.Text))
		a.ShowBeyond(w, 18, &v.Item)
	}, "")
	if err == nil && o.State.Phase == trade.Delivered && !a.JSON {
		fmt.Fprint(a.Stderr, a.WithHomef("%s Accept or dispute it by %s. After that the seller is paid:\n  locket market accept %s\n",
			what, a.ShowTime(time.Unix(o.State.Deadline, 0)), o.State.ID.String()[:10]))
	}
	return err
}
