package x402

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/internal/turns"
)

// A facilitator counts its requests, and anybody may order, so one buyer may only have this many
// failed verifications in a window. Each process counts for itself.
const (
	maxWrong = 30
	window   = 10 * time.Minute
)

// maxVerify is how many verifications run at once, and maxEach how many of them one address may
// have. So a newcomer waits for one turn of each address that came before, however many payments
// these bring, and however long the facilitator takes for them.
const (
	maxVerify = 8
	maxEach   = 2
)

// pace limits verifications. It is safe for concurrent use.
type pace struct {
	own   turns.Turns // by address
	slots chan struct{}

	mu    sync.Mutex // guards the fields below
	since time.Time
	wrong map[string]int // failed ones by buyer
}

func newPace() *pace {
	return &pace{own: turns.Turns{Each: maxEach}, slots: make(chan struct{}, maxVerify)}
}

// enter counts a try and waits for a turn, or refuses if there were too many. After it has
// succeeded, the caller has to call leave, and says whether the try failed; others do not count.
func (c *pace) enter(ctx context.Context, from, buyer string, now time.Time) (leave func(failed bool), err error) {
	if err := c.begin(buyer, now); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	end, err := c.own.Take(ctx, from)
	if err == nil {
		select {
		case c.slots <- struct{}{}:
			return func(failed bool) {
				<-c.slots
				end()
				c.end(buyer, failed)
			}, nil
		case <-ctx.Done():
			end()
		}
	}
	c.end(buyer, false)
	return nil, fmt.Errorf("%w: too many ask at once", ErrFacilitator)
}

func (c *pace) begin(buyer string, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == nil || now.Sub(c.since) >= window {
		c.since, c.wrong = now, map[string]int{}
	}
	if c.wrong[buyer] >= maxWrong {
		return fmt.Errorf("%w: %d payments were invalid within ten minutes", pay.ErrTries, maxWrong)
	}
	c.wrong[buyer]++
	return nil
}

func (c *pace) end(buyer string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !failed && c.wrong[buyer] > 0 {
		c.wrong[buyer]--
	}
}
