package market_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// A bundle of which a sweep finds no listing is kept if another process publishes it again at that moment.
// SQLite has one writer at a time.
func TestSweepWhilePublishing(t *testing.T) {
	on(t, databases.Postgres(t), func(h *house) {
		ctx := h.Context()
		l, items := h.list(nil)
		b, _, err := trade.SignNotice(trade.Withdrawal, trade.Notice{Listing: l.ID(), Reason: "A better title.", At: 1}, tradetest.Seller)
		h.ok(err)
		h.ok(h.Withdraw(ctx, b))
		again := tradetest.Listing(h, items, func(l *trade.Listing) { l.Title = "My garden" })
		published, swept := make(chan error, 1), make(chan error, 1)
		h.ok(h.db.Change(ctx, func(tx *sql.Tx) error {
			var n int64 // of the log, which is written last
			if err := tx.QueryRowContext(ctx, `SELECT n FROM log_size FOR UPDATE`).Scan(&n); err != nil {
				return err
			}
			go func() {
				_, err := h.Publish(ctx, &trade.Publication{Listing: again.Signed, Items: items}, tradetest.Seller.Key)
				published <- err
			}()
			h.waiting(1, published)
			go func() { swept <- h.Sweep(ctx) }()
			h.waiting(2, swept)
			return nil
		}))
		h.ok(<-published)
		h.ok(<-swept)
		s, _ := h.funded(again, h.voucher("a"))
		h.step(s, trade.Deliver, tradetest.Seller, nil)
		_, err = h.Bundle(ctx, s.ID, tradetest.Buyer.Key)
		h.ok(err)
	})
}

// waiting waits until n connections wait for a lock, or until ended has something, which it keeps.
func (h *house) waiting(n int, ended chan error) {
	h.Helper()
	// PostgreSQL tells nobody when a connection begins to wait, so it is asked again and again.
	for have := 0; have < n && len(ended) == 0; time.Sleep(time.Millisecond) {
		h.ok(h.db.Read(h.Context(), func(tx *sql.Tx) error { // a transaction sees one state of it
			return tx.QueryRowContext(h.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&have)
		}))
	}
}
