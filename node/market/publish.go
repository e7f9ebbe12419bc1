package market

import (
	"cmp"
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
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/mark"
)

// draft sets what the seller specified, and what follows from the bundle.
func draft(r *serve.ListingRequest) (l trade.Listing, err error) {
	l = trade.Listing{Number: 1, Title: r.Title, Description: r.Description, Categories: r.Categories, Languages: r.Languages, Sample: r.Sample,
		Licence: r.Licence, Terms: r.Terms}
	l.Licence = cmp.Or(l.Licence, "personal use, not to be passed on")
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
		d.days = cmp.Or(d.days, d.least)
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

// public returns the texts of a listing that everybody sees.
func public(r *serve.ListingRequest) map[string][]string {
	return map[string][]string{"title": {r.Title}, "description": {r.Description}, "categories": r.Categories, "sample": r.Sample, "licence": {r.Licence}, "terms": {r.Terms}}
}

// preview returns the copies, and the listing as far as it is known without a market.
func (s *Shop) preview(ctx context.Context, r *serve.ListingRequest) (l trade.Listing, p share.Preview, err error) {
	if l, err = draft(r); err != nil {
		return l, p, err
	}
	if r.Replaces != "" { // either all versions of a listing sell answers, or all sell their bundles
		all, err := s.list(ctx)
		if err != nil {
			return l, p, err
		}
		if old, err := find(all, r.Replaces); err == nil { // otherwise nextOf says why not
			r.Answers, r.Unmarked = cmp.Or(r.Answers, old.Percent), r.Unmarked || old.Unmarked
			if old.sellsEntry() && r.Entry == "" {
				r.Entry = old.Entry.String()
			}
		}
	}
	if r.Entry != "" {
		p, err = s.previewEntry(ctx, r, &l)
		return l, p, err
	}
	p, l.Redaction, err = s.c.Bundler.Bundle(ctx, &r.Bundle, r.Answers != nil, public(r))
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
	return v, showMarks(ctx, &v, &r, &p)
}

// Publish seals a bundle and lists it. Its key is stored before the market is told about the
// listing, so that nothing can be ordered that can't be delivered.
func (s *Shop) Publish(ctx context.Context, r serve.ListingRequest) (out serve.Listing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publish(ctx, r)
}

// publish is Publish, under the lock.
func (s *Shop) publish(ctx context.Context, r serve.ListingRequest) (out serve.Listing, err error) {
	r.Market = cmp.Or(r.Market, s.c.Relay())
	if r.Market == "" && r.Replaces == "" {
		return out, errNoMarket
	}
	began := s.c.Now().UTC() // this is where the next period begins
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
	if err := s.nextOf(ctx, &r, &l, began); err != nil {
		return out, err
	}
	kept := listed{Listing: serve.Listing{Market: r.Market, Price: trade.Price(l.Price, l.Currency), Approve: r.Approve, Unmarked: r.Unmarked}, Purpose: r.Bundle.Purpose, Form: p.Form, Marking: !r.Unmarked}
	if r.EveryDays > 0 {
		kept.Request = &r
	}
	texts, _, err := markedCopies(ctx, &r, &p)
	if err != nil {
		return out, err
	}
	items, err := s.seal(&kept, &l, p.Copies, texts)
	if err == nil && r.Answers != nil {
		err = kept.answers(&l, r.Answers)
	}
	if err == nil && r.Entry != "" {
		err = s.sellEntry(ctx, &r, &kept, &l)
	}
	if err != nil {
		return out, err
	}
	err = s.at(r.Market, func(m *remote.Market, by trade.Party) error {
		o, err := s.offer(ctx, m, by, l, items, &kept, nil)
		if err != nil {
			return err
		}
		out = kept.Listing
		return s.publishAt(ctx, m, &carried{offer: o, items: items}) // the market may have it even if this fails, so the key stays
	})
	return out, err
}

// nextOf makes a listing the next version of the one that a request replaces, if there is one. The
// next period of a subscription begins at began.
func (s *Shop) nextOf(ctx context.Context, r *serve.ListingRequest, l *trade.Listing, began time.Time) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if len(all) >= maxListed {
		return fmt.Errorf("%w: this home keeps %d versions of listings", serve.ErrConflict, maxListed)
	}
	if r.Replaces == "" {
		return nil
	}
	old, err := find(all, r.Replaces)
	if err != nil {
		return err
	}
	if !old.Withdrawn.IsZero() {
		return fmt.Errorf("listing %s: %w: it was withdrawn", r.Replaces, serve.ErrConflict)
	}
	r.Market, l.First, l.Prev, l.Number = old.Market, old.ID, old.Version, uint32(old.Number)+1
	if old.Request != nil { // for a subscription the period stays
		r.EveryDays, l.Period = old.Request.EveryDays, uint32(old.Request.EveryDays*24*60*60)
		if r.Bundle.Until.IsZero() {
			r.Bundle.Until = began
		}
	}
	return nil
}

// seal seals copies with a new key, which is stored with the ids of the originals. to receives what
// proves the bundle. texts are the spots of a marked bundle; nil: all copies are the same.
func (s *Shop) seal(l *listed, to *trade.Listing, copies []share.Copy, texts []mark.Text) (items [][]byte, err error) {
	k := seal.NewKey()
	defer k.Zero()
	l.Key, to.Commitment = k.Bytes(), bundle.Commitment(k)
	for _, c := range copies {
		l.Of = append(l.Of, c.Of)
	}
	if texts == nil {
		var ms []memory.Candidate
		for _, c := range copies {
			ms = append(ms, c.Candidate)
		}
		items, err = bundle.Seal(k, ms)
	} else {
		items, err = s.sealMarked(l, to, k, copies, texts)
	}
	if err != nil {
		return nil, err
	}
	to.Root, to.Size, err = trade.Root(items)
	return items, refusal(err)
}

// sealMarked seals the copies with both forms at each spot.
func (s *Shop) sealMarked(l *listed, to *trade.Listing, k *seal.Key, copies []share.Copy, texts []mark.Text) ([][]byte, error) {
	marking, err := s.marking(to.Commitment)
	if err != nil {
		return nil, err
	}
	defer marking.Zero()
	var ms []bundle.Marked
	for i, t := range texts {
		m := bundle.Marked{Item: copies[i].Candidate, Spots: t.Spots}
		m.Item.Text = t.Rest
		ms, l.Spots = append(ms, m), append(l.Spots, len(t.Spots))
		to.Marks += uint32(len(t.Spots))
	}
	l.Marks = int(to.Marks)
	return bundle.SealMarked(k, marking, ms)
}

// Defaults for the share that answers may show, in percent of the items.
const (
	answersEach = 10
	answersAll  = 50
)

// answers makes a listing sell answers from its bundle.
func (l *listed) answers(to *trade.Listing, r *serve.ListingAnswers) error {
	recipient, err := recipientOf(l.Key)
	if err != nil {
		return err
	}
	a := trade.Answers{To: recipient}
	for _, limit := range []struct {
		name           string
		percent, usual int
		to             *uint32
	}{{"each", r.Each, answersEach, &a.Each}, {"all", r.All, answersAll, &a.All}} {
		percent := cmp.Or(limit.percent, limit.usual)
		if percent < 1 || percent > 100 {
			return fmt.Errorf("%w: answers: %s: %d, want 1 to 100 percent", memory.ErrInvalid, limit.name, percent)
		}
		if *limit.to = to.Items * uint32(percent) / 100; *limit.to == 0 {
			return fmt.Errorf("%w: answers: %s: %d percent of %d memories is less than one: sell more of them, or give a higher percentage", memory.ErrInvalid, limit.name, percent, to.Items)
		}
	}
	to.Answers, l.Percent = &a, r
	l.Listing.Answers = &serve.AnswerLimits{Each: int(a.Each), All: int(a.All)}
	return nil
}

// offer signs a listing for a market, and stores it with its bundle and its other data. The market
// is not told yet. from is the version that moves there, and next.Market the key of its previous
// market; if from is nil, the bundle is new.
func (s *Shop) offer(ctx context.Context, at *remote.Market, by trade.Party, next trade.Listing, items [][]byte, kept, from *listed) (*trade.Offer, error) {
	terms, err := at.Terms(ctx)
	if err != nil {
		return nil, err
	}
	arbiter, err := arbiterOf(terms)
	if err != nil {
		return nil, err
	}
	if from != nil && next.Market == terms.Market {
		return nil, fmt.Errorf("%w: the same market answers there", serve.ErrConflict)
	}
	now := s.c.Now().UTC().Truncate(time.Second)
	next.Market, next.Arbiter, next.Created = terms.Market, trade.KeyOf(arbiter.Key), now.Unix()
	o, err := trade.SignListing(next, by)
	if err != nil {
		return nil, err
	}
	if err := s.follows(o); err != nil {
		return nil, err
	}
	if err := s.keepOffered(kept.Market, o, items); err != nil {
		return nil, err
	}
	kept.ID, kept.Version, kept.Number, kept.Title, kept.Items, kept.Created = o.ID(), o.Hash, int(o.Number), o.Title, len(items), now
	if err := s.change(ctx, func(all []listed) []listed {
		if from != nil {
			from.MovedTo = &movedTo{Market: kept.Market, Listing: o.Hash}
			if was := versionOf(all, from.Version); was != nil {
				was.MovedTo = from.MovedTo
			}
		}
		return slices.Insert(all, 0, *kept)
	}); err != nil {
		return nil, err
	}
	return o, s.c.Bundler.LogSale(ctx, share.DidList, o.Title, "", len(items), "")
}

// follows refuses a version that no market would accept after the previous one. It would otherwise
// be stored as the newest, and block each later one.
func (s *Shop) follows(o *trade.Offer) error {
	if o.Number == 1 {
		return nil
	}
	_, was, err := offeredIn(s.c.Dir, o.Prev)
	if errors.Is(err, ErrNotKept) {
		return nil
	}
	if err == nil {
		err = o.Follows(was.offer)
	}
	return err
}

// publishAt sends a version, and records that its market has it.
func (s *Shop) publishAt(ctx context.Context, at *remote.Market, c *carried) error {
	items := c.items
	if c.offer.Answers != nil { // a seller of answers shows nobody the bundle, not even sealed
		items = nil
	}
	if err := at.Publish(ctx, c.offer, items); err != nil {
		return err
	}
	return s.each(ctx, func(l *listed) { l.Sent = l.Sent || l.Version == c.offer.Hash })
}

// keepOffered stores the sealed items here, so that no operator has the only copy.
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

// withdraw ends a listing, and records that. public is what everybody may read.
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
	if l.sellsEntry() {
		s.sayNoEntry(ctx, l)
	}
	l.Withdrawn, l.Why = s.c.Now().UTC().Truncate(time.Second), reason
	if err := s.each(ctx, func(v *listed) {
		if v.ID == l.ID {
			v.Withdrawn, v.Why = l.Withdrawn, reason
		}
	}); err != nil {
		return err
	}
	return s.c.Bundler.LogSale(ctx, share.DidEnd, l.Title, "", 0, reason)
}
