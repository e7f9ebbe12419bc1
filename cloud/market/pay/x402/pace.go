package x402

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
)

// A facilitator counts what it is asked, and anybody may order: one buyer may have this
// many verifications in a window that come to nothing. It is counted by each process for
// itself.
const (
	maxWrong = 30
	window   = 10 * time.Minute
)

// maxVerify is how many verifications run at once.
const maxVerify = 8

// pace is safe for concurrent use.
type pace struct {
	slots chan struct{}

	mu    sync.Mutex // guards what follows
	since time.Time
	wrong map[string]int // by buyer
}

func newPace() *pace { return &pace{slots: make(chan struct{}, maxVerify)} }

// enter waits for a turn and counts a try, or refuses one more. Who has entered leaves.
func (c *pace) enter(ctx context.Context, buyer string, now time.Time) error {
	c.mu.Lock()
	if c.wrong == nil || now.Sub(c.since) >= window {
		c.since, c.wrong = now, map[string]int{}
	}
	if c.wrong[buyer] >= maxWrong {
		c.mu.Unlock()
		return fmt.Errorf("%w: %d payments were invalid within ten minutes", pay.ErrTries, maxWrong)
	}
	c.wrong[buyer]++
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: too many ask at once", ErrFacilitator)
	}
}

// leave ends a turn. What was good does not count.
func (c *pace) leave(buyer string, good bool) {
	<-c.slots
	c.mu.Lock()
	defer c.mu.Unlock()
	if good && c.wrong[buyer] > 0 {
		c.wrong[buyer]--
	}
}
