package marketcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// soldForGood is part of the help of each command that sells, and not a constant, for
// the same reason as cannotUndo.
var soldForGood = `Buyers can keep what they got, and can pass it on in breach of the licence; this cannot be
undone. The title, description and sample are public at once, and stay in the market's log.`

// publishHelp is the help of market publish.
var publishHelp = `Selects and redacts memories like locket share create, shows what a buyer would see, and
asks. The vault is never sold. Your policy decides what may be sold (locket policy, sell).
The sealed items go to the market, and their key stays in this home until somebody has paid.

This node delivers the key within a minute of a payment while it is running and unlocked, or
when you run locket market sales. With --approve, each sale waits for locket market deliver.
If a memory in it is forgotten, or may not be sold any more, the listing is withdrawn.

With --answers, the bundle stays here, and each order asks a question. This node answers with
up to three of the redacted memories, or gives the price back if none fits. All answers
together show one buyer at most --answers-each percent of the memories, and all buyers at
most --answers-all percent. With --approve, locket market sales first shows you the question
and the answer.

With --entry, you sell the entry to a community of yours, and no memories. This node admits
everyone whose fee is paid, under the name that they give, and sends them the link. With
--approve, locket market sales first shows you the name and the words of the key. The members
are told the fee, because whoever pays can read what they contributed.

Copies of a bundle are marked if it has enough places where a wording can vary: "usually" or
"normally", "don't" or "do not", with or without a final full stop. The preview shows both
texts. locket market trace then says whose copy was passed on.

` + soldForGood

func publishCommand(a *cli.App, at *string) *cobra.Command {
	var r serve.ListingRequest
	var types []string
	var since, until, sensitivity string
	var yes, dry, answers bool
	var limits serve.ListingAnswers
	c := &cobra.Command{
		Use: "publish", Short: "Seal a bundle of memories, and list it for sale", Args: cli.NoArgs(),
		Long: publishHelp,
		Example: `  locket market publish --tag garden --redact names,places,times=month --title "A year in a garden" \
    --category garden --language en --sample "Beans want poles." --price "5.00 EUR"
  locket market publish --tag garden --redact names --title "Ask a gardener" --category garden --language en --answers --price "0.20 EUR"
  locket market publish --entry Gardeners --title "Gardeners of Lane 128" --category garden --language en --price "5.00 EUR"`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			if err := publishable(&r, dry); err != nil {
				return err
			}
			if *at == "" && r.Replaces == "" && !dry && node.PrimaryRelay(&l.Config) == "" {
				return cli.Usagef("--at URL is missing: this home has no relay, and so no market")
			}
			r.Market, r.Bundle.Types = *at, cli.ReadTypes(types)
			if r.Bundle.Since, r.Bundle.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if r.Bundle.Sensitivity, err = cli.ReadSensitivity(sensitivity); err != nil {
				return err
			}
			if answers {
				r.Answers = &limits
			} else if limits != (serve.ListingAnswers{}) {
				return cli.Usagef("--answers-each and --answers-all need --answers")
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return publishListing(a, cmd.Context(), c, r, yes, dry) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.Bundle.Query, "query", "", "what the memories are about")
	f.StringSliceVar(&types, "type", nil, "only these `types`; not vault")
	cli.Choose(f, "type", cli.OpenTypes...)
	f.StringSliceVar(&r.Bundle.Tags, "tag", nil, "only with all these `tags`")
	f.StringVar(&since, "since", "", "learnt at this `time` or later")
	f.StringVar(&until, "until", "", "learnt before this `time`")
	f.StringVar(&sensitivity, "sensitivity", "", "the highest sensitivity `level` that is sold; default personal")
	cli.LimitFlag(f, &r.Bundle.Limit, 0, "at most this `count` of memories")
	f.StringSliceVar(&r.Bundle.Redact, "redact", nil, "what to take out: names, places, times, or `words`")
	f.BoolVar(&r.Bundle.Quotes, "quotes", false, "include the words that a memory quotes")
	f.IntVar(&r.Bundle.AtLeast, "at-least", 0, "how many `people` must have made each statement")
	f.StringVar(&r.Bundle.Purpose, "purpose", "", "the `purpose` for which it may be bought; rules of your policy can check it")
	f.StringVar(&r.Title, "title", "", "the title that everybody sees")
	f.StringVar(&r.Description, "description", "", "what is in it, in `words`")
	f.StringSliceVar(&r.Categories, "category", nil, "`categories`, such as garden or travel-japan")
	f.StringSliceVar(&r.Languages, "language", nil, "`languages` of the items, such as en or zh-Hans")
	f.StringArrayVar(&r.Sample, "sample", nil, "a `text` that you wrote for everybody to read; up to five")
	f.StringVar(&r.Licence, "licence", "", "what a buyer may do with it; default: personal use")
	f.StringVar(&r.Terms, "terms", "", "further terms")
	f.StringVar(&r.Price, "price", "", "the `price`, such as 5.00 EUR")
	f.StringVar(&r.Replaces, "replaces", "", "the `listing` of which this is the next version")
	f.BoolVar(&answers, "answers", false, "sell answers, each for the price, instead of copies")
	f.IntVar(&limits.Each, "answers-each", 0, "show one buyer at most this `percent` of the memories; default 10")
	f.IntVar(&limits.All, "answers-all", 0, "show all buyers together at most this `percent` of the memories; default 50")
	f.StringVar(&r.Entry, "entry", "", "sell the entry to this `community` of yours, and no memories")
	f.BoolVar(&r.Unmarked, "unmarked", false, "make all copies the same, so that nobody can tell who passed one on; later versions, too")
	f.BoolVar(&r.Approve, "approve", false, "let each sale wait for locket market deliver")
	f.IntVar(&r.DeliverDays, "deliver-days", 0, "`days` that you have to deliver the key; default 7")
	f.IntVar(&r.AcceptDays, "accept-days", 0, "`days` that a buyer has to accept or dispute; default 3")
	f.IntVar(&r.EveryDays, "every-days", 0, "sell a subscription: every so many `days`, sell what you learnt since, selected as here, without asking you")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&dry, "dry-run", false, "show what a buyer would see, and list nothing")
	return c
}

// publishable says what a listing lacks, before anything is shown or asked. For a dry run a price
// is enough.
func publishable(r *serve.ListingRequest, dry bool) error {
	var missing []string
	for _, f := range []struct {
		flag string
		has  bool
	}{{`--price "5.00 EUR"`, r.Price != ""}, {`--title "A year in a garden"`, dry || r.Title != ""}, {"--category garden", dry || len(r.Categories) > 0}, {"--language en", dry || len(r.Languages) > 0}} {
		if !f.has {
			missing = append(missing, f.flag)
		}
	}
	err := error(nil)
	if len(missing) > 0 {
		err = fmt.Errorf("missing, such as: %s", strings.Join(missing, " "))
	} else if _, _, err = trade.ParsePrice(r.Price); err == nil {
		return nil
	}
	return cli.UsageError{Err: cli.AdvisedError{Err: err, Advice: "A market lists nothing for free. To give memories away, use locket share create"}}
}

func publishListing(a *cli.App, ctx context.Context, c *serve.Client, r serve.ListingRequest, yes, dry bool) error {
	p, err := c.PreviewListing(ctx, r)
	if err != nil {
		return err
	}
	if dry {
		return a.Print(p, func(w io.Writer) { a.ShowPreview(w, &p) })
	}
	if !yes {
		a.ShowPreview(a.Stderr, &p)
		if fmt.Fprintln(a.Stderr, soldForGood); r.Entry != "" {
			fmt.Fprintln(a.Stderr, "Whoever pays can read what all members contributed, also earlier contributions.")
		}
		if !a.Confirm("List it for " + r.Price + "?") {
			return errors.New("nothing was listed")
		}
	}
	r.Bundle.Confirm = p.Confirm
	l, err := c.PublishListing(ctx, r)
	return a.PrintUnless(err, l, func(w io.Writer) {
		if l.Entry != (memory.SpaceID{}) {
			fmt.Fprintf(w, "Listed the entry for %s as %s. This node admits whoever has paid, within a minute while it is running and unlocked.\n", l.Price, l.ID)
			return
		}
		if l.Answers != nil {
			fmt.Fprintf(w, "Listed answers from %s for %s each as %s. One buyer is shown at most %d of them, and all together at most %d.\n",
				cli.Plural(l.Items, "memory", "memories"), l.Price, l.ID, l.Answers.Each, l.Answers.All)
			return
		}
		fmt.Fprintf(w, "Listed %s for %s as %s.\n", cli.Plural(l.Items, "memory", "memories"), l.Price, l.ID)
	})
}

func ownListingRow(a *cli.App, w io.Writer, l *serve.Listing) {
	state := "for sale"
	switch {
	case !l.Withdrawn.IsZero():
		state = "withdrawn " + a.ShowTime(l.Withdrawn)
	case l.Approve:
		state = "for sale, with your approval"
	}
	if l.Held != "" {
		state += ", held back: " + cli.OneLine(l.Held)
	}
	fmt.Fprintf(w, "%s  %10s  %s  %s  %s\n", a.Paint.Dim(l.ID.String()[:10]), l.Price, a.Paint.Bold(cli.OneLine(l.Title)), cli.Plural(l.Items, "memory", "memories"), state)
}

func listCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what this home sells", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Listings, func(a0 io.Writer, a1 *serve.Listing) { ownListingRow(a, a0, a1) }, "Nothing is for sale."),
	}
}

func withdrawCommand(a *cli.App) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "withdraw LISTING", Short: "End a listing", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		Long: "Nobody can find or order the listing any more. Earlier orders continue. Once no order is\nopen, the market deletes the sealed items, and the home forgets the bundle's key. If a marked\nbundle was sold, the home keeps its key for locket market trace, until a memory in it is\nforgotten.\n\n" + soldForGood,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			l, err := c.WithdrawListing(cmd.Context(), args[0], reason)
			return a.PrintUnless(err, l, func(w io.Writer) { ownListingRow(a, w, &l) })
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for everybody to read")
	return c
}

func saleRow(a *cli.App, w io.Writer, s *serve.Sale) {
	state := string(s.Phase)
	if s.Waits {
		state += a.WithHomef(", waits for locket market deliver %s", s.Order.String()[:10])
	}
	if s.Paid != "" {
		state += ", " + s.Paid + " paid"
	}
	if !s.Deadline.IsZero() {
		state += ", until " + a.ShowTime(s.Deadline)
	}
	if s.Reason != "" {
		state += fmt.Sprintf(", %q", cli.OneLine(s.Reason))
	}
	fmt.Fprintf(w, "%s  %10s  %s  %s\n", a.Paint.Dim(s.Order.String()[:10]), s.Price, cli.OneLine(s.Title), state)
	if s.Question != "" {
		fmt.Fprintf(w, "  asks     %s\n", cli.OneLine(s.Question))
	}
	for _, text := range s.Answer {
		fmt.Fprintf(w, "  answers  %s\n", cli.OneLine(text))
	}
	if s.Waits && s.Question != "" && len(s.Answer) == 0 {
		fmt.Fprintln(w, "  answers  nothing may be shown any more: deliver gives the price back")
	}
}

func salesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "sales", Short: "Check for orders, deliver those that need no approval, and list all", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Sales, func(a0 io.Writer, a1 *serve.Sale) { saleRow(a, a0, a1) }, "No sales yet."),
	}
}

func settleSale(a *cli.App, ctx context.Context, r serve.SaleRequest) error {
	return cli.PrintAnswer(ctx, a, (*serve.Client).SettleSale, r, func(a0 io.Writer, a1 *serve.Sale) { saleRow(a, a0, a1) })
}

func deliverCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "deliver ORDER", Short: "Approve a sale: deliver the bundle's key, or the answer", Args: cli.ArgsBetween(1, 1, "an order's id"),
		Long: "Fails if the price went back to the buyer instead, because a memory may not be sold any more,\nor because nothing that may still be shown answers the question.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return settleSale(a, cmd.Context(), serve.SaleRequest{Order: args[0], Act: serve.DeliverSale})
		},
	}
}

func refundCommand(a *cli.App) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "refund ORDER", Short: "Give a buyer the whole price back", Args: cli.ArgsBetween(1, 1, "an order's id"),
		Long: "Works until the order has ended, also in a dispute. A buyer who has the key keeps it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return settleSale(a, cmd.Context(), serve.SaleRequest{Order: args[0], Act: serve.RefundSale, Reason: reason})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the buyer and the market")
	return c
}

func disputeRow(a *cli.App, w io.Writer, v *serve.Dispute) {
	fmt.Fprintf(w, "%s  %s  %s\n  the buyer says   %s\n", a.Paint.Dim(v.Order.String()), v.Price, cli.OneLine(v.Title), cli.OneLine(v.Says))
	text := ""
	if v.Item != nil {
		text = strings.Join(append([]string{v.Item.Text}, v.Item.Beyond()...), "; ")
	}
	lines := [][2]string{{"the item says", text}, {"was asked", v.Question}}
	for _, text := range v.Answer {
		lines = append(lines, [2]string{"was answered", text})
	}
	for _, l := range append(lines, [][2]string{{"not as listed", v.Broken}, {"proves nothing", v.Nothing}}...) {
		if l[1] != "" {
			fmt.Fprintf(w, "  %-15s  %s\n", l[0], cli.OneLine(l[1]))
		}
	}
	fmt.Fprintf(w, "  decide until     %s\n", a.ShowTime(v.Until))
}

func disputesCommand(a *cli.App, at *string) *cobra.Command {
	return &cobra.Command{
		Use: "disputes", Short: "As the arbiter: list disputes, with what the evidence proves", Args: cli.NoArgs(),
		Long: `For the holder of the key that the market names as its arbiter. The evidence is one item,
or the wrong key. It is checked against the listing, so nobody has to be trusted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				list, err := b.Disputes(cmd.Context(), m)
				return cli.Rows(a, err, list, func(a0 io.Writer, a1 *serve.Dispute) { disputeRow(a, a0, a1) }, "No disputes.")
			})
		},
	}
}

func decideCommand(a *cli.App, at *string) *cobra.Command {
	var refund, reason string
	c := &cobra.Command{
		Use: "decide ORDER --refund AMOUNT --reason TEXT", Short: "As the arbiter: divide the price of a disputed order", Args: cli.ArgsBetween(1, 1, "an order's whole id"),
		Long:    "--refund is all, none, or an amount. It goes back to the buyer, and the rest to the seller.",
		Example: "  locket market decide 8c21… --refund all --reason \"The item is empty.\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			var id trade.Hash
			if err := id.UnmarshalText([]byte(args[0])); err != nil {
				return cli.Usagef("order %q: want its whole id, as shown by locket market disputes", args[0])
			}
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, _ string, m *tradeat.Market, by trade.Party, _ trade.Terms) error {
				s, err := b.Decide(cmd.Context(), m, by, id, refund, reason)
				switch {
				case errors.Is(err, memory.ErrInvalid):
					return cli.UsageError{Err: err}
				case err != nil:
					return err
				}
				return ordered(a, nil, &market.Bought{State: s})
			})
		},
	}
	c.Flags().StringVar(&refund, "refund", "", "`amount` that goes back: all, none, or 2.50 EUR")
	c.Flags().StringVar(&reason, "reason", "", "why, in `words`")
	return c
}

func payoutCommand(a *cli.App, at *string) *cobra.Command {
	var amount string
	var earned bool
	c := &cobra.Command{
		Use: "payout --amount AMOUNT", Short: "Pay out your balance at the market as a voucher", Args: cli.NoArgs(),
		Long: "Prints a voucher code for the amount. Keep it safe: anyone who has it can spend it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if amount == "" {
				return cli.AdvisedError{Err: cli.Usagef("--amount AMOUNT is missing, such as \"5.00 EUR\""),
					Advice: a.WithHome("To see what is there: locket market balance; what you have earned: locket market balance --earned")}
			}
			if _, _, err := trade.ParsePrice(amount); err != nil {
				return cli.Usagef("--amount: %w", err)
			}
			if earned {
				return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).PayOutSales, serve.PayoutRequest{Market: *at, Amount: amount}, func(w io.Writer, v *serve.Payout) { fmt.Fprintln(w, v.Voucher) })
			}
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, terms trade.Terms) error {
				voucher, err := b.WithdrawBalance(cmd.Context(), m, terms.Market, amount)
				return a.PrintUnless(err, map[string]string{"voucher": voucher}, func(w io.Writer) { fmt.Fprintln(w, voucher) })
			})
		},
	}
	c.Flags().BoolVar(&earned, "earned", false, "pay out what this home's node has earned, instead of the balance for buying")
	c.Flags().StringVar(&amount, "amount", "", "how much, such as 5.00 EUR")
	return c
}

func depositCommand(a *cli.App, at *string) *cobra.Command {
	var voucher string
	c := &cobra.Command{
		Use: "deposit --voucher CODE", Short: "Add a voucher to your balance at the market", Args: cli.NoArgs(),
		Long: "The balance pays for your orders, and for those of apps with the right buy (locket app add).\nlocket market payout turns it back into a voucher.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if voucher == "" {
				return cli.Usagef("--voucher CODE is missing")
			}
			return trading(a, cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				list, err := m.Deposit(cmd.Context(), voucher)
				return cli.Rows(a, err, list, func(w io.Writer, b *trade.Balance) { fmt.Fprintln(w, trade.Price(uint64(max(0, b.Spend)), b.Currency)) }, "Nothing.")
			})
		},
	}
	c.Flags().StringVar(&voucher, "voucher", "", "the `code`")
	return c
}
