package market

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/trade"
)

// What this home has revealed in answers is recorded as the copies that it showed, each by
// the memory behind it and a hash of what a buyer read: for each buyer, and for all
// together. It counts for every listing that has those memories, so that neither a new
// version nor another market starts from zero. The same memory in other words, or less
// redacted, is another copy: a buyer learns more from it, and it counts separately.

// copyOf is a redacted copy of a memory.
type copyOf struct {
	Of memory.ID  `json:"of"`
	As trade.Hash `json:"as"`
}

// copied returns the copy for which an item of a bundle counts.
func copied(of memory.ID, m *memory.Candidate) (copyOf, error) {
	b, err := json.Marshal(m)
	return copyOf{of, sha256.Sum256(b)}, err
}

// copiesOf returns the copies in a whole bundle.
func copiesOf(of []memory.ID, ms []memory.Candidate) (out []copyOf, err error) {
	for i := range ms[:min(len(of), len(ms))] {
		c, err := copied(of[i], &ms[i])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Limits of what one buyer asks, and of how many buyers are known. When there are too
// many, a new buyer replaces the one who asked longest ago; what was shown to all together
// still counts.
const (
	askedADay   = 20
	askedWithin = 24 * time.Hour
	maxAskers   = 1000
	keepAsked   = (trade.MaxTerm + aDay) * time.Second // an open order has been decided by then
)

// asked is one question of a buyer, with the items that answered it.
type asked struct {
	Order  trade.Hash `json:"order"`
	At     time.Time  `json:"at"`               // when it was paid
	Places []int      `json:"places,omitempty"` // none: its price was refunded
}

// told is what one buyer asked, and was shown.
type told struct {
	Asked []asked  `json:"asked,omitempty"` // in the last month, the oldest first
	Shown []copyOf `json:"copies,omitempty"`
}

func (t *told) order(id trade.Hash) *asked {
	if i := slices.IndexFunc(t.Asked, func(a asked) bool { return a.Order == id }); i >= 0 {
		return &t.Asked[i]
	}
	return nil
}

// tooMany reports whether one more question, paid at a time, exceeds what one buyer may
// ask in any [askedWithin].
func (t *told) tooMany(at time.Time) bool {
	full := func(from time.Time) bool {
		n := 0
		for _, a := range t.Asked {
			if !a.At.Before(from) && a.At.Before(from.Add(askedWithin)) {
				n++
			}
		}
		return n >= askedADay
	}
	if full(at) {
		return true
	}
	for _, a := range t.Asked { // orders may be processed in any order
		if a.At.After(at.Add(-askedWithin)) && !a.At.After(at) && full(a.At) {
			return true
		}
	}
	return false
}

// paidAt returns when an order was paid, according to the market, but never later than
// now. So it does not matter how long the seller was away.
func paidAt(st *trade.State, now time.Time) time.Time {
	at := time.Unix(st.At, 0).UTC()
	if at.After(now) {
		at = now.UTC().Truncate(time.Second)
	}
	return at
}

// toldAll is what was shown to all buyers, and who they are; the buyer who asked longest
// ago is first.
type toldAll struct {
	All    []copyOf    `json:"copies,omitempty"`
	Askers []trade.Key `json:"askers,omitempty"`
}

const (
	toldMeta    = "market told "
	toldAllMeta = "market told"
)

// shownTo returns what was shown to one buyer, and to all.
func (s *Shop) shownTo(ctx context.Context, buyer trade.Key) (t told, all toldAll, err error) {
	err = s.c.Store.View(ctx, func(tx *store.Tx) error { t, all, err = readTold(tx, buyer); return err })
	return t, all, err
}

func readTold(tx *store.Tx, buyer trade.Key) (t told, all toldAll, err error) {
	if _, err = tx.Meta(toldMeta+buyer.String(), &t); err == nil {
		_, err = tx.Meta(toldAllMeta, &all)
	}
	return t, all, err
}

// room is what an answer may still show of a bundle to one buyer. [room.allowed] uses it
// up.
type room struct {
	of          []copyOf // the copies in the bundle, by place
	to, all     map[copyOf]bool
	each, every int // how many new copies may be shown to the buyer, and to all
}

// roomOf returns the room for a buyer who was shown to, when everybody was shown all.
func roomOf(a *trade.Answers, of, to, all []copyOf) *room {
	in := map[memory.ID]bool{}
	for _, c := range of {
		in[c.Of] = true
	}
	count := func(shown []copyOf) (known map[copyOf]bool, n int) {
		known = map[copyOf]bool{}
		for _, c := range shown {
			known[c] = true
			if in[c.Of] {
				n++
			}
		}
		return known, n
	}
	r := &room{of: of}
	var each, every int
	r.to, each = count(to)
	r.all, every = count(all)
	r.each, r.every = int(a.Each)-each, int(a.All)-every
	return r
}

// may reports whether one place may be shown now. What was shown before costs nothing.
func (r *room) may(place int) bool {
	return place < len(r.of) && (r.each > 0 || r.to[r.of[place]]) && (r.every > 0 || r.all[r.of[place]])
}

// allowed returns those of some places, in their order, that an answer may show. A place
// that may not be shown is not replaced by another, so that a series of questions can't
// reach items further down.
func (r *room) allowed(places []int) (out []int) {
	for _, place := range places {
		if slices.Contains(out, place) || !r.may(place) {
			continue
		}
		c := r.of[place]
		if !r.to[c] {
			r.to[c], r.each = true, r.each-1
		}
		if !r.all[c] {
			r.all[c], r.every = true, r.every-1
		}
		out = append(out, place)
	}
	return out
}

// noteTold records how an order is answered, once.
func (s *Shop) noteTold(ctx context.Context, st *trade.State, places []int, copies []copyOf) error {
	buyer, now := st.Order.Buyer, s.c.Now().UTC().Truncate(time.Second)
	return s.c.Store.Commit(ctx, func(tx *store.Tx) error {
		t, all, err := readTold(tx, buyer)
		if err != nil || t.order(st.ID) != nil {
			return err
		}
		t.Asked = slices.DeleteFunc(t.Asked, func(a asked) bool { return now.Sub(a.At) > keepAsked })
		t.Asked = append(t.Asked, asked{st.ID, paidAt(st, now), places})
		for _, c := range copies {
			t.Shown, all.All = with(t.Shown, c), with(all.All, c)
		}
		all.Askers = append(slices.DeleteFunc(all.Askers, func(k trade.Key) bool { return k == buyer }), buyer)
		if len(all.Askers) > maxAskers {
			if err := tx.DeleteMeta(toldMeta + all.Askers[0].String()); err != nil {
				return err
			}
			all.Askers = all.Askers[1:]
		}
		if err := tx.PutMeta(toldAllMeta, all); err != nil {
			return err
		}
		return tx.PutMeta(toldMeta+buyer.String(), t)
	})
}

func with(copies []copyOf, c copyOf) []copyOf {
	if slices.Contains(copies, c) {
		return copies
	}
	return append(copies, c)
}

// forgetTold removes the records about memories that are forgotten. Records about others
// stay, even if no listing has them any more, so that a new listing of them continues from
// there.
func (s *Shop) forgetTold(ctx context.Context) error {
	_, all, err := s.shownTo(ctx, trade.Key{})
	if err != nil || len(all.All) == 0 {
		return err
	}
	var ids []memory.ID
	for _, c := range all.All {
		ids = append(ids, c.Of)
	}
	forgotten, err := s.c.Bundler.Forgotten(ctx, ids)
	if err != nil || len(forgotten) == 0 {
		return err
	}
	gone := func(c copyOf) bool { return slices.Contains(forgotten, c.Of) }
	return s.c.Store.Commit(ctx, func(tx *store.Tx) error {
		var all toldAll
		if _, err := tx.Meta(toldAllMeta, &all); err != nil {
			return err
		}
		for _, buyer := range all.Askers {
			var t told
			if _, err := tx.Meta(toldMeta+buyer.String(), &t); err != nil {
				return err
			}
			n := len(t.Shown)
			if t.Shown = slices.DeleteFunc(t.Shown, gone); len(t.Shown) == n {
				continue
			}
			if err := tx.PutMeta(toldMeta+buyer.String(), t); err != nil {
				return err
			}
		}
		all.All = slices.DeleteFunc(all.All, gone)
		return tx.PutMeta(toldAllMeta, all)
	})
}
