package market

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/trade"
)

// Query is a search. Empty fields match everything.
type Query struct {
	Words    string
	Category string
	Language string
	Currency string
	Most     uint64 // price in minor units; with Currency
	Seller   trade.Key
	Newest   bool // the newest first; otherwise the best match
	Skip     int  // up to trade.MaxSkip
	Limit    int  // up to trade.MaxHits; 0: 20
}

// Search returns live listings that match.
func (m *Market) Search(ctx context.Context, q Query) (f trade.Found, err error) {
	q.Limit = cmp.Or(q.Limit, 20)
	ws := wordsOf(q.Words)
	if len(q.Words) > 200 || len(ws) > maxQuery {
		return f, fmt.Errorf("words: %w: at most %d in 200 bytes", trade.ErrForm, maxQuery)
	}
	if q.Words != "" && len(ws) == 0 {
		return f, fmt.Errorf("words: %w: %q has no letter or digit", trade.ErrForm, q.Words)
	}
	if q.Limit < 1 || q.Limit > trade.MaxHits || q.Skip < 0 || q.Skip > trade.MaxSkip {
		return f, fmt.Errorf("limit, skip: %w: want 1 to %d, and 0 to %d", trade.ErrForm, trade.MaxHits, trade.MaxSkip)
	}
	if q.Most > trade.MaxPrice || q.Most > 0 && q.Currency == "" {
		return f, fmt.Errorf("most: %w: want a price, with its currency", trade.ErrForm)
	}
	where, args := []string{"l.state = 'live'"}, []any{}
	arg := func(v any) string { args = append(args, v); return fmt.Sprintf("$%d", len(args)) }
	from, order := "listings l", "l.at DESC, l.n DESC"
	if len(ws) > 0 {
		best := ""
		if m.c.DB.Dialect == tables.Postgres {
			p := arg(matchPostgres(ws))
			where, best = append(where, "l.words @@ "+p+"::tsquery"), "ts_rank_cd(l.words, "+p+"::tsquery) DESC, "
		} else {
			from += " JOIN listing_words w ON w.rowid = l.n"
			where, best = append(where, "listing_words MATCH "+arg(matchSQLite(ws))), "bm25(listing_words, 4.0, 1.0), "
		}
		if !q.Newest {
			order = best + "l.sold DESC, " + order
		}
	}
	for _, f := range []trade.Facet{{Kind: "category", Value: q.Category}, {Kind: "language", Value: q.Language}} {
		if f.Value != "" {
			where = append(where, "EXISTS (SELECT 1 FROM listing_facets f WHERE f.listing = l.n AND f.kind = "+arg(f.Kind)+" AND f.value = "+arg(f.Value)+")")
		}
	}
	if q.Currency != "" {
		where = append(where, "l.currency = "+arg(q.Currency))
	}
	if q.Most > 0 {
		where = append(where, "l.price <= "+arg(int64(q.Most)))
	}
	if !q.Seller.IsZero() {
		where = append(where, "l.seller = "+arg(q.Seller[:]))
	}
	fits := " FROM " + from + " WHERE " + strings.Join(where, " AND ")
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "SELECT count(*)"+fits, args...).Scan(&f.Total); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		if err := facets(ctx, tx, &f, fits, args); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		query := "SELECT (SELECT v.signed FROM versions v WHERE v.hash = l.version), l.sold, l.reviews, l.stars" + fits +
			" ORDER BY " + order + " LIMIT " + arg(q.Limit) + " OFFSET " + arg(q.Skip)
		hits, err := tables.Collect(ctx, tx, func(h *trade.Hit) []any { return []any{&h.Listing, &h.Sold, &h.Reviews, &h.Stars} }, query, args...)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		f.Hits = append(f.Hits, hits...)
		return nil
	})
	return f, err
}

func facets(ctx context.Context, tx *sql.Tx, f *trade.Found, fits string, args []any) error {
	all, err := tables.Collect(ctx, tx, func(one *trade.Facet) []any { return []any{&one.Kind, &one.Value, &one.Count} },
		"SELECT kind, value, count(*) FROM listing_facets WHERE listing IN (SELECT l.n"+fits+") GROUP BY kind, value ORDER BY count(*) DESC, kind, value LIMIT "+
			fmt.Sprint(trade.MaxFacets), args...)
	f.Facets = append(f.Facets, all...)
	return err
}

// Show returns the newest version of a listing, by its id or by the hash of one of its versions.
func (m *Market) Show(ctx context.Context, id trade.Hash) (s trade.Shown, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		var n int64
		var first []byte
		err := one(tx.QueryRowContext(ctx, `SELECT l.n, l.id, l.state, l.notice, l.sold, l.reviews, l.stars, v.signed FROM listings l JOIN versions v ON v.hash = l.version
			WHERE l.id = $1 OR l.n = (SELECT listing FROM versions WHERE hash = $1)`, id[:]),
			&n, &first, &s.State, &s.Notice, &s.Hit.Sold, &s.Hit.Reviews, &s.Hit.Stars, &s.Hit.Listing)
		if err != nil {
			return fmt.Errorf("listing %s: %w", id, err)
		}
		if s.Versions, err = list[trade.Hash](ctx, tx, `SELECT hash FROM versions WHERE listing = $1 ORDER BY number`, n); err != nil {
			return err
		}
		if s.Origins, err = m.origins(ctx, tx, n); err != nil {
			return err
		}
		of, err := m.listingReviews(ctx, tx, n, &s)
		if err != nil {
			return err
		}
		return m.prove(ctx, tx, trade.Hash(first), of, &s)
	})
	return s, err
}
