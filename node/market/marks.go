package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/mark"
)

// spotsOf finds where the copies of a bundle can differ, and how many such places there are. A
// place is left out if another form would contain redacted words, or if the words around it also
// appear in another field, which would reveal the mark.
func spotsOf(ctx context.Context, copies []share.Copy, holds func(string) bool) (texts []mark.Text, n int, err error) {
	for i := range copies {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		t := mark.Find(copies[i].Candidate.Text)
		texts = append(texts, allowed(t, &copies[i].Candidate, holds))
	}
	for most := mark.MaxInItem; ; most-- {
		n = 0
		for i := range texts {
			for len(texts[i].Spots) > most {
				texts[i] = texts[i].Without(len(texts[i].Spots) - 1)
			}
			n += len(texts[i].Spots)
		}
		if n <= mark.MaxSpots {
			return texts, n, nil
		}
	}
}

// allowed returns a text without the spots that must not differ.
func allowed(t mark.Text, c *memory.Candidate, holds func(string) bool) mark.Text {
	rest := *c
	rest.Text = ""
	b, _ := json.Marshal(&rest) // it was decoded from JSON, so it can be encoded
	elsewhere := string(b)
	for i := len(t.Spots) - 1; i >= 0; i-- {
		if t.RevealsSpot(i, elsewhere) || containsRedacted(&t, i, holds) {
			t = t.Without(i)
		}
	}
	return t
}

// containsRedacted reports whether a text would contain redacted words, with any forms at a spot and the two
// after it.
func containsRedacted(t *mark.Text, at int, holds func(string) bool) bool {
	for forms := range 8 {
		if holds(t.WithForms(func(i int) int {
			if i >= at && i < at+3 {
				return forms >> (i - at) & 1
			}
			return t.Spots[i].Was
		})) {
			return true
		}
	}
	return false
}

// markedCopies returns the spots of a marked bundle; nil: it is not marked, because the seller does
// not want it, or sells answers, or there are too few spots. n is how many there are.
func markedCopies(ctx context.Context, r *serve.ListingRequest, p *share.Preview) (texts []mark.Text, n int, err error) {
	if r.Unmarked || r.Answers != nil || p.Holds == nil {
		return nil, 0, nil
	}
	if texts, n, err = spotsOf(ctx, p.Copies, p.Holds); n < mark.MinSpots {
		return nil, n, err
	}
	return texts, n, err
}

// showMarks adds to a preview how copies will differ.
func showMarks(ctx context.Context, v *serve.SharePreview, r *serve.ListingRequest, p *share.Preview) error {
	if r.Unmarked || r.Answers != nil || r.Entry != "" {
		return nil
	}
	texts, n, err := markedCopies(ctx, r, p)
	if err != nil {
		return err
	}
	v.Marks = &serve.CopyMarks{Spots: n, Marked: texts != nil, Robust: n >= mark.Robust, Least: mark.MinSpots}
	for i := range texts {
		if t := &texts[i]; len(t.Spots) > 0 {
			v.Memories[i].Or = t.WithForms(func(i int) int { return 1 - t.Spots[i].Was })
		}
	}
	return nil
}

// marking returns the key from which the marks of a bundle's copies are derived. No buyer gets it.
// It is the same wherever the bundle is listed.
func (s *Shop) marking(commitment trade.Hash) (*seal.Key, error) {
	if _, _, err := s.party(); err != nil { // this makes the key
		return nil, err
	}
	key, _ := s.c.Ring.Key(keyName)
	return key.Derive("market marks " + commitment.String()), nil
}

// wrap seals what opens a buyer's copy to the order's recipient.
func (s *Shop) wrap(l *listed, k *seal.Key, st *trade.State) ([]byte, error) {
	if st.Offer.Marks == 0 {
		return bundle.Wrap(k, st.Order.Recipient, st.ID)
	}
	marking, err := s.marking(st.Offer.Commitment)
	if err != nil {
		return nil, err
	}
	defer marking.Zero()
	return bundle.WrapMarked(k, marking, l.Spots, st.Order.Recipient, st.ID)
}

// Trace finds out whose copy of a listing's bundle a text comes from: which of the delivered orders
// agree with it more than chance allows. It changes nothing except that it makes the seller's key,
// which needs the lock. It reads without the lock, so that orders continue meanwhile.
func (s *Shop) Trace(ctx context.Context, id, text string) (out serve.CopyTrace, err error) {
	s.mu.Lock()
	_, _, err = s.party()
	s.mu.Unlock()
	if err != nil {
		return out, err
	}
	all, err := s.list(ctx)
	if err != nil {
		return out, err
	}
	named, err := find(all, id)
	if err != nil {
		return out, err
	}
	read := map[trade.Hash]*bundleRead{} // by the bundle's commitment
	for i := range all {
		l := &all[i]
		if l.ID != named.ID || len(l.Spots) == 0 || len(l.Key) == 0 {
			continue
		}
		r, err := s.readMarks(ctx, l, text)
		if err != nil {
			return out, err
		}
		defer r.marking.Zero()
		read[r.offer.Commitment] = r
		out.Spots, out.Read = out.Spots+int(r.offer.Marks), out.Read+len(r.seen)
	}
	if len(read) == 0 {
		return out, fmt.Errorf("listing %s: %w: its copies have no marks, or this home no longer has the bundle", id, serve.ErrConflict)
	}
	orders, err := s.delivered(ctx, read)
	out.Orders = len(orders)
	for _, d := range orders {
		score := mark.ScoreOf(d.of.seen, func(item, spot int) int { return bundle.Bit(d.of.marking, d.order, item, spot) }, len(orders))
		out.Found = append(out.Found, serve.TracedOrder{Order: d.order, Buyer: d.buyer, Read: score.Read, Agree: score.Agree, Chance: score.Chance, Sure: score.Chance <= mark.Sure})
	}
	sorting.Stable(out.Found, func(a, b serve.TracedOrder) int {
		return cmp.Or(cmp.Compare(a.Chance, b.Chance), strings.Compare(a.Order.String(), b.Order.String()))
	})
	out.Found = out.Found[:min(len(out.Found), mostTraced)]
	return out, err
}

// delivery is an order that was delivered, of a bundle that was read.
type delivery struct {
	order trade.Hash
	buyer trade.Key
	of    *bundleRead
}

// delivered returns all delivered orders of these bundles, each once.
func (s *Shop) delivered(ctx context.Context, read map[trade.Hash]*bundleRead) (out []delivery, err error) {
	err = s.c.Store.View(ctx, func(tx *store.Tx) error {
		var failed []error
		failed = append(failed, keptSales(tx, func(c *trade.Chain, l *trade.Offer) {
			if read[l.Commitment] == nil {
				return
			}
			st, err := c.Replay()
			if failed = append(failed, err); err == nil && len(st.Wrapped) > 0 {
				out = append(out, delivery{st.ID, st.Order.Buyer, read[l.Commitment]})
			}
		}))
		for commitment, r := range read {
			failed = append(failed, deliveredOf(tx, commitment, func(order trade.Hash, buyer trade.Key) { out = append(out, delivery{order, buyer, r}) }))
		}
		return errors.Join(failed...)
	})
	return out, err
}

// mostTraced is how many orders are returned, the most likely first.
const mostTraced = 5

// bundleRead is the trace of a bundle in a text.
type bundleRead struct {
	offer   *trade.Offer
	marking *seal.Key
	seen    []mark.Seen
}

// forms opens a marked bundle under its key, see [bundle.Forms]. The caller zeroes the marking key.
func (s *Shop) forms(k *seal.Key, c *carried) (marking *seal.Key, all []mark.Text, of []memory.Candidate, err error) {
	if marking, err = s.marking(c.offer.Commitment); err != nil {
		return nil, nil, nil, err
	}
	if all, of, err = bundle.Forms(k, marking, c.items); err != nil {
		marking.Zero()
		return nil, nil, nil, err
	}
	return marking, all, of, nil
}

func (s *Shop) readMarks(ctx context.Context, l *listed, text string) (*bundleRead, error) {
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return nil, err
	}
	k, err := seal.KeyFromBytes(l.Key)
	if err != nil {
		return nil, err
	}
	defer k.Zero()
	marking, forms, _, err := s.forms(k, &c)
	if err != nil {
		return nil, err
	}
	seen, err := mark.Read(ctx, forms, text)
	if err != nil {
		marking.Zero()
		return nil, err
	}
	return &bundleRead{c.offer, marking, seen}, nil
}

func (s Seller) TraceCopy(ctx context.Context, r serve.TraceRequest) (v serve.CopyTrace, err error) {
	err = s.of.During(ctx, func(ctx context.Context, sh *Shop) error { v, err = sh.Trace(ctx, r.Listing, r.Text); return err })
	return v, err
}
