package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// What happened to the buyer's own review.
const (
	reviewShown   = "shown"
	reviewDeleted = "deleted"
)

// VerifiedListing is what a market shows of the reviews of a listing that was bought or
// sold here.
type VerifiedListing struct {
	Listing trade.Hash        `json:"listing"`
	Title   string            `json:"title"`
	Reviews serve.ReviewCheck `json:"reviews"`
}

// absent says when this home first noticed that the log lacks something of an order, in
// seconds since 1970; 0: it doesn't. The times that the market itself gives could delay
// that.
type absent struct {
	Listing int64 `json:"listing,omitempty"`
	Receipt int64 `json:"receipt,omitempty"`
	Review  int64 `json:"review,omitempty"`
}

// since returns when something that is, or is not, in the log was first missing.
func since(stands bool, was, now int64) int64 {
	switch {
	case stands:
		return 0
	case was > 0 && was <= now:
		return was
	}
	return now
}

// listingPage is what a market shows of a listing, with the log in that answer.
type listingPage struct {
	*trade.Shown
	log  *translog.Signed
	seen seenReviews
}

// reviews checks the reviews of each listing in deals, and looks for the buyer's own.
func (b *Buyer) reviews(ctx context.Context, m *remote.Market, c *translog.Client, now *translog.Signed, deals []*trade.State, kept *seenLog, v *Verified) error {
	pages := map[trade.Hash]*listingPage{}
	for i, s := range deals {
		id := s.Offer.ID()
		if _, known := pages[id]; !known {
			shown, check, err := b.reviewsAt(ctx, m, c, now, s.Offer)
			if err != nil {
				return err
			}
			pages[id] = shown
			if shown != nil {
				kept.hiding(id, shown.seen.blank, b.now(), &check)
			}
			v.Listings = append(v.Listings, VerifiedListing{Listing: id, Title: s.Offer.Title, Reviews: check})
		}
		if err := b.ownReview(ctx, c, now, s, pages[id], kept, &v.Orders[i]); err != nil {
			return err
		}
	}
	return nil
}

// reviewsAt checks what the market shows of a listing; nil: that was not possible, and
// the check says why.
func (b *Buyer) reviewsAt(ctx context.Context, m *remote.Market, c *translog.Client, now *translog.Signed, of *trade.Offer) (*listingPage, serve.ReviewCheck, error) {
	s, l, err := m.Show(ctx, of.ID())
	if err == nil && (l.Seller != of.Seller || l.Market != of.Market) {
		err = fmt.Errorf("listing %s: %w: it belongs to somebody else", of.ID(), remote.ErrAnswer)
	}
	var log *translog.Signed
	if err == nil {
		log, err = translog.Open(s.Log, c.Key)
	}
	if err == nil && log.Size < now.Size {
		err = fmt.Errorf("the log of listing %s: %w: it has %d entries, and the market showed %d", of.ID(), remote.ErrAnswer, log.Size, now.Size)
	}
	if err == nil && !bytes.Equal(s.Log, now.Note) {
		_, err = translog.Follow(ctx, now, log, c)
	}
	if isFork(err) || ctx.Err() != nil {
		return nil, serve.ReviewCheck{}, err
	}
	if err != nil {
		return nil, serve.ReviewCheck{Error: err.Error()}, nil
	}
	p := &listingPage{Shown: &s, log: log}
	var check serve.ReviewCheck
	_, check, p.seen = reviewsOf(&s, l, log)
	return p, check, nil
}

// ownReview looks for the buyer's review of an order, in the log and in what the market
// shows. The market has confirmed it before.
func (b *Buyer) ownReview(ctx context.Context, c *translog.Client, now *translog.Signed, s *trade.State, shown *listingPage, kept *seenLog, d *VerifiedDeal) error {
	own, err := os.ReadFile(reviewOf(b.file(s.ID)))
	if errors.Is(err, fs.ErrNotExist) || d.Sold {
		return nil
	}
	if err != nil {
		return err
	}
	if shown == nil { // a market that does not answer shows nothing
		kept.review(s.ID, false, b.now(), d)
		return nil
	}
	at, err := place(ctx, c, now, translog.Reviewed, s.ID, own, 0)
	if err != nil {
		return err
	}
	for i := range shown.Proofs {
		if e := provenEntry(shown.log, &shown.Proofs[i].Said); e.Kind == translog.Deleted && e.Digest == translog.Digest(own) {
			d.Review, d.Why = reviewDeleted, e.Reason
		}
	}
	if d.Review == "" && slices.ContainsFunc(shown.Reviews, func(r []byte) bool { return bytes.Equal(r, own) }) {
		d.Review = reviewShown
	}
	there := at >= 0 && d.Review != ""
	if at >= 0 && !there {
		n, err := numberOf(ctx, c, now, at, s.Offer.ID(), own)
		if err != nil {
			return err
		}
		there = n > 0 && shown.seen.tooOld(n)
	}
	kept.review(s.ID, there, b.now(), d)
	return nil
}

// hiding records whether reviews of a listing are missing; blank of them are shown
// empty. Those count as not proven until the log has had the time to say that they were
// deleted.
func (k *seenLog) hiding(listing trade.Hash, blank int, now time.Time, check *serve.ReviewCheck) {
	missing := check.Hidden + blank
	first := since(missing == 0, k.Hiding[listing], now.Unix())
	if first == 0 {
		delete(k.Hiding, listing)
		return
	}
	k.Hiding[listing] = first
	check.Unproven += check.Hidden
	if check.Hidden = 0; now.Sub(time.Unix(first, 0)) >= logWithin {
		check.Hidden, check.Unproven = missing, check.Unproven-missing
	}
}

// review records whether the buyer's review of an order is where it has to be.
func (k *seenLog) review(order trade.Hash, there bool, now time.Time, d *VerifiedDeal) {
	was := k.Absent[order]
	was.Review = since(there, was.Review, now.Unix())
	if was == (absent{}) {
		delete(k.Absent, order)
		return
	}
	k.Absent[order] = was
	if was.Review > 0 {
		d.Hidden = d.Hidden || now.Sub(time.Unix(was.Review, 0)) >= logWithin
		d.Waits = !d.Hidden
	}
}

// numberOf returns the number of a review of a listing; 0: the log has none. A market
// numbers a review when it accepts it, so its entry comes soon after that of the order,
// whose place is known.
func numberOf(ctx context.Context, c *translog.Client, now *translog.Signed, at int64, listing trade.Hash, review []byte) (uint32, error) {
	const most = 64 // tiles of 256 entries; a review from before they were numbered is further away
	for range most {
		es, err := c.Entries(ctx, now.Checkpoint, at)
		if err != nil || len(es) == 0 {
			return 0, err
		}
		for i := range es {
			if n := translog.ReviewNumber(listing.String(), es[i].Subject); n > 0 && es[i].Kind == translog.Reviewed && es[i].Digest == translog.Digest(review) {
				return n, nil
			}
		}
		at += int64(len(es))
	}
	return 0, nil
}
