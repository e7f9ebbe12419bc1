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

// ordering is what is ordered from the command line.
type ordering struct {
	listing, question, most string
	enters                  bool // a community, under the question's name
	yes                     bool
	takes                   func(pays []string) error // refuses how the market is paid; nil: it does not
	voucher                 string
	patience                time.Duration // for what was ordered
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
				return errors.New(a.Here("it sells the entry to a community: locket market enter"))
			}
			return errors.New(a.Here("it does not sell the entry to a community: locket market show says what it sells"))
		}
		if w.most != "" {
			minor, code, err := trade.ParsePrice(w.most)
			if err != nil {
				return cli.UsageError{Err: err}
			}
			if code != l.Currency || l.Price > minor {
				return fmt.Errorf("it costs %s, which is over --most %s: nothing was ordered", v.Price, w.most)
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
		return fmt.Errorf("%s: %w", a.Heref("ordered, and not paid: locket market pay %s --voucher CODE pays it, and in a day it lapses", o.State.ID.String()[:10]), err)
	}
	return awaitAnswer(a, ctx, b, o, askEvery, w.patience)
}

// askEvery is how often the market is asked whether the answer is there.
const askEvery = 2 * time.Second

func askCommand(a *cli.App, at *string) *cobra.Command {
	w := ordering{}
	c := &cobra.Command{
		Use: "ask LISTING QUESTION", Short: "Pay for an answer instead of a copy", Args: cli.Between(2, 2, "a listing's id or the question"),
		Long: `Orders an answer of a listing that sells answers (locket market show says so), and pays with
a voucher or from what you have at the market. The question is sealed to the seller, whose
node answers with up to three memories of its bundle, redacted as the listing says; your
home checks that they are of that bundle, and to what you asked. The market reads neither.
The seller learns your key and what you asked.

Where the seller's node has no answer, or may show you no more, the price goes back to what
you have at the market. It does so, too, where the seller says nothing in time.

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
	f.StringVar(&w.voucher, "voucher", "", "`code` to pay with; what is left of it stays yours at the market")
	f.StringVar(&w.most, "most", "", "ask nothing that costs more than this `price`: 0.50 EUR")
	f.DurationVar(&w.patience, "wait", 90*time.Second, "for how `long` to wait for the answer")
	f.BoolVarP(&w.yes, "yes", "y", false, "do not ask before paying")
	return c
}

func enterCommand(a *cli.App, at *string) *cobra.Command {
	w := ordering{enters: true}
	c := &cobra.Command{
		Use: "enter LISTING", Short: "Pay a fee, and be let into a community", Args: cli.Between(1, 1, "a listing's id"),
		Long: `Orders the entry to a community for the key of locket share key, and pays with a voucher or
from what you have at the market. The market holds the fee until the owner's node has let
your key in; then its link comes, and locket community join LINK opens it. The fee goes
back if the name or key is taken, the owner says no, or nothing comes in time.

Join before you accept. If the community does not know your key, dispute the order. Whoever
is put out before the fee is paid has it back, and whoever has the fee back is put out;
afterwards the owner may put out anybody, and the fee stays paid.

The market reads your key and the price. Name and link are sealed to owner and you; all
members read the name.

` + cannotUndo,
		Example: `  locket market enter 3f9a… --as Ann --most "5.00 EUR" --voucher 7K3QF-0M9ZT-…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.listing = args[0]; w.question == "" {
				return cli.Usagef("--as NAME is needed: all members see it")
			}
			return orderAndWait(a, cmd.Context(), *at, &w)
		},
	}
	f := c.Flags()
	f.StringVar(&w.question, "as", "", "what the members call you, by `name`")
	f.StringVar(&w.voucher, "voucher", "", "`code` to pay with; what is left of it stays yours at the market")
	f.StringVar(&w.most, "most", "", "pay no more than this `price`: 5.00 EUR")
	f.DurationVar(&w.patience, "wait", 90*time.Second, "for how `long` to wait until you are let in")
	f.BoolVarP(&w.yes, "yes", "y", false, "do not ask before paying")
	return c
}

// awaitAnswer waits for the answer of an order that is paid, and shows it. A market that
// fails meanwhile is asked again until the time is over. However it ends, it says what
// the order is called and how it is opened.
func awaitAnswer(a *cli.App, ctx context.Context, b *market.Buyer, o *market.Bought, every, patience time.Duration) (err error) {
	order := o.State.ID.String()[:10]
	did, none, yet := "Asked", "no answer", "Not answered yet: %s.\nThe seller has until %s to answer; else the price goes back.\n"
	if o.State.Offer.Entry {
		did, none, yet = "Ordered", "not let in", "Not let in yet: %s.\nThe owner has until %s to let you in; else the fee goes back.\n"
	}
	fmt.Fprintf(a.Stderr, did+" and paid %s: %s\n", trade.Price(o.State.Order.Price, o.State.Order.Currency), o.State.ID)
	defer func() {
		if !a.JSON {
			fmt.Fprint(a.Stderr, a.Heref("  locket market open %s\n", order))
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
		return fmt.Errorf("asked and paid, and the market does not say whether the answer is there: %w", failed)
	case o.State.Phase == trade.Funded && a.JSON:
		return ordered(a, nil, o)
	case o.State.Phase == trade.Funded:
		fmt.Fprintf(a.Stdout, yet, o.State.ID, a.When(time.Unix(o.State.Deadline, 0)))
		return nil
	case !o.Came():
		if a.JSON {
			return ordered(a, nil, o)
		}
		return errors.New(a.Heref(none+": %q. The price is yours again (locket market balance)", cli.OneLine(o.State.Reason)))
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

// showOpened prints what was bought, and what can be done about it.
func showOpened(a *cli.App, b *market.Buyer, o *market.Bought, ms []memory.Candidate) error {
	places := make([]int, len(ms))
	for i := range places {
		places[i] = i
	}
	what := "Each item is the one that was listed."
	if o.State.Order.Question != nil {
		r, err := b.Answer(o)
		if err != nil {
			return err
		}
		places, what = r.Places, "It is to what you asked, and of the listed bundle."
		if o.State.Offer.Entry {
			what = a.Heref("It is the link of the community that was listed; your key was let in as %q:\n  locket community join 'LINK'\nJoin before you accept.", cli.OneLine(r.Question))
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
	}, "")
	if err == nil && o.State.Phase == trade.Delivered && !a.JSON {
		fmt.Fprint(a.Stderr, a.Heref("%s Accept or dispute it by %s; then the seller is paid:\n  locket market accept %s\n",
			what, a.When(time.Unix(o.State.Deadline, 0)), o.State.ID.String()[:10]))
	}
	return err
}
