package market

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// Show returns a listing with its reviews, each checked against the orders and the log of
// the market. A proven review belongs to an order that its author signed and its seller
// delivered. It does not prove that the author paid: only the market signs that, so it can
// order with keys of its own for nothing, and review. If nothing could be checked, that is
// no error; the answer says why.
func (b *Buyer) Show(ctx context.Context, m *remote.Market, address string, terms *trade.Terms, id trade.Hash) (v serve.Offer, l *trade.Offer, err error) {
	before, unread := b.sizeSeen(terms) // before the market is asked, because another check may see more meanwhile
	s, l, err := m.Show(ctx, id)
	if err != nil {
		return v, nil, err
	}
	var log *translog.Signed
	if err = unread; err == nil {
		log, err = b.checkpoint(ctx, address, terms, s.Log, before)
	}
	v = offerToAPI(&s, l, log)
	if err != nil && (terms.Log != "" || len(v.Said) > 0) {
		v.Check.Error = err.Error()
	}
	if v.Check.Error == "" { // what was proven counts, and not the market's claim
		v.Reviews, v.Stars = v.Check.Proven, v.Check.Stars
	}
	return v, l, nil
}

// sizeSeen returns how many entries a market's log had at the last check; 0: there was
// none.
func (b *Buyer) sizeSeen(terms *trade.Terms) (int64, error) {
	key, _, err := logKey(terms)
	if err != nil {
		return 0, err
	}
	last, err := readLog(b.logFile(terms.Market), key, &seenLog{})
	if last == nil {
		return 0, err
	}
	return last.Size, err
}

// checkpoint opens the checkpoint that came with a listing, checks that it continues the
// log as of the last check, which had at least so many entries, and stores it. Two
// different histories are stored as evidence, as in [Buyer.Verify].
func (b *Buyer) checkpoint(ctx context.Context, address string, terms *trade.Terms, shown []byte, before int64) (*translog.Signed, error) {
	key, _, err := logKey(terms)
	if err != nil {
		return nil, err
	}
	now, err := translog.Open(shown, key)
	if err != nil {
		return nil, fmt.Errorf("the market's log: %w: %w", remote.ErrAnswer, err)
	}
	file := b.logFile(terms.Market)
	if err := b.keepLog(ctx, b.logClient(address, key), file, now, nil); err != nil {
		v := &Verified{}
		if err := v.recordFork(err, file); err != nil {
			return nil, err
		}
		return nil, v.found()
	}
	if now.Size < before {
		return nil, fmt.Errorf("the market's log: %w: it came with %d entries, and had %d before", remote.ErrAnswer, now.Size, before)
	}
	return now, nil
}

// keepLog stores the newer one of a checkpoint and of what others stored about the log
// meanwhile. seen is what else was seen; nil: nothing, and what is stored stays.
func (b *Buyer) keepLog(ctx context.Context, c *translog.Client, file string, now *translog.Signed, seen *seenLog) error {
	if err := atomicfile.MkdirAll(filepath.Dir(file)); err != nil {
		return err
	}
	return b.locked(ctx, strings.TrimSuffix(file, ".json")+".lock", func() error {
		kept := seenLog{}
		last, err := readLog(file, c.Key, &kept)
		if err != nil {
			return err
		}
		newest, err := translog.Follow(ctx, last, now, c)
		if err != nil || newest == last && seen == nil {
			return err
		}
		if seen == nil {
			seen = &kept
		}
		seen.Checkpoint = string(newest.Note)
		return writeJSON(file, seen)
	})
}

// logKey returns the key of a market's log, and its text.
func logKey(terms *trade.Terms) (note.Verifier, string, error) {
	if terms.Log == "" {
		return nil, "", fmt.Errorf("%w: the market keeps no log", memory.ErrNotFound)
	}
	text, err := translog.LogKey(terms.Log, terms.Market[:])
	if err != nil {
		return nil, "", fmt.Errorf("the log's name: %w: %w", remote.ErrAnswer, err)
	}
	key, err := translog.Key(text)
	if err != nil {
		return nil, "", fmt.Errorf("the log's name: %w: %w", remote.ErrAnswer, err)
	}
	return key, text, nil
}

// logFile returns the file for what was seen of a market's log.
func (b *Buyer) logFile(of trade.Key) string {
	return filepath.Join(b.Dir, logsDir, of.String()+".json")
}

// logClient makes a client for the log of the market at an address.
func (b *Buyer) logClient(address string, key note.Verifier) *translog.Client {
	client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if b.HTTP != nil {
		client = b.HTTP
	}
	return &translog.Client{URL: strings.TrimRight(address, "/") + "/v1/market/log", HTTP: client, Key: key}
}

// seenReviews are the numbers of the reviews that an answer shows and the log has.
type seenReviews struct {
	numbers  map[uint32]bool
	low, top uint32              // the lowest and the highest of numbers; 0: there is none
	blank    int                 // how many of numbers are empty although the log does not say that they were deleted
	late     map[trade.Hash]bool // orders of the listing whose reviews are shown, but are not in the log yet
}

// see records a number; 0 is none.
func (s *seenReviews) see(n uint32) {
	if n == 0 {
		return
	}
	if s.numbers[n] = true; s.low == 0 || n < s.low {
		s.low = n
	}
	s.top = max(s.top, n)
}

// tooOld reports whether an answer that shows only the newest reviews has no room for a
// number. Empty and repeated entries take no room.
func (s *seenReviews) tooOld(n uint32) bool {
	return n < s.low && len(s.numbers)+len(s.late) >= trade.MaxShown
}

// hidden counts the numbers below the highest that should be shown, but are not.
func (s *seenReviews) hidden() (count int) {
	for n, looked := s.top, 0; n > 0 && looked < trade.MaxShown && !s.tooOld(n); n, looked = n-1, looked+1 {
		if !s.numbers[n] {
			count++
		}
	}
	return count
}

// reviewsOf checks the reviews of a listing. They are numbered, so that a missing one below
// the newest is noticed, unless the log says that it was deleted. A number counts as shown
// if the log has the review, whatever else the review lacks. check has an error if there is
// no log to check against, and then none is proven. Reviews without a valid signature are
// counted and left out.
func reviewsOf(s *trade.Shown, l *trade.Offer, log *translog.Signed) (out []serve.OfferReview, check serve.ReviewCheck, seen seenReviews) {
	version := versionsOf(append(s.Ordered, l.Signed), l.ID(), l.Seller, l.Market)
	orders, stars := map[trade.Hash]bool{}, 0
	seen.numbers, seen.late = map[uint32]bool{}, map[trade.Hash]bool{}
	for i, b := range s.Reviews {
		var p trade.Proof
		if i < len(s.Proofs) {
			p = s.Proofs[i]
		}
		e := provenEntry(log, &p.Said)
		n := translog.ReviewNumber(l.ID().String(), e.Subject)
		again := seen.numbers[n]
		switch empty := len(b) == 0 && n > 0 && !again; {
		case empty && e.Kind == translog.Deleted:
			seen.see(n)
			check.Deleted = append(check.Deleted, e.Reason)
			continue
		case empty && e.Kind == translog.Reviewed: // the log may not have recorded yet that it was deleted
			seen.see(n)
			seen.blank++
		}
		r, by, _, err := trade.ReadReview(b)
		if err != nil {
			check.Unproven++
			continue
		}
		stands := e.Kind == translog.Reviewed && n > 0 && e.Digest == translog.Digest(b)
		if stands {
			seen.see(n)
		}
		v := reviewOffered(&r, by)
		switch {
		case p.Check(&r, by, version) != nil:
			v.Unproven = serve.NoReceipt
		case !stands || !receipted(log, &p, r.Order):
			v.Unproven = serve.NotLogged
			if !stands {
				seen.late[r.Order] = true
			}
		case orders[r.Order] || again:
			v.Unproven = serve.SaidTwice
		default:
			orders[r.Order], stars = true, stars+v.Stars
			check.Proven++
		}
		if v.Unproven != "" {
			check.Unproven++
		}
		out = append(out, v)
	}
	check.Hidden = seen.hidden()
	if check.Proven > 0 {
		check.Stars = float64(stars) / float64(check.Proven)
	}
	return out, check, seen
}

// reviewsBefore checks the reviews of orders at another market that moved here. This
// market's log has them under their orders.
func reviewsBefore(o *trade.Origin, was *serve.OfferOrigin, seller trade.Key, log *translog.Signed) (out []serve.OfferReview) {
	version := versionsOf(o.Ordered, was.Listing, seller, was.Market)
	orders := map[trade.Hash]bool{}
	for i, b := range o.Said {
		r, by, _, err := trade.ReadReview(b)
		if err != nil {
			continue
		}
		var p trade.Proof
		if i < len(o.Proofs) {
			p = o.Proofs[i]
		}
		v, e := reviewOffered(&r, by), provenEntry(log, &p.Said)
		switch {
		case p.Check(&r, by, version) != nil:
			v.Unproven = serve.NoReceipt
		case e.Kind != translog.Reviewed || e.Subject != r.Order.String() || e.Digest != translog.Digest(b) || !receipted(log, &p, r.Order):
			v.Unproven = serve.NotLogged
		case orders[r.Order]:
			v.Unproven = serve.SaidTwice
		}
		orders[r.Order] = true
		out = append(out, v)
	}
	return out
}

func reviewOffered(r *trade.Review, by trade.Key) serve.OfferReview {
	return serve.OfferReview{Stars: int(r.Stars), Text: r.Text, By: by, Order: r.Order, At: time.Unix(r.At, 0).UTC()}
}

// versionsOf returns the signed versions of one listing by their hash.
func versionsOf(signed [][]byte, id trade.Hash, seller, market trade.Key) func(trade.Hash) *trade.Offer {
	all := map[trade.Hash]*trade.Offer{}
	for _, b := range signed {
		if l, err := trade.ReadListing(b); err == nil && l.ID() == id && l.Seller == seller && l.Market == market {
			all[l.Hash] = l
		}
	}
	return func(h trade.Hash) *trade.Offer { return all[h] }
}

// receipted reports whether the log has the receipt of an order.
func receipted(log *translog.Signed, p *trade.Proof, order trade.Hash) bool {
	e := provenEntry(log, &p.Receipt)
	return e.Kind == translog.Receipt && e.Subject == order.String()
}

// provenEntry returns an entry that is proven to be in a log; the zero entry: it is not proven.
func provenEntry(log *translog.Signed, g *trade.Logged) (e translog.Entry) {
	if log == nil || len(g.Path)%tlog.HashSize != 0 || len(g.Path) > 64*tlog.HashSize {
		return e
	}
	var proof tlog.RecordProof
	for h := range slices.Chunk(g.Path, tlog.HashSize) {
		proof = append(proof, tlog.Hash(h))
	}
	if translog.Included(log.Checkpoint, g.At, g.Entry, proof) != nil {
		return e
	}
	e, err := translog.DecodeEntry(g.Entry)
	if err != nil {
		return translog.Entry{}
	}
	return e
}
