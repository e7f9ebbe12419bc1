package main

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

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	tradeat "github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

func (a *app) marketCommand() *cobra.Command {
	var at string
	c := &cobra.Command{
		Use: "market", Short: "Buy and sell bundles of redacted memories", RunE: a.needsCommand,
		Long: `A market keeps listings, sealed bundles, orders and money, and can read no bundle. Its
operator sees what stands in a listing, who orders what, and what it costs.

To buy, a key is enough: it is that of locket share key, and no node is needed. To sell,
a node seals the bundle, and delivers its key to who has paid (docs/market.md).`,
	}
	c.PersistentFlags().StringVar(&at, "at", "", "`URL` of the relay with the market; the node's relay (sync.relay) if absent")
	c.AddCommand(a.marketSearchCommand(&at), a.marketShowCommand(&at), a.marketBuyCommand(&at), a.marketPayCommand(), a.marketOrdersCommand(), a.marketOpenCommand(),
		a.marketAcceptCommand(), a.marketDisputeCommand(), a.marketCancelCommand(), a.marketReviewCommand(), a.marketReportCommand(&at), a.marketBalanceCommand(&at), a.marketDepositCommand(&at), a.marketPayoutCommand(&at),
		a.marketPublishCommand(&at), a.marketListCommand(), a.marketWithdrawCommand(), a.marketSalesCommand(), a.marketDeliverCommand(), a.marketRefundCommand(),
		a.marketDisputesCommand(&at), a.marketDecideCommand(&at), a.marketVerifyCommand(&at), a.marketExportCommand(), a.marketMoveCommand(),
		a.marketSubscribeCommand(&at), a.marketRenewCommand(), a.marketUnsubscribeCommand())
	return c
}

// buyer is whoever has the key in this home.
func (a *app) buyer() (*market.Buyer, error) {
	r, err := a.reader()
	if err != nil {
		return nil, err
	}
	return &market.Buyer{Dir: r.Dir}, nil
}

// trade calls the market that --at names.
func (a *app) trade(ctx context.Context, at string, f func(b *market.Buyer, address string, m *tradeat.Market, by trade.Party, terms trade.Terms) error) error {
	b, err := a.buyer()
	if err != nil {
		return err
	}
	if at == "" {
		l, err := a.load()
		if err != nil {
			return err
		}
		at = l.Sync.Relay
	}
	if at == "" {
		return usagef("--at URL is needed: this home has no relay, and names no market")
	}
	return b.At(ctx, at, func(m *tradeat.Market, by trade.Party, terms trade.Terms) error { return f(b, at, m, by, terms) })
}

// listingView is a listing as it is printed.
type listingView struct {
	ID      trade.Hash `json:"id"`
	Version trade.Hash `json:"version"`
	Number  uint32     `json:"number"`
	State   string     `json:"state,omitempty"`
	Why     string     `json:"why,omitempty"`
	Title   string     `json:"title"`
	Price   string     `json:"price"`
	Minor   uint64     `json:"minor"`
	Code    string     `json:"currency"`
	Seller  trade.Key  `json:"seller"`
	Items   uint32     `json:"items"`
	Sold    uint32     `json:"sold"`
	Reviews uint32     `json:"reviews"`
	Stars   float64    `json:"stars,omitempty"` // on average

	Description string            `json:"description,omitempty"`
	Categories  []string          `json:"categories"`
	Languages   []string          `json:"languages"`
	Counts      map[string]uint32 `json:"counts"`
	Sample      []string          `json:"sample,omitempty"`
	Licence     string            `json:"licence"`
	Terms       string            `json:"terms,omitempty"`
	Redaction   []string          `json:"redaction,omitempty"`
	Since       time.Time         `json:"since,omitzero"`
	Until       time.Time         `json:"until,omitzero"`
	DeliverDays float64           `json:"deliver_days"`
	AcceptDays  float64           `json:"accept_days"`
	EveryDays   float64           `json:"every_days,omitempty"` // of a subscription
	Said        []reviewView      `json:"said,omitempty"`
	Before      []originView      `json:"before,omitempty"`
}

// originView is where a listing was before. The counts are what the other market
// stamped: its word.
type originView struct {
	Market  trade.Key    `json:"market"`
	Listing trade.Hash   `json:"listing"`
	Sold    uint32       `json:"sold"`
	Reviews uint32       `json:"reviews"`
	Stars   float64      `json:"stars,omitempty"`
	Said    []reviewView `json:"said,omitempty"`
}

type reviewView struct {
	Stars uint8     `json:"stars"`
	Text  string    `json:"text,omitempty"`
	By    trade.Key `json:"by"`
	At    time.Time `json:"at"`
}

// aDay is in seconds.
const aDay = 24 * 60 * 60

func viewOf(l *trade.Offer, h *trade.Hit) listingView {
	v := listingView{ID: l.ID(), Version: l.Hash, Number: l.Number, Title: l.Title, Price: trade.Price(l.Price, l.Currency), Minor: l.Price, Code: l.Currency,
		Seller: l.Seller, Items: l.Items, Sold: h.Sold, Reviews: h.Reviews, Description: l.Description, Categories: l.Categories, Languages: l.Languages,
		Counts: l.Counts, Sample: l.Sample, Licence: l.Licence, Terms: l.Terms, Redaction: l.Redaction, DeliverDays: float64(l.Deliver) / aDay, AcceptDays: float64(l.Accept) / aDay, EveryDays: float64(l.Period) / aDay}
	if h.Reviews > 0 {
		v.Stars = float64(h.Stars) / float64(h.Reviews)
	}
	if l.Since > 0 {
		v.Since = time.Unix(l.Since, 0).UTC()
	}
	if l.Until > 0 {
		v.Until = time.Unix(l.Until, 0).UTC()
	}
	return v
}

func (a *app) listingRow(w io.Writer, v *listingView) {
	stars := ""
	if v.Reviews > 0 {
		stars = fmt.Sprintf("  %.1f of 5 by %d", v.Stars, v.Reviews)
	}
	fmt.Fprintf(w, "%s  %10s  %s  %s, sold %d%s\n", a.paint.dim(v.ID.String()[:10]), v.Price, a.paint.bold(oneLine(v.Title)), plural(int(v.Items), "memory", "memories"), v.Sold, stars)
}

func (a *app) marketSearchCommand(at *string) *cobra.Command {
	q := url.Values{}
	var category, language, most string
	var newest, facets bool
	var limit, skip int
	c := &cobra.Command{
		Use: "search [WORDS]", Short: "Find listings", Args: between(0, 1, "what to look for"),
		Long:    "Finds listings that have all words, in English, Chinese and other languages. Counts of sales\nand reviews are the market's word; listings and reviews are signed.",
		Example: "  locket market search \"garden tomatoes\" --at https://relay.example\n  locket market search --category travel --language zh-Hans --most \"5.00 EUR\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			for name, v := range map[string]string{"q": strings.Join(args, " "), "category": category, "language": language} {
				if v != "" {
					q.Set(name, v)
				}
			}
			if most != "" {
				minor, code, err := trade.ParsePrice(most)
				if err != nil {
					return usageError{err}
				}
				q.Set("most", strconv.FormatUint(minor, 10))
				q.Set("currency", code)
			}
			if newest {
				q.Set("sort", "newest")
			}
			q.Set("limit", strconv.Itoa(limit))
			q.Set("skip", strconv.Itoa(skip))
			return a.trade(cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				f, ls, err := m.Search(cmd.Context(), q)
				if err != nil {
					return err
				}
				views := make([]listingView, len(ls))
				for i, l := range ls {
					views[i] = viewOf(l, &f.Hits[i])
				}
				err = rows(a, nil, views, a.listingRow, "")
				if facets {
					err = rows(a, err, f.Facets, func(w io.Writer, x *trade.Facet) {
						fmt.Fprintf(w, "%-9s %-20s %d\n", oneLine(x.Kind), oneLine(x.Value), x.Count)
					}, "")
				}
				if err == nil && !a.json && int(f.Total) > len(ls) {
					fmt.Fprintf(a.stderr, "%d of %d; --skip %d goes on.\n", len(ls), f.Total, skip+len(ls))
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&category, "category", "", "only of this `category`")
	f.StringVar(&language, "language", "", "only in this `language`: en, zh-Hans")
	f.StringVar(&most, "most", "", "only up to this `price`: 5.00 EUR")
	f.BoolVar(&newest, "newest", false, "the newest first; else the best match")
	f.BoolVar(&facets, "facets", false, "with how many there are of each category, language and currency")
	limitFlag(f, &limit, 20, "at most this `count`")
	f.IntVar(&skip, "skip", 0, "how many to pass over")
	return c
}

// findListing gives the id of the one listing that an id, or the beginning of one
// among the newest, names.
func findListing(ctx context.Context, m *tradeat.Market, id string) (h trade.Hash, err error) {
	if len(id) == 64 {
		if err := h.UnmarshalText([]byte(strings.ToLower(id))); err != nil {
			return h, usageError{err}
		}
		return h, nil
	}
	if len(id) < 8 {
		return h, usagef("listing %q: want 8 characters of its id at least", id)
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
		return h, fmt.Errorf("listing %s: %w among the newest; its whole id (--json prints it) finds any", id, memory.ErrNotFound)
	}
	return h, fmt.Errorf("listing %s: %w", id, memory.ErrAmbiguous)
}

func (a *app) marketShowCommand(at *string) *cobra.Command {
	return &cobra.Command{
		Use: "show LISTING", Short: "Show a listing, with its sample and reviews", Args: between(1, 1, "a listing's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.trade(cmd.Context(), *at, func(_ *market.Buyer, _ string, m *tradeat.Market, _ trade.Party, _ trade.Terms) error {
				id, err := findListing(cmd.Context(), m, args[0])
				if err != nil {
					return err
				}
				v, _, err := shownListing(cmd.Context(), m, id)
				return a.printed(err, v, func(w io.Writer) { a.showListing(w, v) })
			})
		},
	}
}

// shownListing gives a listing with its reviews; those that are not signed for it are
// left out.
func shownListing(ctx context.Context, m *tradeat.Market, id trade.Hash) (*listingView, *trade.Offer, error) {
	s, l, err := m.Show(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	v := viewOf(l, &s.Hit)
	v.State = s.State
	if len(s.Notice) > 0 {
		kind := trade.Withdrawal
		if s.State == trade.Removed {
			kind = trade.Takedown
		}
		if n, _, _, err := trade.ReadNotice(kind, s.Notice); err == nil && n.Listing == l.ID() {
			v.Why = n.Reason
		}
	}
	v.Said = reviewsOf(s.Reviews)
	for _, o := range s.Origins {
		m, by, err := trade.ReadMove(o.Move)
		if err != nil || by != l.Seller || m.Offer != l.ID() || m.Market != l.Market {
			continue
		}
		was := originView{Market: m.From, Listing: m.Listing, Sold: o.Sold, Reviews: o.Reviews, Said: reviewsOf(o.Said)}
		if o.Reviews > 0 {
			was.Stars = float64(o.Stars) / float64(o.Reviews)
		}
		v.Before = append(v.Before, was)
	}
	return &v, l, nil
}

func reviewsOf(signed [][]byte) (out []reviewView) {
	for _, b := range signed {
		if r, by, _, err := trade.ReadReview(b); err == nil {
			out = append(out, reviewView{Stars: r.Stars, Text: r.Text, By: by, At: time.Unix(r.At, 0).UTC()})
		}
	}
	return out
}

func (a *app) showListing(w io.Writer, v *listingView) {
	a.listingRow(w, v)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s%s\n", name, oneLine(text))
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
		line("grows", fmt.Sprintf("every %g days; this is period %d, and each is paid by itself", v.EveryDays, v.Number))
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
	line("delivery", fmt.Sprintf("within %g days; then %g days to accept or dispute", v.DeliverDays, v.AcceptDays))
	for _, b := range v.Before {
		line("before", fmt.Sprintf("at the market %s, by its word: sold %d, %.1f of 5 by %d", b.Market.String()[:8], b.Sold, b.Stars, b.Reviews))
		for _, r := range b.Said {
			line(fmt.Sprintf("%d of 5", r.Stars), r.Text+" ("+r.By.String()[:8]+", there)")
		}
	}
	for _, r := range v.Said {
		line(fmt.Sprintf("%d of 5", r.Stars), r.Text+" ("+r.By.String()[:8]+")")
	}
}
