// Package marketcmd contains locket market, which sells and buys memories.
package marketcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

func Command(a *cli.App) *cobra.Command {
	var at string
	c := &cobra.Command{
		Use: "market", Short: "Buy and sell bundles of redacted memories", RunE: a.NeedsCommand,
		Long: `A market keeps listings, sealed bundles, orders and money, and cannot read any bundle. Its
operator sees the listings, who orders what, and what it costs.

To buy, you need only a key (locket share key), and no node. To sell, a node seals the
bundle, and delivers its key to whoever has paid (docs/market.md).`,
	}
	c.PersistentFlags().StringVar(&at, "at", "", "`URL` of the relay with the market; default: the node's first relay")
	c.AddCommand(searchCommand(a, &at), showCommand(a, &at), buyCommand(a, &at), askCommand(a, &at), enterCommand(a, &at), payCommand(a), ordersCommand(a), openCommand(a),
		acceptCommand(a), disputeCommand(a), cancelCommand(a), reviewCommand(a), reportCommand(a, &at), balanceCommand(a, &at), depositCommand(a, &at), payoutCommand(a, &at),
		publishCommand(a, &at), listCommand(a), withdrawCommand(a), salesCommand(a), deliverCommand(a), refundCommand(a),
		disputesCommand(a, &at), decideCommand(a, &at), verifyCommand(a, &at), exportCommand(a), moveCommand(a), traceCommand(a),
		subscribeCommand(a, &at), renewCommand(a), unsubscribeCommand(a))
	return c
}

// buyer returns the buyer with the key in this home.
func buyer(a *cli.App) (*market.Buyer, error) {
	r, err := cli.Reader(a)
	if err != nil {
		return nil, err
	}
	return &market.Buyer{Dir: r.Dir}, nil
}

// trading calls the market that --at names.
func trading(a *cli.App, ctx context.Context, at string, f func(b *market.Buyer, address string, m *tradeat.Market, by trade.Party, terms trade.Terms) error) error {
	b, err := buyer(a)
	if err != nil {
		return err
	}
	if at == "" {
		l, err := a.Load()
		if err != nil {
			return err
		}
		at = node.PrimaryRelay(&l.Config)
	}
	if at == "" {
		return cli.Usagef("--at URL is missing: this home has no relay, and so no market")
	}
	return b.WithMarket(ctx, at, func(m *tradeat.Market, by trade.Party, terms trade.Terms) error { return f(b, at, m, by, terms) })
}

func listingRow(a *cli.App, w io.Writer, v *serve.Offer) {
	stars := ""
	if v.Reviews > 0 {
		stars = fmt.Sprintf("  %.1f of 5 by %d", v.Stars, v.Reviews)
	}
	what := cli.Plural(v.Items, "memory", "memories")
	switch {
	case v.Answers != nil:
		what = "answers from " + what
	case v.Entry:
		what = "entry to a community"
	}
	fmt.Fprintf(w, "%s  %10s  %s  %s, sold %d%s\n", a.Paint.Dim(v.ID.String()[:10]), v.Price, a.Paint.Bold(cli.OneLine(v.Title)), what, v.Sold, stars)
}

func searchCommand(a *cli.App, at *string) *cobra.Command {
	var q serve.OfferQuery
	var facets bool
	c := &cobra.Command{
		Use: "search [WORDS]", Short: "Find listings", Args: cli.ArgsBetween(0, 1, "what to look for"),
		Long:    "Finds listings that contain all the words, in English, Chinese and other languages. Listings\nand reviews are signed. The counts of sales and reviews are only what the market says.",
		Example: "  locket market search \"garden tomatoes\" --at https://relay.example\n  locket market search --category travel --language zh-Hans --most \"5.00 EUR\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Words = strings.Join(args, " ")
			if q.Most != "" {
				if _, _, err := trade.ParsePrice(q.Most); err != nil {
					return cli.UsageError{Err: err}
				}
			}
			return trading(a, cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				found, err := market.Search(cmd.Context(), m, q)
				if err != nil {
					return err
				}
				err = cli.Rows(a, nil, found.Offers, func(a0 io.Writer, a1 *serve.Offer) { listingRow(a, a0, a1) }, "")
				if facets {
					err = cli.Rows(a, err, found.Facets, func(w io.Writer, x *serve.OfferFacet) {
						fmt.Fprintf(w, "%-9s %-20s %d\n", cli.OneLine(x.Kind), cli.OneLine(x.Value), x.Count)
					}, "")
				}
				if n := len(found.Offers); err == nil && !a.JSON && found.Total > n {
					fmt.Fprintf(a.Stderr, "%d of %d shown. For more: --skip %d\n", n, found.Total, q.Skip+n)
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&q.Category, "category", "", "only in this `category`")
	f.StringVar(&q.Language, "language", "", "only in this `language`, such as en or zh-Hans")
	f.StringVar(&q.Most, "most", "", "only up to this `price`, such as 5.00 EUR")
	f.BoolVar(&q.Newest, "newest", false, "newest first instead of best match first")
	f.BoolVar(&facets, "facets", false, "also count the listings of each category, language and currency")
	cli.LimitFlag(f, &q.Limit, 20, "show at most this `count`")
	f.IntVar(&q.Skip, "skip", 0, "how many to skip")
	return c
}

// findListing returns the id of the listing that has this id, or, among the newest listings, of the
// only one whose id begins so.
func findListing(ctx context.Context, m *tradeat.Market, id string) (h trade.Hash, err error) {
	if len(id) == 64 {
		if err := h.UnmarshalText([]byte(strings.ToLower(id))); err != nil {
			return h, cli.UsageError{Err: err}
		}
		return h, nil
	}
	if len(id) < 8 {
		return h, cli.Usagef("listing %q: want at least 8 characters of its id", id)
	}
	found := 0
	for skip := 0; skip < trade.MaxSkip; skip += trade.MaxHits {
		_, ls, err := m.Search(ctx, url.Values{"sort": {"newest"}, "limit": {strconv.Itoa(trade.MaxHits)}, "skip": {strconv.Itoa(skip)}})
		if err != nil {
			return h, err
		}
		for _, l := range ls {
			if strings.HasPrefix(l.ID().String(), strings.ToLower(id)) {
				h = l.ID()
				found++
			}
		}
		if len(ls) < trade.MaxHits {
			break
		}
	}
	switch found {
	case 1:
		return h, nil
	case 0:
		return h, fmt.Errorf("listing %s: %w among the newest; to find an older one, give its whole id (--json prints it)", id, memory.ErrNotFound)
	}
	return h, fmt.Errorf("listing %s: %w", id, memory.ErrAmbiguous)
}

func showCommand(a *cli.App, at *string) *cobra.Command {
	return &cobra.Command{
		Use: "show LISTING", Short: "Show a listing, with its sample and reviews", Args: cli.ArgsBetween(1, 1, "a listing's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return trading(a, cmd.Context(), *at, func(b *market.Buyer, address string, m *tradeat.Market, _ trade.Party, terms trade.Terms) error {
				id, err := findListing(cmd.Context(), m, args[0])
				if err != nil {
					return err
				}
				v, _, err := b.Show(cmd.Context(), m, address, &terms, id)
				return a.PrintUnless(err, v, func(w io.Writer) { showListing(a, w, &v) })
			})
		},
	}
}

func showListing(a *cli.App, w io.Writer, v *serve.Offer) {
	listingRow(a, w, v)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s%s\n", name, cli.OneLine(text))
		}
	}
	if v.State != "" && v.State != trade.Live {
		line("ended", v.State+": "+v.Why)
	}
	line("id", v.ID.String())
	line("about", v.Description)
	var counts []string
	for _, t := range slices.Sorted(maps.Keys(v.Counts)) {
		counts = append(counts, fmt.Sprintf("%d %s", v.Counts[t], t))
	}
	line("holds", strings.Join(counts, ", "))
	if !v.Since.IsZero() || !v.Until.IsZero() {
		var ends [2]string
		for i, at := range []time.Time{v.Since, v.Until} {
			if !at.IsZero() {
				ends[i] = at.Format(time.DateOnly)
			}
		}
		line("period", strings.TrimSpace(ends[0]+" to "+ends[1]))
	}
	if v.EveryDays > 0 {
		line("grows", fmt.Sprintf("every %g days; this is period %d, and each period is paid separately", v.EveryDays, v.Number))
	}
	if v.Entry {
		line("sells", a.WithHome("the entry to a community (locket market enter); the owner admits whoever pays"))
	}
	if l := v.Answers; l != nil {
		line("sells", a.WithHomef("answers, each for %s (locket market ask); all answers together show one buyer at most %d of the memories, and all buyers at most %d; the number of memories is what the seller says", v.Price, l.Each, l.All))
	}
	if v.Marks > 0 {
		line("marked", fmt.Sprintf("your copy will differ from other copies in %d places, by a word or a full stop, so that the seller can tell who passed it on", v.Marks))
	}
	line("categories", strings.Join(v.Categories, ", "))
	line("languages", strings.Join(v.Languages, ", "))
	line("left out", strings.Join(v.Redaction, ", "))
	for _, s := range v.Sample {
		line("sample", s)
	}
	line("licence", v.Licence)
	line("terms", v.Terms)
	line("seller", v.Seller.String())
	line("delivery", fmt.Sprintf("within %g days; after that %g days to accept or dispute", v.DeliverDays, v.AcceptDays))
	for _, b := range v.Before {
		line("before", fmt.Sprintf("at the market %s, which says: sold %d, %.1f of 5 by %d", b.Market.String()[:8], b.Sold, b.Stars, b.Reviews))
		for _, r := range b.Said {
			line(fmt.Sprintf("%d of 5", r.Stars), r.Text+" ("+r.By.String()[:8]+", there"+checked(&r, v)+")")
		}
	}
	for _, r := range v.Said {
		line(fmt.Sprintf("%d of 5", r.Stars), r.Text+" ("+r.By.String()[:8]+checked(&r, v)+")")
	}
	for _, text := range checkSays(&v.Check) {
		line("reviews", text)
	}
}

// checked returns the note behind a review that says whether this home could prove it.
func checked(r *serve.OfferReview, v *serve.Offer) string {
	switch {
	case v.Check.Error != "":
		return ""
	case r.Unproven == "":
		return ", checked"
	}
	return ", NOT PROVEN: " + map[serve.Unproven]string{
		serve.NoReceipt: "there is no proof that its author bought this listing", serve.NotLogged: "the market's log does not have it", serve.SaidTwice: "its order has another review",
	}[r.Unproven]
}

// checkSays says what was wrong with the reviews of a listing.
func checkSays(c *serve.ReviewCheck) (out []string) {
	if c.Error != "" {
		return []string{"not checked: " + c.Error}
	}
	if c.Unproven > 0 {
		out = append(out, fmt.Sprintf("%d of %d could not be proven", c.Unproven, c.Unproven+c.Proven))
	}
	if c.Hidden > 0 {
		out = append(out, fmt.Sprintf("THE MARKET HIDES %d that its log has", c.Hidden))
	}
	for _, why := range c.Deleted {
		out = append(out, "one was deleted by the operator: "+why)
	}
	return out
}
