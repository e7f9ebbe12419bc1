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

// maxVerify is how many verifications run at once, and maxEach how many of them one address may
// have. So a newcomer waits for one turn of each address that came before, however many payments
// these bring, and however long the facilitator takes for them.
const (
	maxVerify = 8
	maxEach   = 2
)

// pace limits verifications. It is safe for concurrent use.
type pace struct {
	slots chan struct{}

	mu    sync.Mutex // guards the fields below
	since time.Time
	wrong map[string]int    // failed ones by buyer
	turns map[string]*turns // by address
}

// turns are those of one address.
type turns struct {
	slots chan struct{}
	users int // how many have a turn or wait for one; guarded by pace.mu
}

func newPace() *pace {
	return &pace{slots: make(chan struct{}, maxVerify), turns: map[string]*turns{}}
}

// enter counts a try and waits for a turn, or refuses if there were too many. After it has
// succeeded, the caller has to call leave, and says whether the try failed; others do not count.
func (c *pace) enter(ctx context.Context, from, buyer string, now time.Time) (leave func(failed bool), err error) {
	own, err := c.begin(from, buyer, now)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	busy := fmt.Errorf("%w: too many ask at once", ErrFacilitator)
	if !take(ctx, own.slots) {
		c.end(from, buyer, false)
		return nil, busy
	}
	if !take(ctx, c.slots) {
		<-own.slots
		c.end(from, buyer, false)
		return nil, busy
	}
	return func(failed bool) {
		<-c.slots
		<-own.slots
		c.end(from, buyer, failed)
	}, nil
}

func take(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin counts a try, and returns the turns of its address.
func (c *pace) begin(from, buyer string, now time.Time) (*turns, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == nil || now.Sub(c.since) >= window {
		c.since, c.wrong = now, map[string]int{}
	}
	if c.wrong[buyer] >= maxWrong {
		return nil, fmt.Errorf("%w: %d payments were invalid within ten minutes", pay.ErrTries, maxWrong)
	}
	c.wrong[buyer]++
	own := c.turns[from]
	if own == nil {
		own = &turns{slots: make(chan struct{}, maxEach)}
		c.turns[from] = own
	}
	own.users++
	return own, nil
}

func (c *pace) end(from, buyer string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns[from].users--; c.turns[from].users == 0 {
		delete(c.turns, from)
	}
	if !failed && c.wrong[buyer] > 0 {
		c.wrong[buyer]--
	}
}
