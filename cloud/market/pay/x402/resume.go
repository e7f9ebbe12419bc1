package x402

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// resumed is how many payments one call of Resume handles.
const resumed = 20

// workers is how many of them run at once: a facilitator may take a minute for each.
const workers = 4

// Resume continues payments whose outcome was not known, or not booked. Payments that stay open are
// no error. When ctx is done, it begins no other, and stores the answers for those that it has
// begun.
func (p *Provider) Resume(ctx context.Context, book pay.Book) error {
	var ids []string
	now := p.c.Now().Unix()
	err := p.db.Read(ctx, func(tx *sql.Tx) (err error) {
		ids, err = tables.Column[string](ctx, tx, `SELECT id FROM x402_payments WHERE state IN ('sent', 'settled') AND next <= $1 AND busy <= $1 ORDER BY CASE state WHEN 'settled' THEN 0 ELSE 1 END, next, id LIMIT $2`, now, resumed)
		return err
	})
	failed := []error{err}
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, id := range ids {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if err := p.resume(context.WithoutCancel(ctx), id, book); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("go on with payment %s by x402: %w", id, err))
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// resume continues one payment. If it can't be booked, the others come first for a while.
func (p *Provider) resume(ctx context.Context, id string, book pay.Book) error {
	err := p.advance(ctx, id, book)
	if err == nil || errors.Is(err, ErrPending) || errors.Is(err, ErrUnclear) || errors.Is(err, pay.ErrProof) {
		return nil
	}
	return errors.Join(err, p.db.Change(ctx, func(tx *sql.Tx) error {
		r, err := scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM x402_payments WHERE id = $1 AND state = 'settled'`, id))
		if err != nil || r == nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE x402_payments SET tries = tries + 1, next = $2 WHERE id = $1 AND state = 'settled'`, id, p.c.Now().Unix()+backoff(r.tries))
		return err
	}))
}

// backoff returns how many seconds pass before another try.
func backoff(tries int64) int64 { return min(int64(10)<<min(tries, 6), 600) }
