package x402

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
)

// A facilitator counts its requests, and anybody may order, so one buyer may only have this many
// failed verifications in a window. Each process counts for itself.
const (
	maxWrong = 30
	window   = 10 * time.Minute
)

// maxVerify is how many verifications run at once.
const maxVerify = 8

// pace limits verifications. It is safe for concurrent use.
type pace struct {
	slots chan struct{}

	mu    sync.Mutex // guards the fields below
	since time.Time
	wrong map[string]int // failed ones by buyer
}

func newPace() *pace { return &pace{slots: make(chan struct{}, maxVerify)} }

// enter waits for a turn and counts a try, or refuses if there were too many. A caller who has
// entered has to call leave.
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

// leave ends a turn. Successful tries do not count.
func (c *pace) leave(buyer string, good bool) {
	<-c.slots
	c.mu.Lock()
	defer c.mu.Unlock()
	if good && c.wrong[buyer] > 0 {
		c.wrong[buyer]--
	}
}
