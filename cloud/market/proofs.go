package market

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// maxOrdered is how many bytes of earlier versions one answer carries for its proofs. A review
// whose version does not fit is shown without proof.
const maxOrdered = 1 << 20

// numbered is a review's order, and its number.
type numbered struct {
	of trade.Hash
	n  uint32
}

// listingReviews reads the reviews of a listing, each with the part of its receipt that proves it.
func (m *Market) listingReviews(ctx context.Context, tx *sql.Tx, n int64, s *trade.Shown) (of []numbered, err error) {
	type row struct {
		id, review, order, version []byte
		n                          uint32
	}
	rows, err := tables.Collect(ctx, tx, func(v *row) []any { return []any{&v.id, &v.n, &v.review, &v.order, &v.version} }, `SELECT r.of, r.number, r.signed, o.signed, v.signed
		FROM (SELECT of, number, at, signed FROM reviews WHERE listing = $1 ORDER BY number DESC, at DESC LIMIT $2) r
		JOIN orders o ON o.id = r.of JOIN versions v ON v.hash = o.version ORDER BY r.number DESC, r.at DESC`, n, trade.MaxShown)
	if err != nil {
		return nil, err
	}
	var versions [][]byte
	for _, v := range rows {
		if len(v.review) == 0 { // deleted: its author is not revealed any more
			v.order, v.version = nil, s.Hit.Listing
		}
		of, versions = append(of, numbered{trade.Hash(v.id), v.n}), append(versions, v.version)
		s.Reviews, s.Proofs = append(s.Reviews, v.review), append(s.Proofs, trade.Proof{Order: v.order})
	}
	room := maxOrdered
	s.Ordered = ordered(versions, s.Hit.Listing, &room)
	for i, r := range of {
		if len(s.Reviews[i]) == 0 {
			continue
		}
		steps, err := list[[]byte](ctx, tx, `SELECT signed FROM steps WHERE of = $1 ORDER BY n LIMIT 2`, r.of[:])
		if err != nil {
			return nil, err
		}
		s.Proofs[i].Delivery = delivery(steps...)
	}
	return of, nil
}

// ordered returns each version other than the one that is shown, once, while there is room.
func ordered(versions [][]byte, shown []byte, room *int) (out [][]byte) {
	known := map[string]bool{string(shown): true}
	for _, v := range versions {
		if !known[string(v)] && len(v) <= *room {
			known[string(v)] = true
			*room -= len(v)
			out = append(out, v)
		}
	}
	return out
}

// delivery returns the step by which the seller delivered the key. It is the second step of an
// order, after the payment; later ones are longer, with evidence.
func delivery(steps ...[]byte) []byte {
	for _, b := range steps {
		if t, err := trade.ReadStep(b); err == nil && t.Act == trade.Deliver {
			return b
		}
	}
	return nil
}

// prove adds the places of receipts and reviews in the log, with its checkpoint. Reviews from a
// listing's earlier markets are in it by their orders, and have no numbers.
func (m *Market) prove(ctx context.Context, tx *sql.Tx, listing trade.Hash, of []numbered, s *trade.Shown) error {
	if m.c.Log == nil {
		return nil
	}
	var want []translog.Entry
	var into []*trade.Logged
	for i, r := range of {
		p, subject := &s.Proofs[i], translog.ReviewSubject(listing.String(), r.n)
		other, of := translog.Entry{Kind: translog.Receipt, Subject: r.of.String()}, &p.Receipt
		want, into = append(want, translog.Entry{Kind: translog.Reviewed, Subject: subject}), append(into, &p.Said)
		if len(s.Reviews[i]) == 0 { // until its deletion is published, the log only has the review
			other, of = translog.Entry{Kind: translog.Deleted, Subject: subject}, &p.Said
		}
		want, into = append(want, other), append(into, of)
	}
	for i := range s.Origins {
		for j, b := range s.Origins[i].Said {
			r, _, _, err := trade.ReadReview(b)
			if err != nil {
				return err
			}
			p := &s.Origins[i].Proofs[j]
			want = append(want, translog.Entry{Kind: translog.Receipt, Subject: r.Order.String()}, translog.Entry{Kind: translog.Reviewed, Subject: r.Order.String()})
			into = append(into, &p.Receipt, &p.Said)
		}
	}
	found, note, err := m.c.Log.Prove(ctx, tx, want)
	if err != nil {
		return err
	}
	for i, p := range found {
		if p == nil {
			continue
		}
		*into[i] = trade.Logged{At: p.Index, Entry: p.Entry}
		for _, h := range p.Proof {
			into[i].Path = append(into[i].Path, h[:]...)
		}
	}
	s.Log = note
	return nil
}

// number gives a review the next number of its listing, by which the log has it. The caller has
// locked the listing. [ErrNotFound]: it has a number already.
func (m *Market) number(ctx context.Context, tx *sql.Tx, of trade.Hash, listing int64, signed []byte) error {
	var id []byte
	var n uint32
	if err := one(tx.QueryRowContext(ctx, `SELECT l.id, 1 + (SELECT coalesce(max(number), 0) FROM reviews WHERE listing = l.n) FROM listings l WHERE l.n = $1`, listing), &id, &n); err != nil {
		return err
	}
	made, err := tables.Affected(tx.ExecContext(ctx, `UPDATE reviews SET number = $1 WHERE of = $2 AND number = 0`, n, of[:]))
	switch {
	case err != nil:
		return fmt.Errorf("number review: %w", err)
	case made == 0:
		return fmt.Errorf("number review of order %s: %w", of, ErrNotFound)
	}
	return m.log(ctx, tx, translog.Reviewed, translog.ReviewSubject(trade.Hash(id).String(), n), signed, "")
}

// numbersAtOnce is how many old reviews one sweep numbers.
const numbersAtOnce = 1000

// numberReviews numbers reviews that were accepted before reviews had numbers, each in its own
// transaction: one that locked two listings could deadlock with another that locked them in the
// opposite order. Two processes may do it at the same time.
func (m *Market) numberReviews(ctx context.Context) error {
	var all []trade.Hash
	err := m.c.DB.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = list[trade.Hash](ctx, tx, `SELECT of FROM reviews WHERE number = 0 ORDER BY at, of LIMIT $1`, numbersAtOnce)
		return err
	})
	failed := []error{err}
	for _, of := range all {
		if err := m.numberReview(ctx, of); err != nil {
			failed = append(failed, fmt.Errorf("review of order %s: %w", of, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (m *Market) numberReview(ctx context.Context, of trade.Hash) error {
	err := m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		var listing int64
		var signed []byte
		if err := one(tx.QueryRowContext(ctx, `SELECT l.n, r.signed FROM reviews r JOIN listings l ON l.n = r.listing WHERE r.of = $1 AND r.number = 0`+m.lock("l, r"), of[:]), &listing, &signed); err != nil {
			return err
		}
		return m.number(ctx, tx, of, listing, signed)
	})
	if errors.Is(err, ErrNotFound) { // another process was first
		return nil
	}
	return err
}
