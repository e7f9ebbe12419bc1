package relay

import (
	"context"
	"time"
)

// SharedPace is a store that counts requests over all relays that serve it.
type SharedPace interface {
	// Spend counts what each account has asked of this relay, and gives how many
	// requests are left to it at now, of perMinute, which come back evenly: below
	// zero where several relays let in too many at once. 65,536 accounts at most.
	Spend(ctx context.Context, requests map[AccountID]int64, perMinute int64, now time.Time) (map[AccountID]float64, error)
}

// shareEvery is how often relays tell each other. Until then each lets an
// account have a minute's worth; what is too much it owes afterwards.
const shareEvery = time.Second

// Share tells the other relays how often accounts have asked here, and learns
// how much is left to those. [Relay.Run] does so each second; nothing happens
// where nobody asked, or where the store is this relay's alone.
func (r *Relay) Share(ctx context.Context) error {
	store, ok := r.store.(SharedPace)
	if !ok || r.config.Quota.PerMinute <= 0 {
		return nil
	}
	spent := r.paces.account.spent()
	if len(spent) == 0 {
		return nil
	}
	requests := make(map[AccountID]int64, len(spent))
	for k, n := range spent {
		requests[AccountID([]byte(k))] = n
	}
	now := r.config.Now()
	left, err := store.Spend(ctx, requests, r.config.Quota.PerMinute, now)
	if err != nil {
		r.paces.account.unspend(spent)
		return err
	}
	for a, n := range left {
		r.paces.account.shared(string(a[:]), n, now)
	}
	return nil
}

// keepSharing shares until ctx is done. What fails is told the next time: a
// database that is away stops requests by itself.
func (r *Relay) keepSharing(ctx context.Context) {
	if _, ok := r.store.(SharedPace); !ok || r.config.Quota.PerMinute <= 0 {
		return
	}
	every := time.NewTicker(shareEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			within, cancel := context.WithTimeout(ctx, 10*shareEvery)
			_ = r.Share(within)
			cancel()
		}
	}
}
