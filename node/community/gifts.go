package community

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

const (
	tendWithin = 30 * time.Second // for one community, whose relay may be slow
	retryEnded = time.Hour        // between attempts with a community that the relay no longer serves
)

// Giver decides which of the wearer's memories may be added to a community, and logs that:
// share.Sharing.
type Giver interface {
	Offer(ctx context.Context, w share.ShareSpec, to share.Party, ids *seal.Key, byHand bool) (share.Preview, error)
	LogGift(ctx context.Context, name string, space memory.SpaceID, added, copies int, answers bool) error
}

// offer returns the copies of a choice. of is the question that they answer, so that the
// same memory has another id in each answer. again are the memories to look at once more,
// or nil.
func (sp *space) offer(ctx context.Context, g Giver, w choice, of memory.ID, again []memory.ID, byHand bool) (share.Preview, error) {
	key := sp.device.StoreKey(sp.id)
	defer key.Zero()
	ids := key.Derive("copy ids " + of.String())
	defer ids.Zero()
	l, err := share.ParseLink(sp.record.Link)
	if err != nil {
		return share.Preview{}, err
	}
	return g.Offer(ctx, share.ShareSpec{Criteria: w.Criteria, Redact: w.Redact, Purpose: w.Purpose, OnlyOriginals: again}, share.Party{Name: sp.record.Name, Key: l.Genesis[:]}, ids, byHand)
}

// placed returns the item's id for a copy of a gift.
func (sp *space) placed(made *gift, id memory.ID) memory.ID {
	key := sp.device.StoreKey(sp.id)
	defer key.Zero()
	mac := key.MAC("item", made.Nonce[:], id[:])
	return sp.me.LineID(memory.ID(mac[:16]))
}

// there returns the copies of a gift that are in the community.
func (sp *space) there(tx *store.Tx, made *gift) (map[memory.ID]memory.ID, error) {
	out := map[memory.ID]memory.ID{}
	for id, of := range made.IDs {
		is, err := isThere(tx, sp.placed(made, id))
		if err != nil {
			return nil, err
		}
		if is {
			out[id] = of
		}
	}
	return out, nil
}

// isThere reports whether something was said and not withdrawn.
func isThere(tx *store.Tx, id memory.ID) (bool, error) {
	m, err := tx.Memory(id)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && m.State == memory.Active, err
}

// Preview returns what Add would add. Nothing leaves this machine.
func (c *Communities) Preview(ctx context.Context, g Giver, id string, w share.ShareSpec) (p share.Preview, err error) {
	err = c.at(ctx, id, func(sp *space) error {
		p, err = sp.offer(ctx, g, choice{w.Criteria, w.Redact, w.Purpose}, memory.ID{}, nil, true)
		return err
	})
	return p, err
}

// Add adds copies. If w.Confirm is the digest of another preview, the error is
// share.ErrChanged.
func (c *Communities) Add(ctx context.Context, g Giver, id string, w share.ShareSpec) (serve.CommunityView, error) {
	return c.with(ctx, id, func(sp *space, _ *serve.CommunityView) error {
		p, err := sp.offer(ctx, g, choice{w.Criteria, w.Redact, w.Purpose}, memory.ID{}, nil, true)
		if err != nil {
			return err
		}
		if w.Confirm != "" && w.Confirm != p.Confirm {
			return share.ErrChanged
		}
		return sp.addGift(ctx, g, choice{w.Criteria, w.Redact, w.Purpose}, memory.ID{}, p.Copies, len(p.Copies))
	})
}

// addGift adds copies that are not there yet, up to a maximum. The gift is recorded first, so
// that there is never a copy without the record needed to remove it.
func (sp *space) addGift(ctx context.Context, g Giver, w choice, of memory.ID, copies []share.Copy, most int) error {
	made := gift{choice: w, Of: of, Nonce: randomID(), IDs: map[memory.ID]memory.ID{}}
	here := map[memory.ID]memory.ID{}
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		for _, n := range sp.record.Gifts {
			var earlier gift
			if _, err := tx.Meta(giftMeta(n), &earlier); err != nil {
				return err
			}
			ids, err := sp.there(tx, &earlier)
			if err != nil {
				return err
			}
			maps.Copy(here, ids)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var as []memory.Assertion
	for i := range copies {
		cp := &copies[i]
		if _, is := here[cp.ID]; is || len(as) >= most {
			continue
		}
		if !of.IsZero() {
			cp.Candidate.Metadata = memory.Metadata{metaKind: noteAnswer, metaOf: of.String()}
		}
		made.IDs[cp.ID] = cp.Of
		as = append(as, memory.Assertion{Memory: sp.placed(&made, cp.ID), Act: memory.ActPropose, Candidate: &cp.Candidate})
	}
	if len(as) == 0 {
		return nil
	}
	sp.record.Next++
	sp.record.Gifts = append(sp.record.Gifts, sp.record.Next)
	err = sp.store.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.PutMeta(giftMeta(sp.record.Next), made), tx.PutMeta(keptMeta, sp.record))
	})
	if err == nil {
		err = g.LogGift(ctx, sp.record.Name, sp.id, len(as), len(here)+len(as), !of.IsZero())
	}
	if err != nil {
		return err
	}
	return sp.commitAssertions(ctx, as...)
}

// takeBack erases copies whose memories were forgotten or changed, or that the policy
// holds back now, and answers to questions that were withdrawn.
func (sp *space) takeBack(ctx context.Context, g Giver) (err error) {
	for _, n := range slices.Clone(sp.record.Gifts) {
		err = errors.Join(err, sp.takeBackOf(ctx, g, n))
	}
	return err
}

func (sp *space) takeBackOf(ctx context.Context, g Giver, n int) error {
	var made gift
	var stay map[memory.ID]memory.ID
	asked := true // whether the question that it answers exists
	err := sp.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(giftMeta(n), &made)
		if err != nil {
			return err
		}
		if !made.Of.IsZero() {
			if asked, err = isThere(tx, made.Of); err != nil {
				return err
			}
		}
		stay, err = sp.there(tx, &made)
		return err
	})
	if err != nil {
		return err
	}
	before := len(made.IDs)
	gone := maps.Clone(stay)
	if asked && len(stay) > 0 {
		p, err := sp.offer(ctx, g, made.choice, made.Of, slices.Collect(maps.Values(stay)), false)
		if err != nil && !errors.Is(err, share.ErrNothing) {
			return err
		}
		for i := range p.Copies {
			delete(gone, p.Copies[i].ID)
		}
	}
	var as []memory.Assertion
	for id := range gone {
		as = append(as, memory.Assertion{Memory: sp.placed(&made, id), Act: memory.ActErase})
		delete(stay, id)
	}
	if len(as) > 0 {
		if err := sp.commitAssertions(ctx, as...); err != nil {
			return err
		}
	}
	if len(stay) == before {
		return nil
	}
	made.IDs = stay
	return sp.store.Update(ctx, func(tx *store.Tx) error {
		if len(stay) > 0 {
			return tx.PutMeta(giftMeta(n), made)
		}
		sp.record.Gifts = slices.DeleteFunc(sp.record.Gifts, func(o int) bool { return o == n })
		return errors.Join(tx.DeleteMeta(giftMeta(n)), tx.PutMeta(keptMeta, sp.record))
	})
}

// Maintain does what is due for each community: it fetches what is new, removes what is no
// longer allowed, answers questions, and removes members who left from the log. root is
// that of the wearer's own communities.
func (c *Communities) Maintain(ctx context.Context, g Giver, root ed25519.PrivateKey) error {
	ids, err := c.ids()
	errs := []error{err}
	for _, id := range ids {
		err := c.MaintainOne(ctx, id, g, root)
		if err != nil && !errors.Is(err, ErrNotMember) {
			errs = append(errs, fmt.Errorf("community %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// MaintainOne is Maintain for one community, within half a minute.
func (c *Communities) MaintainOne(ctx context.Context, id memory.SpaceID, g Giver, root ed25519.PrivateKey) error {
	ctx, cancel := context.WithTimeout(ctx, tendWithin)
	defer cancel()
	if err := c.mu.Take(ctx); err != nil {
		return err
	}
	defer c.mu.give()
	return c.in(ctx, id, func(sp *space) error { return sp.maintain(ctx, g, root) })
}

func (sp *space) maintain(ctx context.Context, g Giver, root ed25519.PrivateKey) error {
	if !sp.record.Ended.IsZero() { // or the relay made a mistake
		now := sp.c.now()
		if now.Sub(sp.record.Tried).Abs() < retryEnded {
			return nil
		}
		sp.record.Tried = now
		if err := sp.save(ctx); err != nil {
			return err
		}
	}
	if err := sp.sync(ctx); err != nil {
		return err
	}
	v, _, err := sp.see(ctx)
	if err != nil {
		return err
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Leaving && !m.You && (v.Role == roleOwner || v.Role == roleModerator && m.Role == roleMember) {
			err = errors.Join(err, sp.removeMember(ctx, m.Member, root))
		}
	}
	err = errors.Join(err, sp.takeBack(ctx, g), sp.answer(ctx, g, &v))
	return errors.Join(err, sp.sync(ctx))
}
