//go:build unix

package market_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

// sold makes an order of a listing that is paid, delivered and accepted.
func (h *house) sold(l *trade.Offer, voucher string) *trade.State {
	h.Helper()
	s, _ := h.funded(l, h.voucher(voucher))
	wrapped, err := bundle.Wrap(tradetest.Key(h), s.Order.Recipient, s.ID)
	h.ok(err)
	s = h.step(s, trade.Deliver, tradetest.Seller, func(st *trade.Step) { st.Wrapped = wrapped })
	return h.step(s, trade.Accept, tradetest.Buyer, nil)
}

// said signs a review of an order.
func (h *house) said(s *trade.State, stars uint8) []byte {
	h.Helper()
	b, _, err := trade.SignReview(trade.Review{Order: s.ID, Last: s.Last, Stars: stars, At: 1}, tradetest.Buyer)
	h.ok(err)
	return b
}

// saidBefore stores a review as it was stored before reviews had numbers.
func (h *house) saidBefore(l *trade.Offer, s *trade.State, at int) {
	h.Helper()
	id, listing := s.ID, l.ID()
	h.ok(h.db.Change(h.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(h.Context(), `INSERT INTO reviews (of, listing, at, signed) SELECT $1, n, $2, $3 FROM listings WHERE id = $4`, id[:], at, h.said(s, 5), listing[:])
		return err
	}))
}

// Two processes number old reviews at the same time, while new ones come: each review has one
// number, and the log has each number once.
func TestReviewsAreNumberedOnce(t *testing.T) {
	each(t, func(h *house) {
		first, _ := h.list(nil)
		second, _ := h.list(func(l *trade.Listing) { l.Created++ })
		listings := []*trade.Offer{first, second}
		const many = 6
		var news [][]byte
		for i := range many {
			l := listings[i%2]
			h.saidBefore(l, h.sold(l, fmt.Sprint("old", i)), i)
			news = append(news, h.said(h.sold(l, fmt.Sprint("new", i)), 4))
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := h.Sweep(h.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for _, b := range news {
			all.Go(func() {
				if err := h.Review(h.Context(), b); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, err := h.log.Publish(h.Context())
		h.ok(err)
		for _, l := range listings {
			shown, err := h.Show(h.Context(), l.ID())
			h.ok(err)
			if len(shown.Reviews) != many {
				t.Fatalf("%d reviews", len(shown.Reviews))
			}
			for i, b := range shown.Reviews {
				subject := translog.ReviewSubject(l.ID().String(), uint32(many-i))
				e, err := translog.DecodeEntry(shown.Proofs[i].Said.Entry)
				if err != nil || e.Subject != subject || e.Digest != translog.Digest(b) {
					t.Errorf("review %d is %q in the log, %v", many-i, e.Subject, err)
				}
				if places, err := h.log.Find(h.Context(), subject, 0); err != nil || len(places) != 1 {
					t.Errorf("review %d stands in the log at %v, %v", many-i, places, err)
				}
			}
		}
	})
}

// The newest reviews of a listing are read from an index, however many there are.
func TestNewestReviewsAreIndexed(t *testing.T) {
	db := tabletest.SQLite(t)
	err := db.Read(t.Context(), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(t.Context(), `EXPLAIN QUERY PLAN SELECT of, number, at, signed FROM reviews WHERE listing = 1 ORDER BY number DESC, at DESC LIMIT 50`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var does string
			if err := rows.Scan(&id, &parent, &unused, &does); err != nil {
				return err
			}
			if !strings.Contains(does, "USING INDEX") {
				t.Errorf("it does: %s", does)
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}
