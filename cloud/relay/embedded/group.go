package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// maxGroup is the greatest number of changes in one transaction.
const maxGroup = 256

// group puts changes that come at the same time into one transaction, because
// each transaction costs a sync of the disk. Each change has its own savepoint,
// so that a failed change does not affect the others. Callers get their answers
// after the commit.
type group struct {
	mu      sync.Mutex
	waiting []*change
	leading bool
	handed  sync.WaitGroup // leads that run in the background, on behalf of nobody's call
}

type change struct {
	f    func(context.Context, *sql.Tx) error
	err  error
	done chan struct{}
}

// change runs f in a transaction of the write connection. The end of ctx does
// not cancel it, because SQLite would then roll back the other changes of the
// transaction.
func (s *Store) change(ctx context.Context, what string, f func(context.Context, *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c := &change{f: f, done: make(chan struct{})}
	g := &s.group
	g.mu.Lock()
	g.waiting = append(g.waiting, c)
	lead := !g.leading
	g.leading = true
	g.mu.Unlock()
	if lead {
		s.lead(context.WithoutCancel(ctx), c)
	}
	<-c.done
	if c.err != nil {
		return fmt.Errorf("%s: %w", what, full(c.err))
	}
	return nil
}

// lead commits groups until mine is done, and then leaves the rest to another
// goroutine.
func (s *Store) lead(ctx context.Context, mine *change) {
	g := &s.group
	for {
		g.mu.Lock()
		n := min(len(g.waiting), maxGroup)
		now := g.waiting[:n:n]
		g.waiting = g.waiting[n:]
		if n == 0 {
			g.leading = false
		}
		g.mu.Unlock()
		if n == 0 {
			return
		}
		s.commit(ctx, now)
		for _, c := range now {
			close(c.done)
		}
		select {
		case <-mine.done:
			g.mu.Lock()
			more := len(g.waiting) > 0
			g.leading = more
			g.mu.Unlock()
			if more { // its own caller gets the answer now, and the rest need not wait
				g.handed.Go(func() { s.lead(ctx, &change{done: make(chan struct{})}) })
			}
			return
		default:
		}
	}
}

// commit runs changes in one transaction. If the transaction fails, every
// change fails.
func (s *Store) commit(ctx context.Context, all []*change) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err == nil {
		for _, c := range all {
			if err = within(ctx, tx, c); err != nil {
				break
			}
		}
		if err == nil {
			err = tx.Commit()
		} else {
			err = errors.Join(err, tx.Rollback())
		}
	}
	if err != nil {
		for _, c := range all {
			if c.err == nil {
				c.err = err
			}
		}
	}
}

// run runs a change and turns a panic into an error, so that the other changes
// are not lost.
func (c *change) run(ctx context.Context, tx *sql.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.f(ctx, tx)
}

// within runs a change in a savepoint. The error of the change is stored in c.
// The returned error is one of the whole transaction: some errors, such as a
// full disk, end a transaction within SQLite, and then there is no savepoint to
// return to.
func within(ctx context.Context, tx *sql.Tx, c *change) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	if c.err = c.run(ctx, tx); c.err != nil {
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO one"); err != nil {
			return errors.Join(c.err, err)
		}
	}
	_, err := tx.ExecContext(ctx, "RELEASE one")
	return err
}
