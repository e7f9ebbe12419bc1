package market

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// Review stores a buyer's review of an order that is a receipt, once. Repeating the same bytes is
// no error, and a different review is [ErrReviewed].
func (m *Market) Review(ctx context.Context, signed []byte) error {
	r, by, _, err := trade.ReadReview(signed)
	if err != nil {
		return err
	}
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		_, s, err := m.state(ctx, tx, r.Order)
		if err != nil {
			return err
		}
		if err := s.CheckReview(&r, by); err != nil {
			return err
		}
		var n int64
		if err := one(tx.QueryRowContext(ctx, `SELECT listing FROM versions WHERE hash = $1`, s.Offer.Hash[:]), &n); err != nil {
			return err
		}
		made, err := tables.Affected(tx.ExecContext(ctx, `INSERT INTO reviews (of, listing, at, signed) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, r.Order[:], n, m.c.Now().Unix(), signed))
		if err != nil {
			return fmt.Errorf("keep review: %w", err)
		}
		if made == 0 {
			var was []byte
			if err := one(tx.QueryRowContext(ctx, `SELECT signed FROM reviews WHERE of = $1`, r.Order[:]), &was); err != nil || string(was) == string(signed) {
				return err
			}
			return fmt.Errorf("review: %w", ErrReviewed)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE listings SET reviews = reviews + 1, stars = stars + $1 WHERE n = $2`, r.Stars, n); err != nil {
			return fmt.Errorf("keep review: %w", err)
		}
		if err := m.log(ctx, tx, translog.Reviewed, r.Order.String(), signed, ""); err != nil {
			return err
		}
		return m.number(ctx, tx, r.Order, n, signed)
	})
}

// deleteReview takes down the review of an order, with a public reason. The order can't be reviewed
// again.
func (m *Market) deleteReview(ctx context.Context, order trade.Hash, reason string) error {
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		var listing int64
		var id []byte
		if err := one(tx.QueryRowContext(ctx, `SELECT l.n, l.id FROM reviews r JOIN listings l ON l.n = r.listing WHERE r.of = $1`+m.lock("l"), order[:]), &listing, &id); err != nil {
			return fmt.Errorf("review of order %s: %w", order, err)
		}
		var signed []byte
		var number uint32
		if err := one(tx.QueryRowContext(ctx, `SELECT signed, number FROM reviews WHERE of = $1`, order[:]), &signed, &number); err != nil || len(signed) == 0 {
			return err // deleted already
		}
		r, _, _, err := trade.ReadReview(signed)
		if err != nil {
			return err
		}
		if number == 0 {
			return fmt.Errorf("review of order %s: %w: the market has not numbered it yet", order, ErrEarly)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE reviews SET signed = $1 WHERE of = $2`, []byte{}, order[:]); err != nil {
			return fmt.Errorf("delete review: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE listings SET reviews = reviews - 1, stars = stars - $1 WHERE n = $2`, r.Stars, listing); err != nil {
			return fmt.Errorf("delete review: %w", err)
		}
		return m.log(ctx, tx, translog.Deleted, translog.ReviewSubject(trade.Hash(id).String(), number), signed, reason)
	})
}
