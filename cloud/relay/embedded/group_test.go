package embedded

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
)

// If one of the changes that share a transaction fails or panics, only that one is undone. If the
// whole transaction fails, nobody is told that it succeeded.
func TestGroupedChanges(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	check(t, err)
	defer s.Close()
	invite := func(n byte, then func(context.Context, *sql.Tx) error) *change {
		return &change{done: make(chan struct{}), f: func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO invites VALUES (?, 0)", []byte{n}); err != nil {
				return err
			}
			return then(ctx, tx)
		}}
	}
	count := func() (n int) {
		check(t, s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM invites").Scan(&n))
		return n
	}
	fine := func(context.Context, *sql.Tx) error { return nil }
	fails := func(context.Context, *sql.Tx) error { return relay.ErrQuota }
	panics := func(context.Context, *sql.Tx) error { panic("no") }
	all := []*change{invite(1, fine), invite(2, fails), invite(3, panics), invite(1, fine), invite(4, fine)}
	s.commit(t.Context(), all)
	for i, want := range []bool{true, false, false, false, true} {
		if (all[i].err == nil) != want {
			t.Errorf("change %d: %v", i, all[i].err)
		}
	}
	if !errors.Is(all[1].err, relay.ErrQuota) || count() != 2 {
		t.Fatal(all[1].err, count())
	}
	// SQLite does this by itself if the disk is full.
	ends := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, relay.ErrFull)
	}
	all = []*change{invite(5, fine), invite(6, ends), invite(7, fine)}
	s.commit(t.Context(), all)
	for i, c := range all {
		if c.err == nil {
			t.Errorf("change %d reports no error", i)
		}
	}
	if count() != 2 {
		t.Fatal(count())
	}
}

// Many concurrent changes are all answered, and all stored.
func TestConcurrentChanges(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	check(t, err)
	defer s.Close()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				if err := s.AddInvite(t.Context(), [32]byte{byte(i), byte(j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	check(t, s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM invites").Scan(&n))
	if n != 16*50 {
		t.Fatal(n)
	}
}

// Close waits for the changes that run in the background: while one is running, nobody else gets
// the folder.
func TestCloseWaitsForChanges(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	check(t, err)
	taken := false
	second := &change{done: make(chan struct{}), f: func(ctx context.Context, _ *sql.Tx) error {
		for range 200 {
			if other, err := Open(ctx, dir); err == nil {
				taken = true
				return other.Close()
			}
		}
		return nil
	}}
	first := &change{done: make(chan struct{}), f: func(context.Context, *sql.Tx) error {
		s.group.mu.Lock()
		defer s.group.mu.Unlock()
		s.group.waiting = append(s.group.waiting, second)
		return nil
	}}
	s.group.waiting, s.group.leading = []*change{first}, true
	s.lead(t.Context(), first)
	check(t, s.Close())
	<-second.done
	if taken || second.err != nil {
		t.Errorf("it was closed under a change: opened again %v, %v", taken, second.err)
	}
}
