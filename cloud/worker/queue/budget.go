package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/memory"
)

// Cost is what work on a space has cost, at the configured prices. A local
// engine costs nothing.
type Cost struct {
	Tokens   int64         `json:"tokens,omitempty"`
	MicroUSD cost.MicroUSD `json:"micro_usd,omitempty"`
}

// Plus returns the sum.
func (c Cost) Plus(d Cost) Cost { return Cost{c.Tokens + d.Tokens, c.MicroUSD + d.MicroUSD} }

func (q *Queue) day() string { return q.o.Now().UTC().Format(time.DateOnly) }

// Spent returns what a space has cost today (UTC).
func (q *Queue) Spent(ctx context.Context, space memory.SpaceID) (c Cost, err error) {
	err = q.base.DB.QueryRowContext(ctx, `SELECT tokens, micro_usd FROM locket_spent WHERE space = $1 AND day = $2`, space.String(), q.day()).Scan(&c.Tokens, &c.MicroUSD)
	if errors.Is(err, sql.ErrNoRows) {
		return Cost{}, nil
	}
	if err != nil {
		return c, fmt.Errorf("read what a space has cost: %w", err)
	}
	return c, nil
}

// Afford returns nil while today's budget of the job's space is not used up,
// and otherwise a [WaitError] until tomorrow. It is called before each call that
// costs something. The cost of a day can exceed the budget only by the calls
// that are running.
func (r *Running) Afford(ctx context.Context) error {
	budget := r.q.o.Budget
	if budget == (Cost{}) {
		return nil
	}
	spent, err := r.q.Spent(ctx, r.Space)
	if err != nil {
		return err
	}
	reason := ""
	switch {
	case budget.Tokens > 0 && spent.Tokens >= budget.Tokens:
		reason = fmt.Sprintf("today's budget of the space is spent: %d of %d tokens", spent.Tokens, budget.Tokens)
	case budget.MicroUSD > 0 && spent.MicroUSD >= budget.MicroUSD:
		reason = fmt.Sprintf("today's budget of the space is spent: $%s of $%s", spent.MicroUSD, budget.MicroUSD)
	default:
		return nil
	}
	now := r.q.o.Now().UTC()
	tomorrow := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	return &WaitError{After: tomorrow.Sub(now), Reason: reason}
}

// Book adds a call's cost to the job and to today's cost of its space. It is
// stored at once, so that it counts even if the worker is killed afterwards.
func (r *Running) Book(ctx context.Context, c Cost) error {
	if c.Tokens < 0 || c.MicroUSD < 0 {
		return fmt.Errorf("%w: a cost of %d tokens and %d µ$", memory.ErrInvalid, c.Tokens, c.MicroUSD)
	}
	if c == (Cost{}) {
		return nil
	}
	r.mu.Lock()
	r.Cost = r.Cost.Plus(c)
	r.mu.Unlock()
	_, err := r.q.base.DB.ExecContext(ctx, `INSERT INTO locket_spent VALUES ($1, $2, $3, $4)
		ON CONFLICT (space, day) DO UPDATE SET tokens = locket_spent.tokens + excluded.tokens, micro_usd = locket_spent.micro_usd + excluded.micro_usd`,
		r.Space.String(), r.q.day(), c.Tokens, int64(c.MicroUSD))
	if err != nil {
		return fmt.Errorf("book what a call cost: %w", err)
	}
	return nil
}
