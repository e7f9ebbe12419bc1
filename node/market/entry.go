package market

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// Door admits people to communities of the wearer.
type Door interface {
	// OwnedCommunity returns a community that the wearer owns, without asking a relay. For any
	// other community the error is serve.ErrForbidden or memory.ErrNotFound.
	OwnedCommunity(ctx context.Context, id string) (serve.CommunityHead, error)
	// AnnounceFee tells the members the fee for which anybody is admitted; empty: nobody is any
	// more.
	AnnounceFee(ctx context.Context, id memory.SpaceID, fee string) error
	// Admit adds a member. Once nothing prevents that, and before it asks the relay, it
	// calls note. It returns serve.ErrConflict if the member can't be added. again means
	// that note was called for this payment before, so an existing member was admitted by
	// that payment.
	Admit(ctx context.Context, id memory.SpaceID, name string, q envelope.Request, again bool, note func() error) error
	// WasExpelled reports whether a member was removed, and did not leave. It asks no relay.
	WasExpelled(ctx context.Context, id memory.SpaceID, key []byte) (bool, error)
	// Expel removes a member. If there is no such member, it does nothing.
	Expel(ctx context.Context, id memory.SpaceID, key []byte, reason string) error
}

// The entry to a community is sold as an answer: the question says who wants to enter,
// sealed to the seller, and the answer is the community's link, which opens nothing for a
// key that was not admitted. So the order's own escrow holds the fee until the answer, and
// the answer is made after the relay has accepted the new member.
//
// Before a member is admitted for an order, that is recorded. From the record, a home that
// was stopped knows whom this order admitted, and removes them if the fee is refunded for
// whatever reason: nobody stays without having paid.

// entryRoom is how long before the delivery deadline nobody is admitted any more, in
// seconds: the answer could come too late, and a key that was removed can't be admitted
// again.
const entryRoom = 5 * 60

// What a buyer is told whose fee is refunded.
const (
	notLetIn  = "nobody can be let in under this name and key: one of them is, or was, a member's, or the community is full"
	wasPutOut = "the member was put out before the fee was paid"
	hasEnded  = "the community ended before the fee was paid"
)

// admitted is what is stored about an order that admits somebody, until it has ended.
type admitted struct {
	Space memory.SpaceID `json:"space"`
	Key   []byte         `json:"key"`
}

const admittedMeta = "market entry "

func (s *Shop) admitted(ctx context.Context, order trade.Hash) (*admitted, error) {
	var a admitted
	var found bool
	err := s.c.Store.View(ctx, func(tx *store.Tx) (err error) {
		found, err = tx.Meta(admittedMeta+order.String(), &a)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	return &a, nil
}

// sellsEntry reports whether a version sells the entry to a community.
func (l *listed) sellsEntry() bool { return l.Entry != memory.SpaceID{} }

// noEntry returns why the entry may not be sold any more; empty: it may.
func (s *Shop) noEntry(ctx context.Context, l *listed) (string, error) {
	if s.c.Door == nil {
		return "", errNoDoor
	}
	_, err := s.c.Door.OwnedCommunity(ctx, l.Entry.String())
	if errors.Is(err, memory.ErrNotFound) || errors.Is(err, serve.ErrForbidden) {
		return "the community has ended, or is not yours", nil
	}
	return "", err
}

var errNoDoor = fmt.Errorf("%w: this home has no communities", serve.ErrUnsupported)

// previewEntry returns what a listing of an entry delivers: the community's link, as an item
// that is not from a memory.
func (s *Shop) previewEntry(ctx context.Context, r *serve.ListingRequest, l *trade.Listing) (p share.Preview, err error) {
	switch {
	case s.c.Door == nil:
		return p, errNoDoor
	case r.Answers != nil || r.EveryDays > 0:
		return p, fmt.Errorf("%w: entry: a listing that sells it has no memories, answers or periods", memory.ErrInvalid)
	}
	if s.c.CheckPublicTexts != nil {
		if err := s.c.CheckPublicTexts(ctx, public(r)); err != nil {
			return p, err
		}
	}
	head, err := s.c.Door.OwnedCommunity(ctx, r.Entry)
	if err != nil {
		return p, err
	}
	r.Entry = head.ID.String()
	c := memory.Candidate{Type: memory.Semantic, Text: head.Link, Owner: memory.Owner{User: "shared"}, Confidence: 1, Sensitivity: memory.Personal}
	p.Copies = []share.Copy{{Candidate: c}}
	l.Items, l.Counts, l.Entry = 1, map[string]uint32{string(c.Type): 1}, true
	return p, nil
}

// sellEntry makes a listing sell the entry to a community, and tells the members, because
// anybody who pays can read what they add. Only one listing sells it at a time.
func (s *Shop) sellEntry(ctx context.Context, r *serve.ListingRequest, kept *listed, l *trade.Listing) error {
	head, err := s.c.Door.OwnedCommunity(ctx, r.Entry)
	if err != nil {
		return err
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, o := range newestOf(all) {
		if o.Entry == head.ID && o.Withdrawn.IsZero() && !o.Gone && o.ID != l.First {
			return fmt.Errorf("%w: listing %s sells the entry already: withdraw it, or replace it", serve.ErrConflict, o.ID)
		}
	}
	to, err := recipientOf(kept.Key)
	if err != nil {
		return err
	}
	l.Answers = &trade.Answers{To: to, Each: 1, All: 1}
	kept.Entry, kept.Of, kept.Unmarked = head.ID, nil, false
	return s.c.Door.AnnounceFee(ctx, head.ID, feeOf(&kept.Listing))
}

// recipientOf returns the recipient to which questions about a bundle are sealed; key is
// the bundle's.
func recipientOf(key []byte) (string, error) {
	k, err := seal.KeyFromBytes(key)
	if err != nil {
		return "", err
	}
	defer k.Zero()
	id := bundle.Asker(k)
	defer id.Zero()
	return id.Recipient().String(), nil
}

// feeOf returns what the members are told about a listing.
func feeOf(l *serve.Listing) string { return l.Price + " at " + l.Market }

// sayNoEntry tells the members that a listing is withdrawn: nobody is admitted for money any
// more, or only at the price at the market to which it moved. The members of a community
// that has ended are not told.
func (s *Shop) sayNoEntry(ctx context.Context, l *listed) {
	if s.c.Door == nil {
		return
	}
	fee := ""
	all, err := s.list(ctx)
	for _, o := range newestOf(all) {
		if o.Entry == l.Entry && o.ID != l.ID && o.Withdrawn.IsZero() && !o.Gone {
			fee = feeOf(&o.Listing)
		}
	}
	if err == nil {
		err = s.c.Door.AnnounceFee(ctx, l.Entry, fee)
	}
	if err != nil {
		s.c.Log.Warn("the members could not be told that the entry is no longer sold", "title", l.Title, "error", err)
	}
}

// entry processes an order of an entry. l is nil if this home no longer keeps its version,
// which then has no open order.
func (s *Shop) entry(ctx context.Context, m *remote.Market, by trade.Party, l *listed, st *trade.State, approved bool) (serve.Sale, error) {
	if s.c.Door == nil {
		return saleOf(st, false), errNoDoor
	}
	in, err := s.admitted(ctx, st.ID)
	switch {
	case err != nil:
	case st.Phase == trade.Funded && l != nil:
		return s.admitBuyer(ctx, m, by, l, st, in, approved)
	case in == nil:
	case st.Phase == trade.Delivered || st.Phase == trade.Disputed: // a member who is removed gets the fee back, a member who leaves does not
		var out bool
		switch out, err = s.c.Door.WasExpelled(ctx, in.Space, in.Key); {
		case errors.Is(err, memory.ErrNotFound):
			st, err = s.refund(ctx, m, by, st, hasEnded)
		case err == nil && out:
			st, err = s.refund(ctx, m, by, st, wasPutOut)
		}
	case st.Phase == trade.Refunded || st.Phase == trade.Expired:
		if _, ended := s.c.Door.OwnedCommunity(ctx, in.Space.String()); errors.Is(ended, serve.ErrForbidden) {
			break // the relay does not serve it to its owner now, so nobody else learns anything there
		}
		err = s.c.Door.Expel(ctx, in.Space, in.Key, "The fee for the entry went back.")
		if err == nil || errors.Is(err, memory.ErrNotFound) { // nobody is a member of a community that is gone
			err = s.forgetAdmitted(ctx, st.ID)
		}
	case st.Phase.Ended():
		err = s.forgetAdmitted(ctx, st.ID)
	}
	return saleOf(st, false), err
}

func (s *Shop) forgetAdmitted(ctx context.Context, order trade.Hash) error {
	return s.c.Store.Commit(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(admittedMeta + order.String()) })
}

// admitBuyer admits somebody who paid, and then delivers the link; or it refunds the fee. in is
// what was recorded at an earlier attempt; nil: there was none.
func (s *Shop) admitBuyer(ctx context.Context, m *remote.Market, by trade.Party, l *listed, st *trade.State, in *admitted, approved bool) (serve.Sale, error) {
	refund := func(why string) (serve.Sale, error) {
		st, err := s.refund(ctx, m, by, st, why)
		return saleOf(st, false), err
	}
	failed := func(err error) (serve.Sale, error) { return saleOf(st, false), err }
	if why, err := s.withheld(ctx, l); err != nil {
		return failed(err)
	} else if why != "" || len(l.Key) == 0 {
		return refund(notForSale)
	}
	k, err := seal.KeyFromBytes(l.Key)
	if err != nil {
		return failed(err)
	}
	defer k.Zero()
	id := bundle.Asker(k)
	defer id.Zero()
	q, err := bundle.ReadEntry(id, &st.Order)
	if err != nil {
		return refund(unreadable)
	}
	_, c, err := offeredIn(s.c.Dir, l.Version)
	if err != nil {
		return failed(err)
	}
	wrapped, _, err := bundle.Answer(st, &q, k, c.items, []int{0})
	if errors.Is(err, trade.ErrForm) { // nobody could open it
		return refund("the order's recipient is not a key")
	}
	if err != nil {
		return failed(err)
	}
	v := saleOf(st, false)
	v.Question = fmt.Sprintf("%s, whose key has the words: %s", q.Text, share.Words(q.Buyer[:]))
	if in == nil && l.Approve && !approved {
		v.Waits, v.Answer = true, []string{"the community's link, once let in"}
		return v, nil
	}
	who := envelope.Request{Key: q.Buyer[:], Recipient: q.Recipient}
	late := errors.New("too late")
	err = s.c.Door.Admit(ctx, l.Entry, q.Text, who, in != nil, func() error {
		if st.Deadline-s.c.Now().Unix() < entryRoom { // even if it was recorded, when the relay was not told
			return late
		}
		return s.c.Store.Commit(ctx, func(tx *store.Tx) error {
			return tx.PutMeta(admittedMeta+st.ID.String(), admitted{l.Entry, who.Key})
		})
	})
	switch {
	case errors.Is(err, late):
		return v, nil // it expires, and nobody was admitted
	case errors.Is(err, serve.ErrConflict), errors.Is(err, memory.ErrInvalid): // an invalid name, or one that somebody else has
		return refund(notLetIn)
	case err != nil:
		return v, err
	}
	if err := s.c.Bundler.LogSale(ctx, share.DidSell, l.Title, "buyer "+st.Order.Buyer.String()[:8], 0, "entry"); err != nil {
		return v, err
	}
	st, err = s.step(ctx, m, by, st, trade.Step{Act: trade.Deliver, Wrapped: wrapped})
	done := saleOf(st, false)
	done.Question = v.Question
	return done, err
}
