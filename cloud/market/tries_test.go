package market_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// Wrong codes are counted for an hour. Keys are free, so otherwise strangers could fill the database
// with them.
func TestThreatWrongCodesFillTheMarket(t *testing.T) {
	each(t, func(h *house) {
		for n := range byte(5) {
			_, err := h.Deposit(h.Context(), trade.Payment{Voucher: fmt.Sprint("00000-00000-00000-0000", n)}, tradetest.Party(100+n).Key)
			h.is(err, pay.ErrProof)
		}
		for _, s := range []struct {
			after time.Duration
			kept  int
		}{{0, 5}, {time.Hour, 0}} {
			h.now = time.Unix(1_800_000_000, 0).Add(s.after)
			h.ok(h.Sweep(h.Context()))
			var kept int
			h.ok(h.db.Read(h.Context(), func(tx *sql.Tx) error {
				return tx.QueryRowContext(h.Context(), `SELECT count(*) FROM voucher_tries`).Scan(&kept)
			}))
			if kept != s.kept {
				t.Errorf("%v later, %d are kept, want %d", s.after, kept, s.kept)
			}
		}
	})
}
