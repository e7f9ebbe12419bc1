package market

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// draft fills in what the seller said, and what follows from the bundle.
func draft(r *serve.ListingRequest) (l trade.Listing, err error) {
	l = trade.Listing{Number: 1, Title: r.Title, Description: r.Description, Categories: r.Categories, Languages: r.Languages, Sample: r.Sample,
		Licence: r.Licence, Terms: r.Terms}
	if l.Licence == "" {
		l.Licence = "personal use, not to be passed on"
	}
	if l.Price, l.Currency, err = trade.ParsePrice(r.Price); err != nil {
		return l, fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	for _, d := range []struct {
		name        string
		days, least int
		to          *uint32
	}{{"deliver_days", r.DeliverDays, 7, &l.Deliver}, {"accept_days", r.AcceptDays, 3, &l.Accept}, {"every_days", r.EveryDays, 0, &l.Period}} {
		most := 30
		if d.to == &l.Period {
			most = trade.MaxPeriod / (24 * 60 * 60)
		}
		if d.days < 0 || d.days > most {
			return l, fmt.Errorf("%w: %s: %d, want 1 to %d", memory.ErrInvalid, d.name, d.days, most)
		}
		if d.days == 0 {
			d.days = d.least
		}
		*d.to = uint32(d.days * 24 * 60 * 60)
	}
	for _, t := range []struct {
		at time.Time
		to *int64
	}{{r.Bundle.Since, &l.Since}, {r.Bundle.Until, &l.Until}} {
		if !t.at.IsZero() {
			*t.to = t.at.Unix()
		}
	}
	return l, nil
}

// public are the texts of a listing that everybody sees.
func public(r *serve.ListingRequest) map[string][]string {
	return map[string][]string{"title": {r.Title}, "description": {r.Description}, "categories": r.Categories, "sample": r.Sample, "licence": {r.Licence}, "terms": {r.Terms}}
}

// preview gives the copies, and the listing as far as it is known without a market.
func (s *Shop) preview(ctx context.Context, r *serve.ListingRequest) (l trade.Listing, p share.Preview, err error) {
	if l, err = draft(r); err != nil {
		return l, p, err
	}
	p, l.Redaction, err = s.c.Bundler.Bundle(ctx, &r.Bundle, public(r))
	if err != nil {
		return l, p, err
	}
	l.Items, l.Counts = uint32(len(p.Copies)), map[string]uint32{}
	for _, c := range p.Copies {
		l.Counts[string(c.Candidate.Type)]++
	}
	return l, p, nil
}

// Preview implements the seller's service.
func (s *Shop) Preview(ctx context.Context, r serve.ListingRequest) (v serve.SharePreview, err error) {
	_, p, err := s.preview(ctx, &r)
	if err != nil {
		return v, err
	}
	v = serve.SharePreview{Readers: []serve.ShareReader{}, LeftOut: p.LeftOut, Few: p.Few, Risks: []serve.ShareRisk{}, Confirm: p.Confirm}
	for _, c := range p.Copies {
		v.Memories = append(v.Memories, serve.SharedCopy{Of: c.Of, Type: c.Candidate.Type, Text: c.Candidate.Text, Copy: c.Candidate})
	}
	for _, risk := range p.Risks {
		v.Risks = append(v.Risks, serve.ShareRisk{Kind: string(risk.Kind), Of: risk.Of, What: risk.What})
	}
	for _, why := range slices.Sorted(maps.Keys(p.Held)) {
		v.Held = append(v.Held, serve.HeldBack{Why: why, Memories: p.Held[why]})
	}
	return v, nil
}

// Publish seals a bundle and lists it. Its key is kept before the market hears of
// the listing, so that nothing can be ordered that can't be delivered.
func (s *Shop) Publish(ctx context.Context, r serve.ListingRequest) (out serve.Listing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publish(ctx, r)
}

// publish is Publish, under the lock.
func (s *Shop) publish(ctx context.Context, r serve.ListingRequest) (out serve.Listing, err error) {
	if r.Market == "" {
		r.Market = s.c.Relay
	}
	if r.Market == "" && r.Replaces == "" {
		return out, errNoMarket
	}
	began := s.c.Now().UTC() // where the next period does
	if r.EveryDays > 0 && r.Bundle.Until.IsZero() {
		r.Bundle.Until = began
	}
	l, p, err := s.preview(ctx, &r)
	if err != nil {
		return out, err
	}
	if r.Bundle.Confirm != "" && r.Bundle.Confirm != p.Confirm {
		return out, fmt.Errorf("%w: %w", serve.ErrConflict, share.ErrChanged)
	}
	all, err := s.list(ctx)
	if err != nil {
		return out, err
	}
	if len(all) >= maxListed {
		return out, fmt.Errorf("%w: this home keeps %d versions of listings", serve.ErrConflict, maxListed)
	}
	if r.Replaces != "" {
		old, err := find(all, r.Replaces)
		if err != nil {
			return out, err
		}
		if !old.Withdrawn.IsZero() {
			return out, fmt.Errorf("listing %s: %w: it was withdrawn", r.Replaces, serve.ErrConflict)
		}
		r.Market, l.First, l.Prev, l.Number = old.Market, old.ID, old.Version, uint32(old.Number)+1
		if old.Request != nil { // of a subscription: the period stays
			r.EveryDays, l.Period = old.Request.EveryDays, uint32(old.Request.EveryDays*24*60*60)
			if r.Bundle.Until.IsZero() {
				r.Bundle.Until = began
			}
		}
	}
	k := seal.NewKey()
	defer k.Zero()
	var ms []memory.Candidate
	var of []memory.ID
	for _, c := range p.Copies {
		ms, of = append(ms, c.Candidate), append(of, c.Of)
	}
	items, err := bundle.Seal(k, ms)
	if err != nil {
		return out, err
	}
	if l.Root, l.Size, err = trade.Root(items); err != nil {
		return out, refusal(err)
	}
	l.Commitment, l.Created = bundle.Commitment(k), s.c.Now().Unix()
	err = s.at(r.Market, func(m *remote.Market, by trade.Party) error {
		terms, err := m.Terms(ctx)
		if err != nil {
			return err
		}
		arbiter, err := envelope.ParseRequest(terms.Arbiter)
		if err != nil {
			return fmt.Errorf("the market's arbiter: %w: %w", remote.ErrAnswer, err)
		}
		l.Market, l.Arbiter = terms.Market, trade.KeyOf(arbiter.Key)
		o, err := trade.SignListing(l, by)
		if err != nil {
			return err
		}
		out = serve.Listing{ID: o.ID(), Version: o.Hash, Number: int(l.Number), Market: r.Market, Title: l.Title, Price: trade.Price(l.Price, l.Currency), Items: len(items),
			Approve: r.Approve, Created: s.c.Now().UTC().Truncate(time.Second)}
		if err := s.keepOffered(r.Market, o, items); err != nil {
			return err
		}
		kept := listed{Listing: out, Key: k.Bytes(), Of: of, Purpose: r.Bundle.Purpose, Form: p.Form}
		if r.EveryDays > 0 {
			kept.Request = &r
		}
		if err := s.change(ctx, func(all []listed) []listed { return slices.Insert(all, 0, kept) }); err != nil {
			return err
		}
		if err := s.c.Bundler.Sold(ctx, share.DidList, l.Title, "", len(items), ""); err != nil {
			return err
		}
		if err := m.Publish(ctx, o, items); err != nil {
			return err // the market may have it all the same: the key stays
		}
		return s.sent(ctx, o.Hash)
	})
	return out, err
}

// sent notes that the market has a version.
func (s *Shop) sent(ctx context.Context, version trade.Hash) error {
	return s.change(ctx, func(all []listed) []listed {
		for i := range all {
			if all[i].Version == version {
				all[i].Sent = true
			}
		}
		return all
	})
}

// keepOffered keeps the sealed items here, so that no operator has the only copy.
func (s *Shop) keepOffered(address string, o *trade.Offer, items [][]byte) error {
	if err := atomicfile.MkdirAll(s.c.Dir); err != nil {
		return fmt.Errorf("keep the bundle: %w", err)
	}
	return atomicfile.Write(offeredFile(s.c.Dir, o.Hash), carOf(address, o.Signed, nil, items))
}

// Withdraw ends a listing at its market.
func (s *Shop) Withdraw(ctx context.Context, id, reason string) (serve.Listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.list(ctx)
	if err != nil {
		return serve.Listing{}, err
	}
	l, err := find(all, id)
	if err != nil {
		return serve.Listing{}, err
	}
	err = s.withdraw(ctx, l, reason)
	return l.Listing, err
}

// withdraw ends it, and notes that. public is what everybody may read.
func (s *Shop) withdraw(ctx context.Context, l *listed, reason string) error {
	if !l.Withdrawn.IsZero() {
		return nil
	}
	err := s.at(l.Market, func(m *remote.Market, by trade.Party) error {
		b, _, err := trade.SignNotice(trade.Withdrawal, trade.Notice{Listing: l.ID, Reason: reason, At: s.c.Now().Unix()}, by)
		if err != nil {
			return err
		}
		return m.Withdraw(ctx, b)
	})
	if err != nil && !errors.Is(err, memory.ErrNotFound) { // a market that never had it sells nothing
		return err
	}
	l.Withdrawn, l.Why = s.c.Now().UTC().Truncate(time.Second), reason
	if err := s.change(ctx, func(all []listed) []listed {
		for i := range all {
			if all[i].ID == l.ID {
				all[i].Withdrawn, all[i].Why = l.Withdrawn, reason
			}
		}
		return all
	}); err != nil {
		return err
	}
	return s.c.Bundler.Sold(ctx, share.DidEnd, l.Title, "", 0, reason)
}
