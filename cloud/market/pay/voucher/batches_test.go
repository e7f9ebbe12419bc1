package voucher

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// Batch is what became of vouchers that were issued together.
type Batch struct {
	Name                          string
	Issued, Used, Revoked, Lapsed int
	Open                          ledger.Money // what can still be redeemed
}

// Batches lists them by name.
func (p *Provider) Batches(ctx context.Context) ([]Batch, error) {
	var all []Batch
	err := p.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = tables.Collect(ctx, tx, func(b *Batch) []any {
			return []any{&b.Name, &b.Open.Currency, &b.Issued, &b.Used, &b.Revoked, &b.Lapsed, &b.Open.Minor}
		}, `SELECT batch, currency, count(*), count(used_at), CAST(sum(revoked) AS bigint),
			count(CASE WHEN used_at IS NULL AND revoked = 0 AND until <= $1 THEN 1 END),
			CAST(sum(CASE WHEN used_at IS NULL AND revoked = 0 AND until > $1 THEN minor ELSE 0 END) AS bigint)
			FROM vouchers GROUP BY batch, currency ORDER BY batch`, p.now().UnixMilli())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list vouchers: %w", err)
	}
	return all, nil
}

// Revoke ends the vouchers of a batch that nobody has used, and tells how many.
func (p *Provider) Revoke(ctx context.Context, batch string) (n int64, err error) {
	err = p.db.Change(ctx, func(tx *sql.Tx) error {
		n, err = tables.Affected(tx.ExecContext(ctx, `UPDATE vouchers SET revoked = 1 WHERE batch = $1 AND used_at IS NULL AND revoked = 0`, batch))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("revoke vouchers: %w", err)
	}
	return n, nil
}
