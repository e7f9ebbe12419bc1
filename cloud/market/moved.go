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

// TakeOver accepts a listing, or an order with its review, from another market, which is not asked:
// everything is checked by the signatures that come with it. No money comes with an order. It
// counts separately, under the market that stamped it, because anybody with a market of their own
// could make any number of orders there. Repeating it changes nothing; an order with more steps
// replaces the known one.
func (m *Market) TakeOver(ctx context.Context, in trade.Moving, by trade.Key) error {
	v, err := trade.ReadMoving(in)
	switch {
	case err != nil:
		return err
	case v.By != by:
		return fmt.Errorf("move: %w", trade.ErrParty)
	case v.Market != m.party.Key:
		return fmt.Errorf("move: %w: it is to another market", trade.ErrParty)
	}
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		if v.State == nil {
			return m.takeListing(ctx, tx, v)
		}
		return m.takeOrder(ctx, tx, v)
	})
}

// Limits of what may move with one listing. All of it can be made for free, because its market may
// be the seller's own.
const (
	maxOrigins    = 8        // earlier markets
	maxMovedBytes = 16 << 20 // total size of its orders' chains and reviews
	maxMovedShown = 1 << 20  // bytes that one answer reads for proofs; the other reviews are shown without
)

// takeListing records where a live listing of this market was before.
func (m *Market) takeListing(ctx context.Context, tx *sql.Tx, v *trade.ParsedMoving) error {
	var n int64
	var state string
	var signed []byte
	err := one(tx.QueryRowContext(ctx, `SELECT l.n, l.state, v.signed FROM listings l JOIN versions v ON v.listing = l.n WHERE l.id = $1 AND v.number = 1`+m.lock("l"), v.Move.Offer[:]), &n, &state, &signed)
	if err != nil {
		return fmt.Errorf("move: listing %s: %w", v.Move.Offer, err)
	}
	here, err := trade.ReadListing(signed)
	switch {
	case err != nil:
		return err
	case state != trade.Live:
		return fmt.Errorf("move: listing %s: %w", v.Move.Offer, ErrEnded)
	case !here.Same(&v.Offer.Listing):
		return fmt.Errorf("move: listing %s: %w: it offers another bundle", v.Move.Offer, trade.ErrRoot)
	}
	var many int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM origins WHERE listing = $1 AND NOT (id = $2 AND seller = $3 AND market = $4)`, n, v.Listing[:], v.Offer.Seller[:], v.From[:]).Scan(&many); err != nil {
		return err
	}
	if many >= maxOrigins {
		return fmt.Errorf("%w: a listing may come from at most %d other markets", ErrFull, maxOrigins)
	}
	made, err := tables.Affected(tx.ExecContext(ctx, `INSERT INTO origins (id, seller, market, listing, move) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		v.Listing[:], v.Offer.Seller[:], v.From[:], n, v.Sent.Move))
	if err != nil {
		return fmt.Errorf("keep move: %w", err)
	}
	if made == 0 {
		var known int64
		if err = tx.QueryRowContext(ctx, `SELECT listing FROM origins WHERE id = $1 AND seller = $2 AND market = $3`, v.Listing[:], v.Offer.Seller[:], v.From[:]).Scan(&known); err == nil && known != n {
			err = fmt.Errorf("move: listing %s: %w: it moved to another listing of this market", v.Listing, ErrVersion)
		}
		return err
	}
	return m.log(ctx, tx, translog.Moved, v.Move.Offer.String(), v.Sent.Move, "")
}

// takeOrder stores an order of a listing that its seller has moved here from the market that
// stamped the order.
func (m *Market) takeOrder(ctx context.Context, tx *sql.Tx, v *trade.ParsedMoving) error {
	var many int
	var n int64
	if err := one(tx.QueryRowContext(ctx, `SELECT listing FROM origins WHERE id = $1 AND seller = $2 AND market = $3`+m.c.DB.Dialect.Lock(), v.Listing[:], v.Offer.Seller[:], v.From[:]), &n); err != nil {
		return fmt.Errorf("move: listing %s: %w: its seller has not moved it here", v.Listing, err)
	}
	var was, review []byte
	err := one(tx.QueryRowContext(ctx, `SELECT chain, review FROM moved WHERE id = $1`, v.Order[:]), &was, &review)
	if err == nil {
		return m.updateOrder(ctx, tx, v, n, was, review)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM moved WHERE origin = $1 AND seller = $2 AND market = $3`, v.Listing[:], v.Offer.Seller[:], v.From[:]).Scan(&many); err != nil {
		return err
	}
	if many >= trade.MaxMovedOrders {
		return fmt.Errorf("%w: at most %d orders of one listing may move with it", ErrFull, trade.MaxMovedOrders)
	}
	if err := m.addBytes(ctx, tx, v, n, len(v.Sent.Order)+len(v.Sent.Review)); err != nil {
		return err
	}
	s := v.State
	if _, err := tx.ExecContext(ctx, `INSERT INTO moved (id, origin, buyer, seller, market, at, steps, sold, stars, chain, review) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		v.Order[:], v.Listing[:], s.Order.Buyer[:], s.Offer.Seller[:], v.From[:], m.c.Now().Unix(), s.Steps, soldIn(s), starsOf(v.Review), v.Sent.Order, v.Sent.Review); err != nil {
		return fmt.Errorf("keep move: %w", err)
	}
	return m.logMoved(ctx, tx, v, s.Reviewable(), v.Review != nil)
}

// updateOrder updates a known order. If one chain continues the other, the longer one is kept. Otherwise
// the market that stamped them has shown two histories, and the first one stays.
func (m *Market) updateOrder(ctx context.Context, tx *sql.Tx, v *trade.ParsedMoving, n int64, chain, review []byte) error {
	var was, now trade.Chain
	if err := errors.Join(trade.Decode(chain, &was, trade.MaxChain), trade.Decode(v.Sent.Order, &now, trade.MaxChain)); err != nil {
		return err
	}
	before, err := was.Replay()
	if err != nil {
		return err
	}
	if was.Extends(&now) {
		now, v.State, v.Sent.Order = was, before, chain
	} else if !now.Extends(&was) {
		return fmt.Errorf("move: order %s: %w: another history of it was brought before, which the same market stamped", v.Order, trade.ErrChain)
	}
	stars, said := starsOf(v.Review), v.Review != nil && len(review) == 0
	if len(review) > 0 { // one for each order, the first that came
		r, _, _, err := trade.ReadReview(review)
		if err != nil {
			return err
		}
		stars, v.Sent.Review = int(r.Stars), review
	}
	if err := m.addBytes(ctx, tx, v, n, len(v.Sent.Order)+len(v.Sent.Review)-len(chain)-len(review)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE moved SET steps = $1, sold = $2, stars = $3, chain = $4, review = $5 WHERE id = $6`,
		v.State.Steps, soldIn(v.State), stars, v.Sent.Order, v.Sent.Review, v.Order[:]); err != nil {
		return fmt.Errorf("keep move: %w", err)
	}
	return m.logMoved(ctx, tx, v, v.State.Reviewable() && !before.Reviewable(), said)
}

// addBytes counts bytes of an order that moves with listing n. It refuses what exceeds the limits of
// the listing or of its seller.
func (m *Market) addBytes(ctx context.Context, tx *sql.Tx, v *trade.ParsedMoving, n int64, more int) error {
	if more <= 0 {
		return nil // it is known
	}
	var size int64
	if err := tx.QueryRowContext(ctx, `SELECT CAST(sum(bytes) AS bigint) FROM origins WHERE listing = $1`, n).Scan(&size); err != nil {
		return err
	}
	if size+int64(more) > maxMovedBytes {
		return fmt.Errorf("%w: the orders that move with one listing may have at most %d bytes", ErrFull, maxMovedBytes)
	}
	if err := m.room(ctx, tx, v.Offer.Seller, int64(more)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE origins SET bytes = bytes + $1 WHERE id = $2 AND seller = $3 AND market = $4`, more, v.Listing[:], v.Offer.Seller[:], v.From[:])
	return err
}

func (m *Market) logMoved(ctx context.Context, tx *sql.Tx, v *trade.ParsedMoving, receipt, review bool) error {
	if receipt {
		var c trade.Chain
		if err := trade.Decode(v.Sent.Order, &c, trade.MaxChain); err != nil {
			return err
		}
		if err := m.log(ctx, tx, translog.Receipt, v.Order.String(), c.Links[len(c.Links)-1].Step, ""); err != nil {
			return err
		}
	}
	if review {
		return m.log(ctx, tx, translog.Reviewed, v.Order.String(), v.Sent.Review, "")
	}
	return nil
}

func soldIn(s *trade.State) int {
	if s.Reviewable() && s.Paid > 0 {
		return 1
	}
	return 0
}

func starsOf(r *trade.Review) int {
	if r == nil {
		return 0
	}
	return int(r.Stars)
}

// stepsOf returns the first steps of a chain, up to the delivery.
func stepsOf(c *trade.Chain) (out [][]byte) {
	for _, l := range c.Links[:min(len(c.Links), 2)] {
		out = append(out, l.Step)
	}
	return out
}

// origins returns where a listing was before.
func (m *Market) origins(ctx context.Context, tx *sql.Tx, n int64) (out []trade.Origin, err error) {
	moves, err := list[[]byte](ctx, tx, `SELECT move FROM origins WHERE listing = $1 ORDER BY id, market`, n)
	room, decodes := maxOrdered, maxMovedShown
	for _, move := range moves {
		was, by, err := trade.ReadMove(move)
		if err != nil {
			return nil, err
		}
		o := trade.Origin{Move: move}
		if err := one(tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(CASE WHEN stars > 0 THEN 1 ELSE 0 END), 0), CAST(coalesce(sum(stars), 0) AS bigint)
			FROM moved WHERE origin = $1 AND seller = $2 AND market = $3 AND sold = 1`, was.Listing[:], by[:], was.From[:]), &o.Sold, &o.Reviews, &o.Stars); err != nil {
			return nil, err
		}
		if o.Said, err = list[[]byte](ctx, tx, `SELECT review FROM moved WHERE origin = $1 AND seller = $2 AND market = $3 AND sold = 1 AND stars > 0 ORDER BY at DESC, id LIMIT 8`,
			was.Listing[:], by[:], was.From[:]); err != nil {
			return nil, err
		}
		chains, err := list[[]byte](ctx, tx, `SELECT CASE WHEN length(chain) <= $4 THEN chain END FROM moved WHERE origin = $1 AND seller = $2 AND market = $3 AND sold = 1 AND stars > 0 ORDER BY at DESC, id LIMIT 8`,
			was.Listing[:], by[:], was.From[:], decodes)
		if err != nil {
			return nil, err
		}
		var versions [][]byte
		for _, b := range chains {
			var c trade.Chain
			if len(b) == 0 || len(b) > decodes {
				o.Proofs = append(o.Proofs, trade.Proof{})
				continue
			}
			decodes -= len(b)
			if err := trade.Decode(b, &c, trade.MaxChain); err != nil {
				return nil, err
			}
			versions = append(versions, c.Listing)
			o.Proofs = append(o.Proofs, trade.Proof{Order: c.Order, Delivery: delivery(stepsOf(&c)...)})
		}
		o.Ordered = ordered(versions, nil, &room)
		out = append(out, o)
	}
	return out, err
}

// MovedOrders returns a key's orders that moved here, latest first.
func (m *Market) MovedOrders(ctx context.Context, by trade.Key, skip int) (out trade.Chains, err error) {
	if skip < 0 || skip > trade.MaxSkip {
		return out, fmt.Errorf("skip: %w: want 0 to %d", trade.ErrForm, trade.MaxSkip)
	}
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		all, err := list[[]byte](ctx, tx, `SELECT chain FROM moved WHERE buyer = $1 OR seller = $1 ORDER BY at DESC, id LIMIT $2 OFFSET $3`, by[:], trade.MaxOrders, skip)
		for _, b := range all {
			var c trade.Chain
			if err := trade.Decode(b, &c, trade.MaxChain); err != nil {
				return err
			}
			out.Orders = append(out.Orders, c)
		}
		return err
	})
	return out, err
}

// readMoved is [Market.read] for an order that moved here. Its bundle is served only if it belongs
// to the listing to which its seller moved the order: the order's own bundle is just the seller's
// word, and may belong to somebody else.
func (m *Market) readMoved(ctx context.Context, tx *sql.Tx, id trade.Hash, by trade.Key) (c trade.Chain, root trade.Hash, err error) {
	var chain []byte
	var listing int64
	if err := one(tx.QueryRowContext(ctx, `SELECT d.chain, o.listing FROM moved d JOIN origins o ON o.id = d.origin AND o.seller = d.seller AND o.market = d.market
		WHERE d.id = $1 AND (d.buyer = $2 OR d.seller = $2)`, id[:], by[:]), &chain, &listing); err != nil {
		return c, root, fmt.Errorf("order %s: %w", id, err)
	}
	if err := trade.Decode(chain, &c, trade.MaxChain); err != nil {
		return c, root, err
	}
	l, err := trade.ReadListing(c.Listing)
	if err != nil {
		return c, root, err
	}
	var offered int
	if err := one(tx.QueryRowContext(ctx, `SELECT 1 FROM versions WHERE listing = $1 AND root = $2`, listing, l.Root[:]), &offered); err != nil {
		return c, root, fmt.Errorf("order %s: its listing here does not offer its bundle: %w", id, err)
	}
	return c, l.Root, nil
}
