package community

import (
	"context"
	"fmt"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// turn is a mutex that can be waited for with a context. Its zero value is free. Whoever
// has waited longest is next.
type turn struct {
	once sync.Once
	held chan struct{}
}

func (t *turn) channel() chan struct{} {
	t.once.Do(func() { t.held = make(chan struct{}, 1) })
	return t.held
}

// Take waits until the turn is free. If the context ends first, the error is
// memory.ErrInUse.
func (t *turn) Take(ctx context.Context) error {
	select {
	case t.channel() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("communities: an exchange with a relay is still running: %w: %w", memory.ErrInUse, ctx.Err())
	}
}

// Try takes the turn if it is free.
func (t *turn) Try() bool {
	select {
	case t.channel() <- struct{}{}:
		return true
	default:
		return false
	}
}

// give frees the turn.
func (t *turn) give() { <-t.channel() }
