package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Requests of an account at one relay also count at the other. What both accept before they
// exchange their counts becomes a debt.
func TestRequestLimitIsSharedByRelays(t *testing.T) {
	url, dir := migrated(t), t.TempDir()
	at := now
	var relays [2]*relay.Relay
	for i := range relays {
		relays[i] = relay.New(store(t, url, dir), relay.Config{Quota: relay.Quota{PerMinute: 6}, Now: func() time.Time { return at }})
	}
	a, b := relays[0], relays[1]
	who := relay.Caller{Account: relay.AccountID{1}, Role: envelope.Owner}
	other := relay.Caller{Account: relay.AccountID{2}, Space: memory.SpaceID{2}, Role: envelope.Owner}
	asks := func(r *relay.Relay, c relay.Caller, n int) {
		t.Helper()
		for i := range n { // its members take turns: none of them may use all of an account's requests
			c.Member[0] = byte(i % 2)
			check(t, r.Admit(t.Context(), c, 0))
		}
	}
	refused := func(r *relay.Relay, wait time.Duration) {
		t.Helper()
		var quota *relay.QuotaError
		c := who
		c.Member[0] = 9
		if err := r.Admit(t.Context(), c, 0); !errors.As(err, &quota) || quota.What != "requests a minute" || quota.Wait.Round(time.Second) != wait {
			t.Fatalf("%v, %+v, want to wait %v", err, quota, wait)
		}
	}
	asks(a, who, 4)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Share(gone); err == nil {
		t.Fatal("told without a database")
	}
	check(t, a.Share(t.Context())) // the counts were not lost
	asks(b, who, 1)                // b has not heard of the others
	check(t, b.Share(t.Context()))
	asks(b, who, 1)
	refused(b, 10*time.Second)
	asks(b, other, 6) // another account is not affected
	asks(a, who, 2)   // before a hears of b's requests
	check(t, b.Share(t.Context()))
	check(t, a.Share(t.Context()))
	refused(a, 30*time.Second) // two too many, and the next one
	at = at.Add(30 * time.Second)
	asks(a, who, 1)
	refused(a, 10*time.Second)
	// A relay that hears nothing for a long time knows that the allowance is full again.
	check(t, a.Share(t.Context()))
	at = at.Add(10 * time.Minute)
	asks(b, who, 6)
	check(t, b.Share(t.Context()))
	refused(b, 10*time.Second)
	// And the rows are removed.
	at = at.Add(paid * time.Second)
	check(t, a.Sweep(t.Context()))
	var rows int
	s := store(t, url, dir)
	check(t, s.pool.QueryRow(t.Context(), "SELECT count(*) FROM paces").Scan(&rows))
	if rows != 0 {
		t.Errorf("%d rows are left", rows)
	}
}

// Relays that report at the same moment don't block each other.
func TestRelaysReportConcurrently(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	const relays, rounds = 8, 20
	ended := make(chan error, relays)
	for range relays {
		go func() {
			var err error
			for range rounds {
				requests := map[relay.AccountID]int64{}
				for i := range 50 {
					requests[relay.AccountID{byte(i)}] = 1
				}
				if _, e := s.Spend(context.WithoutCancel(t.Context()), requests, 1000, now); e != nil {
					err = e
				}
			}
			ended <- err
		}()
	}
	for range relays {
		check(t, <-ended)
	}
	left, err := s.Spend(t.Context(), map[relay.AccountID]int64{{7}: 0}, 1000, now)
	check(t, err)
	if got := left[relay.AccountID{7}]; got != 1000-relays*rounds {
		t.Errorf("%v are left", got)
	}
}
