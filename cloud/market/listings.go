package market

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// Publish accepts a listing with its items, or a new version of one. Repeating it changes nothing.
func (m *Market) Publish(ctx context.Context, p *trade.Publication, by trade.Key) (*trade.Offer, error) {
	l, err := trade.ReadListing(p.Listing)
	if err != nil {
		return nil, err
	}
	switch {
	case l.Seller != by:
		return nil, fmt.Errorf("listing: seller: %w", trade.ErrParty)
	case l.Market != m.party.Key:
		return nil, fmt.Errorf("listing: market: %w: it is for another market", trade.ErrParty)
	case l.Arbiter != m.arbiter:
		return nil, fmt.Errorf("listing: arbiter: %w: it is not this market's", trade.ErrParty)
	}
	if err := trade.CheckSent(&l.Listing, p.Items); err != nil {
		return nil, err
	}
	return l, m.c.DB.Change(ctx, func(tx *sql.Tx) error { return m.publish(ctx, tx, l, p.Items) })
}

func (m *Market) publish(ctx context.Context, tx *sql.Tx, l *trade.Offer, items [][]byte) error {
	id := l.ID()
	var known int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM versions WHERE hash = $1`, l.Hash[:]).Scan(&known); err != nil || known > 0 {
		return err
	}
	var n, number int64
	var seller, version []byte
	var state string
	err := one(tx.QueryRowContext(ctx, `SELECT n, seller, state, version, number FROM listings WHERE id = $1`+m.c.DB.Dialect.Lock(), id[:]), &n, &seller, &state, &version, &number)
	switch {
	case errors.Is(err, ErrNotFound) && l.Number != 1:
		return fmt.Errorf("listing %s: %w: its first version never came", id, ErrNotFound)
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return err
	case trade.Key(seller) != l.Seller:
		return fmt.Errorf("listing %s: %w", id, trade.ErrParty)
	case state != trade.Live:
		return fmt.Errorf("listing %s: %w", id, ErrEnded)
	case trade.Hash(version) != l.Prev || number+1 != int64(l.Number):
		return fmt.Errorf("listing %s: version %d: %w", id, l.Number, ErrVersion)
	}
	if l.Number > 1 {
		if err := m.follows(ctx, tx, l); err != nil {
			return err
		}
	}
	if err := m.admit(ctx, tx, l); err != nil {
		return err
	}
	if l.Answers == nil {
		// The update changes nothing: it locks a bundle that is there, see [Market.clean].
		if _, err := tx.ExecContext(ctx, `INSERT INTO bundles (root, items, bytes) VALUES ($1, $2, $3) ON CONFLICT (root) DO UPDATE SET bytes = excluded.bytes`, l.Root[:], trade.Encode(items), l.Size); err != nil {
			return fmt.Errorf("keep bundle: %w", err)
		}
	}
	if n, err = m.index(ctx, tx, l, n); err != nil {
		return fmt.Errorf("keep listing: %w", err)
	}
	root := l.Root[:]
	if l.Answers != nil { // it brought no bundle, so it keeps none here, and nobody gets one by it
		root = []byte{}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO versions (hash, listing, number, root, signed) VALUES ($1, $2, $3, $4, $5)`, l.Hash[:], n, l.Number, root, l.Signed); err != nil {
		return fmt.Errorf("keep listing: %w", err)
	}
	return m.log(ctx, tx, translog.Listed, id.String(), l.Signed, "")
}

// follows checks a version against the one before it. A subscription's period is measured by the
// market's clock, so that no seller bills more often than announced.
func (m *Market) follows(ctx context.Context, tx *sql.Tx, l *trade.Offer) error {
	var signed []byte
	var at int64
	if err := one(tx.QueryRowContext(ctx, `SELECT v.signed, l.at FROM versions v JOIN listings l ON l.version = v.hash WHERE v.hash = $1`, l.Prev[:]), &signed, &at); err != nil {
		return err
	}
	was, err := trade.ReadListing(signed)
	if err != nil {
		return err
	}
	if err := l.Follows(was); err != nil {
		return err
	}
	if left := at + int64(l.Period) - m.c.Now().Unix(); l.Period > 0 && left > 0 {
		return fmt.Errorf("listing %s: version %d: %w: %d seconds are left", l.ID(), l.Number, ErrEarly, left)
	}
	return nil
}

// admit refuses a listing that exceeds its seller's limits. A bundle that is already here needs no
// room.
func (m *Market) admit(ctx context.Context, tx *sql.Tx, l *trade.Offer) error {
	var listings, kept int
	err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM listings WHERE seller = $1 AND state = 'live'), (SELECT count(*) FROM bundles WHERE root = $2)`,
		l.Seller[:], l.Root[:]).Scan(&listings, &kept)
	switch {
	case err != nil:
		return err
	case l.Number == 1 && listings >= m.c.Listings:
		return fmt.Errorf("%w: a seller may have at most %d listings", ErrFull, m.c.Listings)
	}
	needs := int64(len(l.Signed)) // versions stay, because orders name them
	if kept == 0 && l.Answers == nil {
		needs += int64(l.Size)
	}
	return m.room(ctx, tx, l.Seller, needs)
}

// room refuses what is too large for its seller. A seller may use a third of the bytes that the others
// leave for bundles, listings, and orders that move with these.
func (m *Market) room(ctx context.Context, tx *sql.Tx, seller trade.Key, needs int64) error {
	var all, own int64
	err := tx.QueryRowContext(ctx, `SELECT (SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM bundles) + (SELECT CAST(coalesce(sum(length(signed)), 0) AS bigint) FROM versions)
		+ (SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM origins),
		(SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM bundles WHERE root IN (SELECT v.root FROM versions v JOIN listings o ON o.n = v.listing WHERE o.seller = $1))
		+ (SELECT CAST(coalesce(sum(length(v.signed)), 0) AS bigint) FROM versions v JOIN listings o ON o.n = v.listing WHERE o.seller = $1)
		+ (SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM origins WHERE seller = $1)`, seller[:]).Scan(&all, &own)
	if err == nil && own+needs > (m.c.Bytes-(all-own))/3 {
		err = fmt.Errorf("%w: a seller's bundles, listings and moved orders may take at most a third of the %d bytes that other sellers leave free", ErrFull, m.c.Bytes-(all-own))
	}
	return err
}

// index writes what a listing can be found by. n is its number, or 0.
func (m *Market) index(ctx context.Context, tx *sql.Tx, l *trade.Offer, n int64) (int64, error) {
	id, now := l.ID(), m.c.Now().Unix()
	title, body := wordsOf(l.Title), wordsOf(append([]string{l.Description}, append(append(l.Sample, l.Categories...), l.Licence)...)...)
	var err error
	switch {
	case m.c.DB.Dialect == tables.Postgres && n == 0:
		err = tx.QueryRowContext(ctx, `INSERT INTO listings (id, seller, state, version, number, price, currency, at, words) VALUES ($1, $2, 'live', $3, $4, $5, $6, $7, $8::tsvector) RETURNING n`,
			id[:], l.Seller[:], l.Hash[:], l.Number, l.Price, l.Currency, now, vector(title, body)).Scan(&n)
	case m.c.DB.Dialect == tables.Postgres:
		_, err = tx.ExecContext(ctx, `UPDATE listings SET version = $1, number = $2, price = $3, currency = $4, at = $5, words = $6::tsvector WHERE n = $7`,
			l.Hash[:], l.Number, l.Price, l.Currency, now, vector(title, body), n)
	case n == 0:
		err = tx.QueryRowContext(ctx, `INSERT INTO listings (id, seller, state, version, number, price, currency, at) VALUES ($1, $2, 'live', $3, $4, $5, $6, $7) RETURNING n`,
			id[:], l.Seller[:], l.Hash[:], l.Number, l.Price, l.Currency, now).Scan(&n)
	default:
		_, err = tx.ExecContext(ctx, `UPDATE listings SET version = $1, number = $2, price = $3, currency = $4, at = $5 WHERE n = $6`,
			l.Hash[:], l.Number, l.Price, l.Currency, now, n)
	}
	if err == nil && m.c.DB.Dialect == tables.SQLite {
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO listing_words (rowid, title, body) VALUES ($1, $2, $3)`, n, text(title), text(body))
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM listing_facets WHERE listing = $1`, n)
	}
	for _, f := range facetsOf(&l.Listing) {
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO listing_facets (listing, kind, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, n, f.Kind, f.Value)
		}
	}
	return n, err
}

func facetsOf(l *trade.Listing) []trade.Facet {
	out := []trade.Facet{{Kind: "currency", Value: l.Currency}}
	for _, c := range l.Categories {
		out = append(out, trade.Facet{Kind: "category", Value: c})
	}
	for _, c := range l.Languages {
		out = append(out, trade.Facet{Kind: "language", Value: c})
	}
	return out
}

// Withdraw ends a listing at its seller's request. Its orders continue.
func (m *Market) Withdraw(ctx context.Context, signed []byte) error {
	n, by, _, err := trade.ReadNotice(trade.Withdrawal, signed)
	if err != nil {
		return err
	}
	return m.end(ctx, &n, trade.Withdrawn, signed, translog.Withdrawn, func(seller trade.Key) bool { return seller == by })
}

// TakeDown ends a listing, or deletes the review of an order, by the market's decision, with a
// public reason.
func (m *Market) TakeDown(ctx context.Context, of trade.Hash, reason string) error {
	n := trade.Notice{Listing: of, Reason: reason, At: m.c.Now().Unix()}
	signed, _, err := trade.SignNotice(trade.Takedown, n, m.party)
	if err != nil {
		return err
	}
	var reviewed int
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		return one(tx.QueryRowContext(ctx, `SELECT 1 FROM reviews WHERE of = $1`, of[:]), &reviewed)
	})
	if err == nil {
		return m.deleteReview(ctx, of, reason)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	return m.end(ctx, &n, trade.Removed, signed, translog.TakenDown, func(trade.Key) bool { return true })
}

func (m *Market) end(ctx context.Context, n *trade.Notice, state string, signed []byte, kind translog.Kind, may func(seller trade.Key) bool) error {
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		var at int64
		var seller []byte
		var was string
		if err := one(tx.QueryRowContext(ctx, `SELECT n, seller, state FROM listings WHERE id = $1`+m.c.DB.Dialect.Lock(), n.Listing[:]), &at, &seller, &was); err != nil {
			return fmt.Errorf("listing %s: %w", n.Listing, err)
		}
		if !may(trade.Key(seller)) {
			return fmt.Errorf("listing %s: %w", n.Listing, trade.ErrParty)
		}
		if was == state {
			return nil
		}
		if was == trade.Removed {
			return fmt.Errorf("listing %s: %w", n.Listing, ErrEnded)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE listings SET state = $1, notice = $2 WHERE n = $3`, state, signed, at); err != nil {
			return fmt.Errorf("end listing: %w", err)
		}
		reason := ""
		if kind == translog.TakenDown { // a seller's own reason remains in the notice
			reason = n.Reason
		}
		return m.log(ctx, tx, kind, n.Listing.String(), signed, reason)
	})
}

// maxReports is how many complaints about one listing are kept. Keys cost nothing.
const maxReports = 50

// Report stores a complaint about a listing, one for each key.
func (m *Market) Report(ctx context.Context, signed []byte) error {
	n, by, _, err := trade.ReadNotice(trade.Report, signed)
	if err != nil {
		return err
	}
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		var at, have int64
		if err := one(tx.QueryRowContext(ctx, `SELECT n, reports FROM listings WHERE id = $1`+m.c.DB.Dialect.Lock(), n.Listing[:]), &at, &have); err != nil {
			return fmt.Errorf("listing %s: %w", n.Listing, err)
		}
		if have >= maxReports {
			return fmt.Errorf("report: %w: %d have complained of this listing", ErrFull, have)
		}
		made, err := tables.Affected(tx.ExecContext(ctx, `INSERT INTO reports (listing, by, at, signed) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, at, by[:], m.c.Now().Unix(), signed))
		if err != nil {
			return fmt.Errorf("keep report: %w", err)
		}
		if made == 0 {
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE listings SET reports = reports + 1 WHERE n = $1`, at)
		return err
	})
}

// Complaints returns the reports about live listings: the newest one of each listing, then the
// second newest of each, and so on, so that many reports about one don't hide the others.
func (m *Market) Complaints(ctx context.Context) (out []trade.Complaint, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		all, err := list[[]byte](ctx, tx, `SELECT signed FROM (SELECT r.signed, r.at, row_number() OVER (PARTITION BY r.listing ORDER BY r.at DESC) AS place
			FROM reports r JOIN listings l ON l.n = r.listing WHERE l.state = 'live') AS one ORDER BY place, at DESC LIMIT 200`)
		for _, b := range all {
			n, by, _, err := trade.ReadNotice(trade.Report, b)
			if err != nil {
				return err
			}
			out = append(out, trade.Complaint{Listing: n.Listing, By: by, Reason: n.Reason, At: n.At})
		}
		return err
	})
	return out, err
}

// Issue makes vouchers; the same arguments give the same codes again.
func (m *Market) Issue(ctx context.Context, batch string, count int, each ledger.Money, until time.Time) ([]string, error) {
	return m.c.Vouchers.Issue(ctx, batch, count, each, until)
}

// Batches lists the state of the vouchers.
func (m *Market) Batches(ctx context.Context) ([]trade.Batch, error) {
	out := []trade.Batch{}
	all, err := m.c.Vouchers.Batches(ctx)
	for _, b := range all {
		out = append(out, trade.Batch{Name: b.Name, Issued: b.Issued, Used: b.Used, Revoked: b.Revoked, Lapsed: b.Lapsed,
			Open: b.Open.Minor, Currency: string(b.Open.Currency), Until: b.Until.Unix()})
	}
	return out, err
}

// Revoke ends the unused vouchers of a batch.
func (m *Market) Revoke(ctx context.Context, batch string) (trade.Revoked, error) {
	n, err := m.c.Vouchers.Revoke(ctx, batch)
	if errors.Is(err, voucher.ErrNoBatch) {
		err = fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	return trade.Revoked{Count: n}, err
}
