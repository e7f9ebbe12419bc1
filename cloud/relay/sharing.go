package relay

import (
	"context"
	"time"
)

// SharedPace is a store that counts requests over all relays that use it.
type SharedPace interface {
	// Spend counts the requests that each account has made at this relay, at most
	// 65,536 accounts. It returns how many requests each account has left at now,
	// out of perMinute; they come back evenly over a minute. The result is
	// negative if several relays together accepted too many.
	Spend(ctx context.Context, requests map[AccountID]int64, perMinute int64, now time.Time) (map[AccountID]float64, error)
}

// shareEvery is how often relays exchange their counts. Between two exchanges,
// each relay accepts up to a minute's requests of an account; the excess is
// subtracted afterwards.
const shareEvery = time.Second

// Share tells the other relays how many requests accounts have made here, and
// learns how many the accounts have left. [Relay.Run] calls it each second. It
// does nothing if there were no requests, or if no other relay uses the store.
func (r *Relay) Share(ctx context.Context) error {
	store, ok := r.store.(SharedPace)
	if !ok || r.config.Quota.PerMinute <= 0 {
		return nil
	}
	spent := r.paces.account.takeSpent()
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
		r.paces.account.restoreSpent(spent)
		return err
	}
	for a, n := range left {
		r.paces.account.setShared(string(a[:]), n, now)
	}
	return nil
}

// keepSharing shares until ctx is done. Counts that could not be shared are
// shared the next time. Meanwhile requests fail anyway, because the database
// can't be reached.
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
