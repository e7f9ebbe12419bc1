package community

import (
	"context"
	"fmt"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// turn is a mutex for which a caller waits no longer than its context. Its zero value is
// free. Who waits longest is next.
type turn struct {
	once sync.Once
	held chan struct{}
}

func (t *turn) made() chan struct{} {
	t.once.Do(func() { t.held = make(chan struct{}, 1) })
	return t.held
}

// Take waits until it is free. If the context ends before, it is memory.ErrInUse.
func (t *turn) Take(ctx context.Context) error {
	select {
	case t.made() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("communities: an exchange with a relay is still running: %w: %w", memory.ErrInUse, ctx.Err())
	}
}

// Try takes it if it is free.
func (t *turn) Try() bool {
	select {
	case t.made() <- struct{}{}:
		return true
	default:
		return false
	}
}

// Give makes it free.
func (t *turn) Give() { <-t.made() }
