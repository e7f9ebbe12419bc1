package serve

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/memory"
)

// Limits for wrong keys.
const (
	wrongKeys  = 10   // from one address, a minute
	maxGuesses = 4096 // number of addresses and right keys that are remembered
)

// attempts slows down guessing of keys, by the address from which the attempts
// come. A key that was right before is not delayed, until it is revoked. One
// that a locked or busy node did not look at is not counted.
// Loopback is not slowed: it is one address for all programs of this machine,
// so one program could block the others, and a key has 130 random bits.
type attempts struct {
	now func() time.Time

	mu    sync.Mutex
	right map[[sha256.Size]byte]bool
	wrong map[netip.Addr]guesses
}

type guesses struct {
	n     int
	until time.Time
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, right: map[[sha256.Size]byte]bool{}, wrong: map[netip.Addr]guesses{}}
}

// sourceOf returns the address that a request is counted for. It is invalid for
// a request from this machine, or one that does not come over a network.
func sourceOf(remote string) netip.Addr {
	if a := clientaddr.Customer(clientaddr.Parse(remote)); !a.IsLoopback() {
		return a
	}
	return netip.Addr{}
}

// try counts a key that is about to be checked. It returns ErrLimit if too many
// keys from its address were wrong. The caller tells done the error of the check.
func (a *attempts) try(remote, authorization string) (done func(error), err error) {
	from := sourceOf(remote)
	if !from.IsValid() || authorization == "" {
		return func(error) {}, nil
	}
	sum := sha256.Sum256([]byte(authorization))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.right[sum] {
		return func(err error) {
			if errors.Is(err, ErrKey) { // it was revoked
				a.mu.Lock()
				defer a.mu.Unlock()
				delete(a.right, sum)
			}
		}, nil
	}
	now, g := a.now(), a.wrong[from]
	if !now.Before(g.until) {
		g = guesses{until: now.Add(time.Minute)}
	}
	if g.n >= wrongKeys {
		return nil, WithRetryAfter(g.until.Sub(now), fmt.Errorf("%w: %d keys from this address were wrong: wait a minute", ErrLimit, wrongKeys))
	}
	if len(a.wrong) >= maxGuesses {
		clear(a.wrong) // the limit is a little higher for those addresses then
	}
	g.n++
	a.wrong[from] = g
	return func(err error) {
		unread := errors.Is(err, memory.ErrLocked) || errors.Is(err, ErrLimit) // the key was right, or not looked at
		if err != nil && !unread {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if g := a.wrong[from]; g.n > 0 {
			g.n--
			a.wrong[from] = g
		}
		if unread {
			return
		}
		if len(a.right) >= maxGuesses {
			clear(a.right)
		}
		a.right[sum] = true
	}, nil
}
