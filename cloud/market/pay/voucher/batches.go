package voucher

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// ErrNoBatch: there are no vouchers of this name.
var ErrNoBatch = errors.New("no such batch of vouchers")

// Batch is the state of vouchers that were issued together.
type Batch struct {
	Name                          string // empty: all that were issued as payouts
	Issued, Used, Revoked, Lapsed int
	Open                          ledger.Money // the amount that can still be redeemed
	Until                         time.Time    // last day of the last one
}

// Batches lists them by name.
func (p *Provider) Batches(ctx context.Context) ([]Batch, error) {
	var all []Batch
	err := p.db.Read(ctx, func(tx *sql.Tx) error {
		var until []int64
		var err error
		all, err = tables.Collect(ctx, tx, func(b *Batch) []any {
			until = append(until, 0)
			return []any{&b.Name, &b.Open.Currency, &b.Issued, &b.Used, &b.Revoked, &b.Lapsed, &b.Open.Minor, &until[len(until)-1]}
		}, `SELECT CASE WHEN substr(batch, 1, $2) = $3 THEN '' ELSE batch END AS name, currency, count(*), count(used_at), CAST(sum(revoked) AS bigint),
			count(CASE WHEN used_at IS NULL AND revoked = 0 AND until <= $1 THEN 1 END),
			CAST(sum(CASE WHEN used_at IS NULL AND revoked = 0 AND until > $1 THEN minor ELSE 0 END) AS bigint), max(until)
			FROM vouchers GROUP BY name, currency ORDER BY name, currency`, p.now().UnixMilli(), len(payoutBatch), payoutBatch)
		for i := range all {
			all[i].Until = time.UnixMilli(until[i]).UTC()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list vouchers: %w", err)
	}
	return all, nil
}

// Revoke ends the unused vouchers of a batch, and returns how many. Those that were issued as
// payouts stay valid: they are somebody's money.
func (p *Provider) Revoke(ctx context.Context, batch string) (n int64, err error) {
	err = p.db.Change(ctx, func(tx *sql.Tx) error {
		var there bool
		err := tx.QueryRowContext(ctx, `SELECT count(*) > 0 FROM vouchers WHERE batch = $1`, batch).Scan(&there)
		if err == nil && (!there || strings.HasPrefix(batch, payoutBatch)) {
			err = fmt.Errorf("%w: %q", ErrNoBatch, batch)
		}
		if err != nil {
			return err
		}
		n, err = tables.Affected(tx.ExecContext(ctx, `UPDATE vouchers SET revoked = 1 WHERE batch = $1 AND used_at IS NULL AND revoked = 0`, batch))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("revoke vouchers: %w", err)
	}
	return n, nil
}
